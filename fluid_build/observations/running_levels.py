"""Columns that another column changes from row to row: a balance, and the payments that move it.

The rows of each member are put in the order of a date. Where a number differs from the one before
by another number of the row, up or down, it's a level and the other its movement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import duckdb

from fluid_build.observations.numeric_columns import NumericColumn, numeric_columns
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.profile import ForeignKey
from fluid_build.sources.sql import quote

_MOST_NUMBERS = 6
"""Numbers of a table that may be a level or its movement; a ledger has few."""
_FEWEST_VALUES = 5
"""Distinct values; what always changes by one is a numbering."""
_MOST_MEMBERS = 3
"""References by which the rows of a member are found, besides taking all rows as one series."""
_MOST_ROWS = 300_000
"""Rows that are put in order; of a larger table only some members are."""
_FEWEST_ROWS = 10
_MATCHING = 0.95
"""Share of changes that must equal the movement; two rows of one moment may be in either order."""


@dataclass(frozen=True, slots=True)
class RunningLevel:
    """A number that changes by ``movement`` from a row to the next, in the order of ``date``.

    The rows of one value of ``member`` follow each other; all rows do if it's "". ``matches`` of
    ``rows`` with a movement change the level by exactly that, in either direction.
    """

    table: str
    level: str
    movement: str
    member: str
    date: str
    rows: int
    matches: int


def running_levels(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[RunningLevel]:
    """Return the levels of all tables that have dates; a few queries for each table."""
    for table in tables:
        numbers = [
            column
            for column in numeric_columns(table, foreign_keys)
            if column.distinct >= _FEWEST_VALUES
        ][:_MOST_NUMBERS]
        dates = [c.name for c in table.profile.columns if _is_moment(value_type(c))]
        if len(numbers) > 1 and dates and table.profile.rows >= _FEWEST_ROWS:
            with unless_unreadable():
                yield from _levels(connection, table, numbers, dates[0], foreign_keys)


def _is_moment(type_: str) -> bool:
    return type_ == "DATE" or type_.startswith("TIMESTAMP")


def _levels(
    connection: duckdb.DuckDBPyConnection,
    table: ObservedTable,
    numbers: Sequence[NumericColumn],
    date: str,
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[RunningLevel]:
    """Return the levels by the first way to tell members apart that shows any."""
    pairs = [
        (level, movement)
        for level, movement in permutations(numbers, 2)
        if level.rounding == movement.rounding
    ]
    for member in [*_members(table, foreign_keys), ""] if pairs else ():
        row = connection.execute(_query(table, pairs, date, member)).fetchone() or ()
        found = [
            RunningLevel(
                table=table.profile.name,
                level=level.name,
                movement=movement.name,
                member=member,
                date=date,
                rows=rows,
                matches=matches,
            )
            for (level, movement), rows, matches in zip(pairs, row[::2], row[1::2], strict=True)
            if rows >= _FEWEST_ROWS and matches >= _MATCHING * rows
        ]
        if found:
            yield from found
            return


def _members(table: ObservedTable, foreign_keys: Sequence[ForeignKey]) -> list[str]:
    """Return the columns that refer to a member with several rows, those with most members last."""
    referring = {
        key.from_columns[0]
        for key in foreign_keys
        if key.from_table == table.profile.name and len(key.from_columns) == 1
    }
    repeating = [
        column
        for column in table.profile.columns
        if column.name in referring and 1 < 2 * column.distinct <= column.rows
    ]
    repeating.sort(key=lambda column: (-column.distinct, column.name))
    return [column.name for column in repeating[:_MOST_MEMBERS]]


def _query(
    table: ObservedTable,
    pairs: Sequence[tuple[NumericColumn, NumericColumn]],
    date: str,
    member: str,
) -> str:
    """Return a query that counts, for each pair, the movements and the changes that equal them."""
    numbers = list(dict.fromkeys(number for pair in pairs for number in pair))
    names = {number.name: f"n{index}" for index, number in enumerate(numbers)}
    values = ", ".join(
        f"{number.sql} AS {name}, {number.sql} - lag({number.sql}) OVER w AS {name}_change"
        for number, name in zip(numbers, names.values(), strict=True)
    )
    order = ", ".join(
        [table.value(date), *(quote(table.aliases[c]) for c in table.profile.primary_key or ())]
    )
    partition, some = "", ""
    if member:
        column = quote(table.aliases[member])
        partition = f"PARTITION BY {column} "
        parts = 1 + table.profile.rows // _MOST_ROWS
        some = f" WHERE hash({column}) % {parts} = 0" if parts > 1 else ""
    elif table.profile.rows > _MOST_ROWS:
        some = " WHERE FALSE"
    counts = ", ".join(
        _counts(names[level.name], names[movement.name], level.rounding)
        for level, movement in pairs
    )
    return (
        f"WITH steps AS (SELECT {values} FROM {table.relation}{some}"
        f" WINDOW w AS ({partition}ORDER BY {order}))"
        f" SELECT {counts} FROM steps"
    )


def _counts(level: str, movement: str, rounding: float) -> str:
    moves = f"{movement} <> 0 AND {level}_change IS NOT NULL"
    equals = f"abs(abs({level}_change) - abs({movement})) <= {2 * rounding + 1e-9}"
    return f"count(*) FILTER (WHERE {moves}), count(*) FILTER (WHERE {moves} AND {equals})"
