"""Which of two dates of a row comes first, and whether the later one is filled in later.

The dates of a process follow each other: ordered, shipped, paid. While a row is in progress its
later dates are open, which is why the youngest rows are the ones that lack them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import duckdb

from fluid_build.observations.observed_tables import (
    ObservedTable,
    is_dated,
    unless_unreadable,
    value_type,
)

_MOST_DATES = 10
"""Dates of a table that are compared, the first ones: 45 pairs in one query. No process that is
told of in the literature has more milestones."""
_FIGURES = 7


@dataclass(frozen=True, slots=True)
class DateOrder:
    """Two dates of a table: how many rows have both, and in how many the order holds.

    ``earlier`` is the one that comes first in more rows. Dates are compared by day unless both have
    a time. ``open`` counts the rows that have only the earlier date, ``skipped`` those that have
    only the later one. ``open_is_recent`` says that the open rows are younger than those that have
    both, by the average of the earlier date.
    """

    table: str
    earlier: str
    later: str
    both: int
    in_order: int
    open: int
    skipped: int
    open_is_recent: bool


def date_orders(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[DateOrder]:
    """Return the order of each pair of dates; one query for each table that has several.

    ``closed_on`` that only the youngest rows lack is a step to come; one that rows of any age lack
    is a remark. The figures tell the two apart.
    """
    for table in tables:
        dates = [
            column.name
            for column in table.profile.columns
            if is_dated(column) and column.nulls < table.profile.rows
        ]
        pairs = list(combinations(dates[:_MOST_DATES], 2))
        if pairs:
            with unless_unreadable():
                yield from _measure(connection, table, pairs)


def _measure(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, pairs: Sequence[tuple[str, str]]
) -> Iterator[DateOrder]:
    figures = ",\n".join(_figures(table, first, second) for first, second in pairs)
    row = connection.execute(f"SELECT\n{figures}\nFROM {table.relation}").fetchone() or ()
    for number, (first, second) in enumerate(pairs):
        both, before, after, only_first, only_second, first_recent, second_recent = row[
            _FIGURES * number : _FIGURES * (number + 1)
        ]
        name = table.profile.name
        if before >= after:
            yield DateOrder(
                name, first, second, both, both - after, only_first, only_second, first_recent
            )
        else:
            yield DateOrder(
                name, second, first, both, both - before, only_second, only_first, second_recent
            )


def _figures(table: ObservedTable, first: str, second: str) -> str:
    """Return the figures of a pair, as many as ``_FIGURES``."""
    is_day = "DATE" in {value_type(table.profile.column(name)) for name in (first, second)}
    type_ = "DATE" if is_day else "TIMESTAMP"
    a, b = (f"CAST({table.value(name)} AS {type_})" for name in (first, second))
    return ",\n".join(
        (
            f"count(*) FILTER (WHERE {a} IS NOT NULL AND {b} IS NOT NULL)",
            f"count(*) FILTER (WHERE {a} < {b})",
            f"count(*) FILTER (WHERE {a} > {b})",
            f"count(*) FILTER (WHERE {a} IS NOT NULL AND {b} IS NULL)",
            f"count(*) FILTER (WHERE {a} IS NULL AND {b} IS NOT NULL)",
            _is_younger(a, b),
            _is_younger(b, a),
        )
    )


def _is_younger(present: str, absent: str) -> str:
    """Return whether the rows without one date are younger than the rest, by the other date."""
    age = f"CASE WHEN isfinite({present}) THEN epoch({present}) END"
    return (
        f"coalesce(avg({age}) FILTER (WHERE {absent} IS NULL)"
        f" > avg({age}) FILTER (WHERE {absent} IS NOT NULL), FALSE)"
    )
