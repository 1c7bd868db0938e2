"""What can't be compared with a source that has only a part of its tables today.

Rows that refer to one of an earlier delivery find it in a warehouse, where all that was delivered
is kept, and not in what is built from today's source alone.
"""

from collections.abc import Iterator

import duckdb

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import sql_names
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.present_source import PresentSource, present_source
from fluid_build.transform.plan.sql_layout import exists, query


def without_what_they_refer_to(
    connection: duckdb.DuckDBPyConnection, model: LogicalModel
) -> frozenset[str]:
    """Return the tables of which rows lead to some that the schema ``source`` lacks today.

    The tables that lack them are among these: a technique may rebuild one from what refers to it.
    """
    if not model.deliveries:
        return frozenset()
    orphaned = [each for each in _to_parts(model) if _has_orphans(connection, model, each)]
    leading = {each.from_entity for each in orphaned}
    relationships = model.conceptual.relationships
    while more := {
        each.from_entity
        for each in relationships
        if each.to_entity in leading and each.from_entity not in leading
    }:
        leading |= more
    return frozenset(leading | {each.to_entity for each in orphaned})


def _to_parts(model: LogicalModel) -> Iterator[Relationship]:
    parts = {each.table for each in model.deliveries or ()}
    present = present_source(model)
    for each in model.conceptual.relationships:
        is_there = present.has(each.from_entity, *each.from_attributes) and present.has(
            each.to_entity, *each.to_attributes
        )
        if each.to_entity in parts and is_there:
            yield each


def _has_orphans(
    connection: duckdb.DuckDBPyConnection, model: LogicalModel, relationship: Relationship
) -> bool:
    names, present = sql_names(model.conceptual), present_source(model)
    child, parent = relationship.from_entity, relationship.to_entity
    ours = _columns(model, present, child, relationship.from_attributes)
    theirs = _columns(model, present, parent, relationship.to_attributes)
    # A key and what refers to it may be of two types.
    same = [
        f"CAST(child.{a} AS VARCHAR) = CAST(parent.{b} AS VARCHAR)"
        for a, b in zip(ours, theirs, strict=True)
    ]
    found = exists(f"source.{names.source(parent)} AS parent", same)
    filled = [f"child.{column} IS NOT NULL" for column in ours]
    orphans = query(
        ["1"], f"source.{names.source(child)} AS child", where=[*filled, f"NOT {found}"]
    )
    return connection.execute(f"{orphans}\nLIMIT 1").fetchone() is not None


def _columns(
    model: LogicalModel, present: PresentSource, table: str, attributes: tuple[str, ...]
) -> list[str]:
    aliases = {
        each.name: quote(alias) for alias, each in present.columns(model.conceptual.entity(table))
    }
    return [aliases[name] for name in attributes]
