"""The flat technique: one table for each entity, with our names and types, under contract."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carrier, Carriers
from fluid_build.transform.plan.elements import Build, BuildTest, Check, Rebuild
from fluid_build.transform.plan.evidence_tests import evidence_tests
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.relied_keys import ReliedKey
from fluid_build.transform.plan.retirement import retired_build
from fluid_build.transform.plan.sql_layout import query
from fluid_build.transform.plan.staging import (
    by_value,
    delivered,
    original,
    restored,
    value_columns,
)


@dataclass(frozen=True, slots=True)
class FlatPlan:
    """One table for each entity, on its staging view."""

    conceptual: ConceptualModel
    names: SqlNames
    staging: Sequence[Build]
    present: PresentSource

    def builds(self) -> tuple[Build, ...]:
        """Return a table on each staging view, which holds just what the view shows."""
        tests = evidence_tests(self.conceptual, self.names, self.names.tables)
        tables = (
            staged.model_copy(
                update={
                    "name": self.names.table(staged.title),
                    "title": self.conceptual.entity(staged.title).label,
                    "layer": "flat",
                    "materialization": "table",
                    "sql": query((c.name for c in staged.columns), f"model.{staged.name}"),
                    "ref_models": (staged.name,),
                    "ref_sources": (),
                    "tests": tests[staged.title],
                    "reason": "One table per entity, with its columns and rows as they are.",
                }
            )
            for staged in self.staging
        )
        return tuple(
            table if self.present.has_table(staged.title) else retired_build(table)
            for table, staged in zip(tables, self.staging, strict=True)
        )

    def relied_keys(self) -> Iterator[ReliedKey]:
        """Return the keys that tables are published with: the chosen and the declared ones."""
        for entity in self.conceptual.entities:
            for key in entity.keys:
                if key.kind != "candidate":
                    staging = self.names.staging(entity.name)
                    is_chosen = key.kind == "primary"
                    yield ReliedKey(staging, entity.name, key.attributes, complete=is_chosen)

    def reference_tests(self) -> Mapping[str, tuple[BuildTest, ...]]:
        """Return nothing: the builds have the tests of their references already."""
        return {}

    def carriers(self) -> Carriers:
        """Return every table as the carrier of its own columns."""
        return {
            entity.name: [Carrier(self.names.table(entity.name), self.names.columns[entity.name])]
            for entity in self.conceptual.entities
        }

    def rebuilds(self) -> tuple[Rebuild, ...]:
        """Return for each source table the query that rebuilds it from the flat table."""
        return tuple(
            Rebuild(
                table=entity.name,
                source=self.names.source(entity.name),
                sql="SELECT\n"
                + restored(entity, by_value, self.names.columns[entity.name], self.present)
                + f"\nFROM model.{self.names.table(entity.name)}",
                original=original(entity, self.names, self.present),
                delivered=delivered(entity, self.names, self.present),
                by_value=value_columns(entity, by_value, self.present),
            )
            for entity in self.conceptual.entities
        )

    def checks(self) -> tuple[Check, ...]:
        """Return nothing: every table comes back row by row."""
        return ()


def flat_plan(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build], present: PresentSource
) -> FlatPlan:
    """Return the plan of a flat model; ``staging`` has one build for each entity."""
    return FlatPlan(model.conceptual, names, staging, present)
