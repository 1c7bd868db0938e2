"""Pairs of columns that say the same moment twice: a date, and a timestamp of that day."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.profile import TableProfile

_MOST_PAIRS = 100
"""Pairs that one query of a table compares; a table with more dates is no record of an event."""


@dataclass(frozen=True, slots=True)
class SameMoment:
    """A column of dates that has the day of a column of timestamps, in every row that has both.

    ``rows`` counts these rows. Wherever one of the two is null, the other is too.
    """

    table: str
    date: str
    timestamp: str
    rows: int


def same_moments(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[SameMoment]:
    """Return the pairs of all tables; one query for each table that has dates and timestamps."""
    for table in tables:
        pairs = list(_pairs(table.profile))[:_MOST_PAIRS]
        if pairs:
            with unless_unreadable():
                yield from _measure(connection, table, pairs)


def _pairs(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Return the dates and timestamps of a table that may be the same moment, by their nulls."""
    dates = [column for column in table.columns if value_type(column) == "DATE"]
    timestamps = [c for c in table.columns if value_type(c).startswith("TIMESTAMP")]
    for date, timestamp in product(dates, timestamps):
        if date.nulls == timestamp.nulls < table.rows:
            yield date.name, timestamp.name


def _measure(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, pairs: Sequence[tuple[str, str]]
) -> Iterator[SameMoment]:
    counts = ", ".join(
        f"count(*) FILTER (WHERE CAST({timestamp} AS DATE) IS DISTINCT FROM {date}), count({date})"
        for date, timestamp in ((table.value(d), table.value(t)) for d, t in pairs)
    )
    row = connection.execute(f"SELECT {counts} FROM {table.relation}").fetchone() or ()
    for (date, timestamp), differing, rows in zip(pairs, row[::2], row[1::2], strict=True):
        if not differing and rows:
            yield SameMoment(table.profile.name, date, timestamp, rows)
