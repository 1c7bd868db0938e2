"""Columns that another column changes from row to row: a balance, and the payments that move it.

The rows of each member are put in the order of a date. Where a number differs from the one before
by another number of the row, up or down, it's a level and the other its movement.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import duckdb

from fluid_build.observations.numeric_columns import NumericColumn, numeric_columns
from fluid_build.observations.observed_tables import ObservedTable, is_dated, unless_unreadable
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
_TRIED_ROWS = 300
"""Rows of which most must show a level before all rows are put in order. They're the first as
stored, since a member's rows are often written together; the first of all by date may be of as many
members. Files keep their order. A server doesn't promise one, so a level may be missed there."""
_MOST_MISSES = 3
"""Misses that exceed the matches by more settle that there's no level."""
_FEWEST_ROWS = 10
"""Movements that must show it: a few changes equal another number of their row by accident."""
_FLOAT_ERROR = 1e-6
"""What floating point may add to a difference of two amounts."""
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


_Row: TypeAlias = Mapping[str, object]
"""The members and numbers of a row, by column."""
_Pair: TypeAlias = tuple[NumericColumn, NumericColumn]
"""A level, and what may be its movement."""


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
        dates = [c.name for c in table.profile.columns if is_dated(c)]
        if len(numbers) > 1 and dates and table.profile.rows >= _FEWEST_ROWS:
            with unless_unreadable():
                yield from _levels(connection, table, numbers, dates[0], foreign_keys)


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
    # A ledger of many accounts falls apart into as many series; those with most members come first.
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
    members = [*(column.name for column in repeating[:_MOST_MEMBERS]), ""]
    first_rows = _first_rows(connection, table, numbers, date, members) if pairs else []
    for member in members:
        likely = _likely_pairs(first_rows, pairs, member)
        if not likely:
            continue
        row = connection.execute(_query(table, likely, date, member)).fetchone() or ()
        levels = [
            RunningLevel(
                table=table.profile.name,
                level=level.name,
                movement=movement.name,
                member=member,
                date=date,
                rows=rows,
                matches=matches,
            )
            for (level, movement), rows, matches in zip(likely, row[::2], row[1::2], strict=True)
            if rows >= _FEWEST_ROWS and matches >= _MATCHING * rows
        ]
        if levels:
            yield from levels
            return


def _first_rows(
    connection: duckdb.DuckDBPyConnection,
    table: ObservedTable,
    numbers: Sequence[NumericColumn],
    date: str,
    members: Sequence[str],
) -> list[_Row]:
    """Return the first rows of a table in the order of the date: its members, and its numbers."""
    columns = [member for member in members if member]
    values = [f"CAST({quote(table.aliases[column])} AS VARCHAR)" for column in columns]
    values += [number.sql for number in numbers]
    query = f"SELECT epoch({table.value(date)}), {', '.join(values)} FROM {table.relation}"
    rows = connection.execute(f"{query} LIMIT {_TRIED_ROWS}").fetchall()
    dated = sorted((row for row in rows if row[0] is not None), key=lambda row: float(row[0]))
    names = [*columns, *(number.name for number in numbers)]
    return [dict(zip(names, row[1:], strict=True)) for row in dated]


def _likely_pairs(rows: Sequence[_Row], pairs: Sequence[_Pair], member: str) -> list[_Pair]:
    """Return the pairs that the first rows speak for, if rows are stored as they were written."""
    steps: list[tuple[_Row, _Row]] = []
    last: dict[object, _Row] = {}
    for row in rows:
        key = row[member] if member else ""
        if key in last:
            steps.append((last[key], row))
        last[key] = row
    return [pair for pair in pairs if _is_likely(steps, *pair)]


def _is_likely(
    steps: Sequence[tuple[_Row, _Row]], level: NumericColumn, movement: NumericColumn
) -> bool:
    matches = misses = 0
    for before, row in steps:
        old, new, moved = before[level.name], row[level.name], row[movement.name]
        if not (isinstance(old, float) and isinstance(new, float) and isinstance(moved, float)):
            continue
        if moved:
            equals = abs(abs(new - old) - abs(moved)) <= 2 * level.rounding + _FLOAT_ERROR
            matches, misses = matches + equals, misses + (not equals)
        if misses > _MOST_MISSES + matches:
            return False
    return matches > misses


def _query(table: ObservedTable, pairs: Sequence[_Pair], date: str, member: str) -> str:
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
    equals = f"abs(abs({level}_change) - abs({movement})) <= {2 * rounding + _FLOAT_ERROR}"
    return f"count(*) FILTER (WHERE {moves}), count(*) FILTER (WHERE {moves} AND {equals})"
