"""Closure tables: every pair of an ancestor and a descendant in a hierarchy.

The steps from parent to child are those of the referred table's own hierarchy, or else the pairs at
distance 1, and each member has one parent. All that follows from the steps, and nothing else, must
be in the table; a row that pairs a member with itself may be there too.
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
"""Rows of a closure table, and of its members, that are compared; more take too long."""
_MOST_DISTANCES = 0.75
"""Distinct distances for each row. A line of three members has three pairs, two of them at distance
1, and perhaps one of a member with itself; every other hierarchy has fewer distances for its rows.
"""


@dataclass(frozen=True, slots=True)
class Closure:
    """A table of all pairs of an ancestor and a descendant among the members of another.

    Both refer to ``member_key`` of ``members``. ``distance`` is the column with the steps between
    them, "" without one. ``parent`` is the column of ``members`` that the hierarchy is in, "" where
    the pairs at distance 1 are all that says it. All of its ``rows`` were compared.
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
        references = [
            reference
            for reference in profile.foreign_keys
            if reference.from_table == name != reference.to_table and not reference.implied
        ]
        targets = {(reference.to_table, reference.to_columns) for reference in references}
        # An ancestor and a descendant: two references by one column each, to one table.
        if len(references) != 2 or len(targets) != 1 or len(references[0].to_columns) != 1:
            continue
        for ancestor, descendant in permutations(references, 2):
            candidate = _candidate(profile, tables, ancestor, descendant)
            if candidate is None:
                continue
            with unless_unreadable():
                if _is_closed(connection, tables, candidate):
                    yield candidate
                    break


def _candidate(
    profile: Profile,
    tables: Mapping[str, ObservedTable],
    ancestor: ForeignKey,
    descendant: ForeignKey,
) -> Closure | None:
    """Return what would be the closure, with its distance and the parent's column."""
    table = tables[ancestor.from_table].profile
    references = {
        name
        for reference in profile.foreign_keys
        if reference.from_table == table.name
        for name in reference.from_columns
    }
    # A key of the pairs counts from 0 or 1 too, but the steps between members repeat.
    distances = [
        column.name
        for column in table.columns
        if column.name not in references
        and is_whole_number(column)
        and number_of(column.min) in {0, 1}
        and column.distinct <= _MOST_DISTANCES * column.rows
    ]
    parents = [
        reference.from_columns[0]
        for reference in profile.foreign_keys
        if reference.from_table == reference.to_table == ancestor.to_table
        and reference.to_columns == ancestor.to_columns
    ]
    members = tables.get(ancestor.to_table)
    if members is None or members.profile.rows > _MOST_ROWS or not (distances or parents):
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
    """Return whether the pairs of different members are those that the steps lead to, each once.

    Nothing is computed recursively, since a table of its own may have circles: the matches of a
    league, say. Each pair must follow from a pair of the parent, and each member have one ancestor
    more than its parent. In a circle that can't be.
    """
    row = connection.execute(
        f"""
        WITH pairs AS ({_pairs(tables[closure.table], closure)}),
        steps AS (
          SELECT min(ancestor) AS ancestor, descendant, count(*) AS parents
          FROM ({_steps(tables, closure)})
          GROUP BY descendant
        ),
        members AS (
          SELECT descendant AS member, count(*) AS ancestors
          FROM pairs
          GROUP BY descendant
        )
        SELECT ({_UNFOUNDED}), ({_INCOMPLETE}), (SELECT max(ancestors) FROM members)
        """
    ).fetchone()
    unfounded, incomplete, deepest = row or (1, 1, 0)
    # With single steps alone it's a list of parents and children.
    return not unfounded and not incomplete and (deepest or 0) > 1


_UNFOUNDED = """
    SELECT count(*)
    FROM pairs
    LEFT JOIN steps ON steps.descendant = pairs.descendant
    LEFT JOIN pairs AS above
      ON above.ancestor = pairs.ancestor AND above.descendant = steps.ancestor
    WHERE pairs.rows > 1
      OR steps.ancestor IS NULL
      OR CASE
        WHEN pairs.ancestor = steps.ancestor THEN pairs.distance <> 1
        ELSE above.ancestor IS NULL OR pairs.distance <> above.distance + 1
      END
    """
"""The pairs that don't follow from a step, or from a pair of the parent and the step to it."""
_INCOMPLETE = """
    SELECT count(*)
    FROM steps
    LEFT JOIN members AS own ON own.member = steps.descendant
    LEFT JOIN members AS parent ON parent.member = steps.ancestor
    WHERE steps.parents > 1
      OR coalesce(own.ancestors, 0) <> coalesce(parent.ancestors, 0) + 1
    """
"""The members with several parents, or without a pair for each ancestor of their parent."""


def _pairs(table: ObservedTable, closure: Closure) -> str:
    ancestor, descendant = table.value(closure.ancestor), table.value(closure.descendant)
    distance = table.value(closure.distance) if closure.distance else "NULL"
    return f"""
        SELECT
          {ancestor} AS ancestor,
          {descendant} AS descendant,
          min(CAST({distance} AS BIGINT)) AS distance,
          count(*) AS rows
        FROM {table.relation}
        WHERE {ancestor} IS DISTINCT FROM {descendant}
        GROUP BY ALL
        """


def _steps(tables: Mapping[str, ObservedTable], closure: Closure) -> str:
    if not closure.parent:
        return "SELECT ancestor, descendant FROM pairs WHERE distance = 1"
    members = tables[closure.members]
    key = members.value(closure.member_key)
    parent = members.value(closure.parent)
    # A root may have 0 or -1 for its parent, which is no member.
    return f"""
        SELECT {parent} AS ancestor, {key} AS descendant
        FROM {members.relation}
        WHERE {parent} <> {key} AND {parent} IN (SELECT {key} FROM {members.relation})
        """
