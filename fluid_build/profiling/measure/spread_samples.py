"""The distributions of columns whose values weren't all read, from rows spread over their table.

The rows of a large table often grow with time, so some slices of it would show as many peaks. Of
every stretch of rows, one is read instead, at another place in each: rows that repeat in a period
don't hide. The same table gives the same rows each time.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb

from fluid_build.profiling.measure.distributions import describe_positions
from fluid_build.profiling.measure.figures import ColumnStats, TableStats, Value
from fluid_build.profiling.measure.number_lines import (
    Axis,
    Bounds,
    FixedPoint,
    FloatingPoint,
    Position,
    axis_of,
)
from fluid_build.profiling.measure.samples import COLUMNS_A_QUERY
from fluid_build.profiling.measure.text_types import reading_sql

_MULTIPLIER = 2_654_435_761
"""A stretch's number times the golden ratio of 2**32 has upper bits that look random: its row's."""

_FEWEST_ROWS = 2048
"""Rows of a sample, or up to twice as many: a bin of 20 is off by a tenth, a quantile by a
hundredth of the rows, and reading them takes a few percent of a profile's time."""
_MOST_STRETCHES = 1 << 20
"""Stretches of which each has a number of its own: where rows were deleted, or aren't committed
yet, the numbers of rows are far higher, and the product would overflow."""


def describe_distributions(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Describe the numbers, dates and times of a table, except where that was done already."""
    unread: list[tuple[ColumnStats, Axis]] = []
    for stats in measured.columns:
        axis = axis_of(stats.measured_type or stats.column.type, is_integral=stats.is_integral)
        if axis is None or not stats.present or _is_described(stats):
            continue
        # Of a column with few values, each was counted over the whole table.
        if (
            stats.measured_type is None
            and stats.distinct_exact
            and stats.sample_rows == measured.rows
            and len(stats.values) == stats.distinct
        ):
            known, counts = zip(*stats.values, strict=True)
            stats.distribution = describe_positions(axis, axis.positions(known), counts)
        else:
            unread.append((stats, axis))
    for start in range(0, len(unread), COLUMNS_A_QUERY):
        columns = unread[start : start + COLUMNS_A_QUERY]
        rows, texts = _read_positions(connection, measured, columns)
        sample = rows if rows < measured.rows else None
        for (stats, axis), text in zip(columns, texts, strict=True):
            positions = _parse_positions(axis, (text or "").split())
            distribution = describe_positions(axis, positions, bounds=_bounds(stats, axis))
            if distribution:
                stats.distribution = replace(
                    distribution, sample=sample, measured_type=stats.measured_type
                )


def _is_described(stats: ColumnStats) -> bool:
    return stats.distribution is not None and stats.measured_type is None


def _parse_positions(axis: Axis, texts: Sequence[str]) -> Sequence[Position]:
    """Return positions that the source computed: numbers are themselves, times whole numbers."""
    is_number = isinstance(axis, FixedPoint | FloatingPoint)
    return axis.positions(texts) if is_number else list(map(int, texts))


def _bounds(stats: ColumnStats, axis: Axis) -> Bounds | None:
    """Return the least and greatest value of all rows, None if they aren't known."""
    if stats.measured_type:
        return stats.bounds if stats.measured_type == "BIGINT" else None
    return _position(stats.low, axis), _position(stats.high, axis)


def _position(value: Value, axis: Axis) -> Position:
    # A Decimal's usual text may have an exponent.
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return axis.positions((text,))[0]


def _read_positions(
    connection: duckdb.DuckDBPyConnection,
    measured: TableStats,
    columns: Sequence[tuple[ColumnStats, Axis]],
) -> tuple[int, Sequence[str | None]]:
    """Return how many rows were read, and of each column the positions of its values, joined."""
    positions = ", ".join(
        f"{axis.sql(reading_sql(stats))} AS p{index}" for index, (stats, axis) in enumerate(columns)
    )
    joined = ", ".join(
        f"string_agg(CAST(p{index} AS VARCHAR), ' ')" for index in range(len(columns))
    )
    # The length of a stretch is a power of two.
    places = 0 if measured.is_complete else (measured.rows // _FEWEST_ROWS).bit_length() - 1
    stretch = f"((n >> {places}) & {_MOST_STRETCHES - 1})"
    chosen = f"WHERE (n + (({stretch} * {_MULTIPLIER}) >> 16)) & {(1 << places) - 1} = 0"

    def read(number: str) -> tuple[Any, ...]:
        numbered = f"SELECT {number} AS n, {positions} FROM {measured.table.relation}"
        query = f"SELECT count(*), {joined} FROM ({numbered}) {chosen if places else ''}"
        return connection.execute(query).fetchone() or (0,)

    if any(column.alias.lower() == "rowid" for column in measured.table.columns):
        rows, *texts = read(_ROW_NUMBER)
    else:
        try:
            rows, *texts = read("rowid" if places else "0")
        except duckdb.BinderException:
            # A view has no row ids.
            rows, *texts = read(_ROW_NUMBER)
    return rows, texts


_ROW_NUMBER = "row_number() OVER ()"
