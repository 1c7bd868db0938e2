"""Lineage in both directions: what a column of a relation is made of, and what becomes of one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.transform.plan.elements import TransformPlan


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a relation; ``address`` is where the page shows the relation."""

    address: str
    relation: str
    column: str


Lineage: TypeAlias = Mapping[tuple[str, str], Sequence[RelationColumn]]
"""The columns that each source column becomes, by its table and name."""


def relation_address(name: str) -> str:
    """Return where the page shows a relation."""
    return f"model-{name}"


def lineage(plan: TransformPlan) -> Lineage:
    """Return what becomes of each source column in the relations that are published."""
    becomes: dict[tuple[str, str], list[RelationColumn]] = defaultdict(list)
    for build in plan.published:
        address = relation_address(build.name)
        for column in build.columns:
            # What is made of a whole row says nothing about one of its columns.
            if "technical" in column.tags:
                continue
            for source in column.source_columns:
                becomes[source.table, source.column].append(
                    RelationColumn(address, build.name, column.name)
                )
    return becomes
