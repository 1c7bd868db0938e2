"""Pairs of columns that say the same moment twice: a date and its timestamp, or two equal moments.

A source often keeps the day of an event next to its time, or the same time in UTC and in local
time. Two such columns are one date of the event, not two.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import duckdb

from fluid_build.observations.observed_tables import (
    ObservedTable,
    is_dated,
    unless_unreadable,
    value_type,
)
from fluid_build.profiling.profile import ColumnProfile, TableProfile

_MOST_PAIRS = 100
"""Pairs that one query of a table compares; a table with more dates is no record of an event."""
_FEWEST_ROWS = 20
"""Rows in which two columns with different names must agree. In fewer, two events often share a
day by accident."""
_ZONE = re.compile("utc|gmt|zulu|local")
"""Words that say in which time zone a moment is written."""
_MOMENT = re.compile(
    f"datetime|timestamp|date|time|day|dt|ts|key|at$|on$|{_ZONE.pattern}|[^a-z]|(?<=[a-z])id$"
)
"""What names of columns may differ in if they name one moment: ``chartdate`` and ``charttime``."""
_MIDNIGHT = "00:00:00"
"""How the least timestamp ends, as text, of a column that holds days."""
_LARGEST_OFFSET = 14 * 3600
"""Seconds between UTC and the time zone furthest from it."""
_CLOCK_CHANGE = 3600
"""Seconds by which clocks are put forward in summer."""


@dataclass(frozen=True, slots=True)
class SameMoment:
    """A column of dates that has the day of a column of timestamps, in every row that has both.

    ``rows`` counts these rows. No row has the timestamp without the date; where the time isn't
    known, a row may have the date alone.
    """

    table: str
    date: str
    timestamp: str
    rows: int


@dataclass(frozen=True, slots=True)
class TwinMoment:
    """Two columns with the same moment in every row, or with one moment in two time zones.

    Wherever one of the two is null, the other is too. ``rows`` counts the rows that have both.
    """

    table: str
    column: str
    twin: str
    rows: int


def same_moments(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[SameMoment]:
    """Return the dates that have the day of a timestamp; at most one query for each table."""
    for table in tables:
        pairs = list(_days_and_times(table.profile))[:_MOST_PAIRS]
        if pairs:
            with unless_unreadable():
                yield from _measure_days(connection, table, pairs)


def twin_moments(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[TwinMoment]:
    """Return the columns that repeat a moment; at most one query for each table."""
    for table in tables:
        pairs = list(_possible_twins(table.profile))[:_MOST_PAIRS]
        if pairs:
            with unless_unreadable():
                yield from _measure_twins(connection, table, pairs)


def _days_and_times(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Return the dates and timestamps of a table that may be the same moment, by their nulls."""
    dates = [column for column in table.columns if value_type(column) == "DATE"]
    timestamps = [c for c in table.columns if value_type(c).startswith("TIMESTAMP")]
    dates += [column for column in timestamps if (column.min or "").endswith(_MIDNIGHT)]
    for date, timestamp in product(dates, timestamps):
        if date is not timestamp and date.nulls <= timestamp.nulls < table.rows:
            yield date.name, timestamp.name


def _possible_twins(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Return the pairs of moments of one type that may be one, by their figures.

    A moment in UTC and the same in local time have other bounds, so there the names must say so.
    """
    moments = [column for column in table.columns if is_dated(column)]
    for column, twin in combinations(moments, 2):
        is_alike = value_type(column) == value_type(twin) and column.nulls == twin.nulls
        if not is_alike or column.nulls == table.rows:
            continue
        if (column.min, column.max) == (twin.min, twin.max) or _names_zone(column, twin):
            yield column.name, twin.name


def _names_zone(column: ColumnProfile, twin: ColumnProfile) -> bool:
    """Return whether two columns are called the same, but for a time zone in one of the names."""
    in_zone = _ZONE.search(column.name.lower()) or _ZONE.search(twin.name.lower())
    return in_zone is not None and _have_one_name(column.name, twin.name)


def _have_one_name(first: str, second: str) -> bool:
    """Return whether two names are the same but for words of days, times and time zones."""
    return _MOMENT.sub("", first.lower()) == _MOMENT.sub("", second.lower())


def _measure_days(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, pairs: Sequence[tuple[str, str]]
) -> Iterator[SameMoment]:
    counts = ", ".join(
        f"count(*) FILTER (WHERE {timestamp} IS NOT NULL"
        f" AND CAST({timestamp} AS DATE) IS DISTINCT FROM {date}), count({timestamp})"
        for date, timestamp in ((table.value(d), table.value(t)) for d, t in pairs)
    )
    row = connection.execute(f"SELECT {counts} FROM {table.relation}").fetchone() or ()
    for (date, timestamp), differing, rows in zip(pairs, row[::2], row[1::2], strict=True):
        # A time that is filled in later may be that of another event on the same day.
        is_filled_together = rows + table.profile.column(date).nulls == table.profile.rows
        is_certain = rows >= _FEWEST_ROWS and is_filled_together
        if rows and not differing and (is_certain or _have_one_name(date, timestamp)):
            yield SameMoment(table.profile.name, date, timestamp, rows)


def _measure_twins(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, pairs: Sequence[tuple[str, str]]
) -> Iterator[TwinMoment]:
    seconds = [
        f"date_diff('second', CAST({table.value(column)} AS TIMESTAMP),"
        f" CAST({table.value(twin)} AS TIMESTAMP))"
        for column, twin in pairs
    ]
    figures = ", ".join(
        f"min({offset}), max({offset}), count({offset}), count(DISTINCT {offset})"
        for offset in seconds
    )
    row = connection.execute(f"SELECT {figures} FROM {table.relation}").fetchone() or ()
    profile = table.profile
    for number, (column, twin) in enumerate(pairs):
        low, high, rows, offsets = row[4 * number : 4 * number + 4]
        nulls = profile.column(column).nulls
        if not rows or rows + nulls != profile.rows:
            continue
        is_equal = low == high == 0 and (rows >= _FEWEST_ROWS or _have_one_name(column, twin))
        in_two_zones = _names_zone(profile.column(column), profile.column(twin))
        if is_equal or (in_two_zones and _is_zone_offset(low, high, offsets)):
            yield TwinMoment(profile.name, column, twin, rows)


def _is_zone_offset(low: int, high: int, offsets: int) -> bool:
    """Return whether seconds between two columns are those between a time zone and UTC."""
    if max(abs(low), abs(high)) > _LARGEST_OFFSET:
        return False
    return offsets == 1 or (offsets == 2 and high - low == _CLOCK_CHANGE)
