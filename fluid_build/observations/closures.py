"""Closure tables: every pair of an ancestor and a descendant in a hierarchy.

A closure table is recognised by computing it. The steps from parent to child are those of the
referred table's own hierarchy, or else the pairs at distance 1. All that follows from them, and
nothing else, must be in the table; a row that pairs a member with itself may be there too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import duckdb

from fluid_build.observations.aggregate_candidates import is_whole_number, number_of
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ForeignKey, Profile

_MOST_COLUMNS = 8
"""Columns of a closure table: two members, a distance, and a few notes."""
_MOST_ROWS = 1_000_000
"""Rows of a closure table that are computed; a recursion over more takes too long."""
_DEEPEST = 100
"""Steps after which the recursion ends, so that a circle of parents comes to an end."""


@dataclass(frozen=True, slots=True)
class Closure:
    """A table of all pairs of an ancestor and a descendant among the members of another.

    Both refer to ``member_key`` of ``members``. ``distance`` is the column with the steps between
    them, "" without one. ``parent`` is the column of ``members`` that the hierarchy is in, "" where
    the pairs at distance 1 are all that says it. Every one of its ``rows`` was computed.
    """

    table: str
    members: str
    member_key: str
    ancestor: str
    descendant: str
    distance: str
    parent: str
    rows: int


def closures(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, ObservedTable], profile: Profile
) -> Iterator[Closure]:
    """Return the tables that are the closure of a hierarchy in all of their rows."""
    for name, table in tables.items():
        if table.profile.rows > _MOST_ROWS or len(table.profile.columns) > _MOST_COLUMNS:
            continue
        for ancestor, descendant in permutations(_members(profile, name), 2):
            candidate = _candidate(profile, tables, ancestor, descendant)
            if candidate is None:
                continue
            with unless_unreadable():
                if _is_closed(connection, tables, candidate):
                    yield candidate
                    break


def _members(profile: Profile, table: str) -> list[ForeignKey]:
    """Return the references of a table by one column; empty unless just two lead to one table."""
    references = [
        reference
        for reference in profile.foreign_keys
        if reference.from_table == table != reference.to_table and not reference.implied
    ]
    targets = {(reference.to_table, reference.to_columns) for reference in references}
    is_pair = len(references) == 2 and len(targets) == 1
    return references if is_pair and len(references[0].to_columns) == 1 else []


def _candidate(
    profile: Profile,
    tables: Mapping[str, ObservedTable],
    ancestor: ForeignKey,
    descendant: ForeignKey,
) -> Closure | None:
    """Return what would be the closure, with its distance and the parent's column."""
    table = tables[ancestor.from_table].profile
    pair = {ancestor.from_columns[0], descendant.from_columns[0]}
    distances = [
        column.name
        for column in table.columns
        if column.name not in pair and is_whole_number(column) and number_of(column.min) in {0, 1}
    ]
    parents = [
        reference.from_columns[0]
        for reference in profile.foreign_keys
        if reference.from_table == reference.to_table == ancestor.to_table
        and reference.to_columns == ancestor.to_columns
    ]
    if ancestor.to_table not in tables or not (distances or parents):
        return None
    return Closure(
        table.name,
        ancestor.to_table,
        ancestor.to_columns[0],
        ancestor.from_columns[0],
        descendant.from_columns[0],
        distances[0] if distances else "",
        parents[0] if parents else "",
        table.rows,
    )


def _is_closed(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, ObservedTable], closure: Closure
) -> bool:
    """Return whether the pairs of different members are those that the steps lead to, each once."""
    table = tables[closure.table]
    distance = table.value(closure.distance) if closure.distance else "NULL"
    row = connection.execute(
        f"""
        WITH RECURSIVE pairs AS (
          SELECT
            {table.value(closure.ancestor)} AS ancestor,
            {table.value(closure.descendant)} AS descendant,
            {distance} AS distance
          FROM {table.relation}
        ),
        steps AS ({_steps(tables, closure)}),
        paths AS (
          SELECT ancestor, descendant, 1 AS distance
          FROM steps
          UNION
          SELECT paths.ancestor, steps.descendant, paths.distance + 1
          FROM paths
          JOIN steps ON steps.ancestor = paths.descendant
          WHERE paths.distance < {_DEEPEST}
        ),
        closed AS (
          SELECT ancestor, descendant, min(distance) AS distance
          FROM paths
          GROUP BY ancestor, descendant
        )
        SELECT
          count(*) FILTER (
            closed.ancestor IS NULL
            OR pairs.ancestor IS NULL
            OR coalesce(pairs.distance, closed.distance) <> closed.distance
          ),
          count(*),
          max(closed.distance)
        FROM (SELECT * FROM pairs WHERE ancestor IS DISTINCT FROM descendant) AS pairs
        FULL JOIN closed USING (ancestor, descendant)
        """
    ).fetchone()
    differing, pairs, deepest = row or (1, 0, 0)
    # With single steps alone it's a list of parents and children.
    return not differing and pairs > 0 and (deepest or 0) > 1


def _steps(tables: Mapping[str, ObservedTable], closure: Closure) -> str:
    if not closure.parent:
        return "SELECT ancestor, descendant FROM pairs WHERE distance = 1"
    members = tables[closure.members]
    key = members.value(closure.member_key)
    parent = members.value(closure.parent)
    return f"""
        SELECT {parent} AS ancestor, {key} AS descendant
        FROM {members.relation}
        WHERE {parent} IS NOT NULL AND {parent} <> {key}
        """
