"""Hierarchies: tables whose rows refer to others of the same table, children to their parents.

Whether a parent is missing doesn't matter: with 0, -1 or itself for its parent, a row is at the
top. The rows are followed from the top downwards, so that each is met once, and those of a circle
never are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.profile import ForeignKey

MOST_LEVELS = 100
"""Levels of a hierarchy that are followed. More are a list (each version with the one before it),
and Databricks ends a recursive query after as many steps by default."""
_MOST_ROWS = 1_000_000
"""Rows that are followed; more take too long."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """How the ``rows`` of a table that refers to itself by ``columns`` are above each other.

    ``roots`` rows have no parent, and ``parents`` rows are one. The rows from the roots downwards
    are on ``levels`` levels. ``circular`` rows lead into a circle, and to no root.
    """

    table: str
    columns: tuple[str, ...]
    rows: int
    roots: int
    parents: int
    levels: int
    circular: int


def hierarchies(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    references: Sequence[ForeignKey],
) -> Iterator[Hierarchy]:
    """Return the hierarchies of references from a table to itself."""
    for reference in references:
        table = tables.get(reference.from_table)
        is_loop = reference.from_table == reference.to_table and not reference.implied
        if table is None or not is_loop or table.profile.rows > _MOST_ROWS:
            continue
        with unless_unreadable():
            found = _followed(connection, table, reference)
            if found is not None:
                yield found


def _followed(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, reference: ForeignKey
) -> Hierarchy | None:
    """Return the levels of a table; None where they don't end, or a parent isn't one row."""
    key = _values(table, reference.to_columns)
    parent = _values(table, reference.from_columns)
    types = {
        value_type(table.profile.column(name))
        for name in (*reference.from_columns, *reference.to_columns)
    }
    if len(types) > 1:
        key, parent = f"CAST({key} AS VARCHAR)", f"CAST({parent} AS VARCHAR)"
    row = connection.execute(
        f"""
        WITH RECURSIVE members AS (
          SELECT {key} AS member, {parent} AS parent
          FROM {table.relation}
        ),
        steps AS (
          SELECT members.member, above.member AS parent
          FROM members
          LEFT JOIN members AS above
            ON above.member = members.parent AND above.member <> members.member
        ),
        followed AS (
          SELECT member, 1 AS level
          FROM steps
          WHERE parent IS NULL
          UNION ALL
          SELECT steps.member, followed.level + 1
          FROM followed
          JOIN steps ON steps.parent = followed.member
          WHERE followed.level <= {MOST_LEVELS}
        )
        SELECT
          (SELECT count(*) FROM members),
          (SELECT count(*) FROM steps),
          (SELECT count(DISTINCT parent) FROM steps),
          count(*) FILTER (WHERE level = 1),
          coalesce(max(level), 0),
          count(*)
        FROM followed
        """
    ).fetchone()
    rows, steps, parents, roots, levels, reached = row or (0, 1, 0, 0, 0, 0)
    if steps != rows or levels > MOST_LEVELS:
        return None
    return Hierarchy(
        reference.from_table, reference.from_columns, rows, roots, parents, levels, rows - reached
    )


def _values(table: ObservedTable, columns: Sequence[str]) -> str:
    values = [table.value(column) for column in columns]
    return values[0] if len(values) == 1 else f"row({', '.join(values)})"
