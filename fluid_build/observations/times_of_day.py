"""Whether the times of a moment say something besides its day: when in a day things happen.

A moment that is always midnight is a day. One that a batch stamps has a time too, but that of the
batch: it's nearly the same every day, or of the few hours of a night.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.observations.observed_tables import (
    ObservedTable,
    is_dated,
    unless_unreadable,
    value_type,
)

_FEWEST_MINUTES = 25
"""Different minutes of the day. Jobs and shifts begin on the full hour, of which there are 24."""
_FEWEST_HOURS = 6
"""Different hours of the day. A batch runs for some hours of the night; what people or machines do
is spread over a working day at least."""
_MOST_AT_ONE_MINUTE = 0.5
"""Share of rows that may have the same minute. Where more do, the time is mostly one that stands
for none: midnight, noon, or midnight in another time zone."""


@dataclass(frozen=True, slots=True)
class TimesOfDay:
    """How many minutes and hours of the day occur in a column whose times say something."""

    table: str
    column: str
    minutes: int
    hours: int


def times_of_day(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[TimesOfDay]:
    """Return the columns with times that say something; one query for each table with moments."""
    for table in tables:
        moments = [
            column.name
            for column in table.profile.columns
            if is_dated(column)
            and value_type(column) != "DATE"
            and table.profile.rows - column.nulls >= _FEWEST_MINUTES
        ]
        if moments:
            with unless_unreadable():
                yield from _measure(connection, table, moments)


def _measure(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, moments: Sequence[str]
) -> Iterator[TimesOfDay]:
    counts = ",\n".join(f"histogram({_minute(table.value(name))})" for name in moments)
    row = connection.execute(f"SELECT\n{counts}\nFROM {table.relation}").fetchone() or ()
    for name, rows_by_minute in zip(moments, row, strict=True):
        rows = (rows_by_minute or {}).values()
        hours = {minute // 60 for minute in rows_by_minute or {}}
        if (
            len(rows) >= _FEWEST_MINUTES
            and len(hours) >= _FEWEST_HOURS
            and max(rows) <= _MOST_AT_ONE_MINUTE * sum(rows)
        ):
            yield TimesOfDay(table.profile.name, name, len(rows), len(hours))


def _minute(moment: str) -> str:
    """Return SQL for the minute of the day of a moment; null where it's infinite."""
    return (
        f"CASE WHEN isfinite({moment})"
        f" THEN 60 * EXTRACT(HOUR FROM {moment}) + EXTRACT(MINUTE FROM {moment}) END"
    )
