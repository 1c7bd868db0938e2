"""The flat technique: one table for each entity, with our names and types, under contract."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.elements import Build, Rebuild
from fluid_build.transform.plan.evidence_tests import evidence_tests
from fluid_build.transform.plan.relied_keys import ReliedKey
from fluid_build.transform.plan.staging import by_value, is_by_value, original, restored


def flat_builds(
    conceptual: ConceptualModel, names: SqlNames, staging: Sequence[Build]
) -> tuple[Build, ...]:
    """A table on each staging view, which holds just what the view shows."""
    tests = evidence_tests(conceptual, names, names.tables)
    return tuple(
        staged.model_copy(
            update={
                "name": names.table(staged.title),
                "layer": "flat",
                "materialization": "table",
                "sql": _selected(staged),
                "ref_models": (staged.name,),
                "ref_sources": (),
                "tests": tests[staged.title],
                "reason": "One table for one entity, as it is.",
            }
        )
        for staged in staging
    )


def flat_keys(conceptual: ConceptualModel, names: SqlNames) -> Iterator[ReliedKey]:
    """The keys that tables are published with: the chosen one of each, and those declared."""
    for entity in conceptual.entities:
        for key in entity.keys:
            if key.kind != "candidate":
                staging = names.staging(entity.name)
                complete = key.kind == "primary"
                yield ReliedKey(staging, entity.name, key.attributes, complete=complete)


def flat_rebuilds(conceptual: ConceptualModel, names: SqlNames) -> tuple[Rebuild, ...]:
    """For each source table the query that gives it back from the flat table."""
    return tuple(
        Rebuild(
            table=entity.name,
            source=names.table(entity.name),
            sql="SELECT\n"
            + restored(entity, by_value, names.columns[entity.name])
            + f"\nFROM model.{names.table(entity.name)}",
            original=original(entity, names, by_value),
            by_value=tuple(a.name for a in entity.attributes if is_by_value(a, by_value)),
        )
        for entity in conceptual.entities
    )


def _selected(staged: Build) -> str:
    columns = ",\n".join(f"    {column.name}" for column in staged.columns)
    return f"SELECT\n{columns}\nFROM model.{staged.name}"
