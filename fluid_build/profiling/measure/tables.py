"""The measurement of a table's columns: a sample for the values, one pass for the figures.

The sample of a small table is the whole table, and gives nearly everything. For a larger one, the
pass counts and bounds the values of every column at once. Distinct values are counted, too, as long
as that takes no time; of more rows they are estimated, and counted exactly only if a column is
nearly unique (it could be a key) or has few values.
"""

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from fluid_build.profiling.measure.figures import ColumnStats, TableStats, Value, kind_of
from fluid_build.profiling.measure.samples import (
    COLUMNS_A_QUERY,
    SAMPLE_ROWS,
    SAMPLE_VALUES,
    read_documents,
    read_sample,
    read_whole,
)
from fluid_build.profiling.measure.spread_samples import describe_distributions
from fluid_build.profiling.measure.text_types import find_measured_types
from fluid_build.sources.base import Table
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from fluid_build.text import clip

NEAR_UNIQUE = 0.7
"""The estimated share of distinct values from which they are counted: estimates are off by 10 %
and more, and no key may be missed."""
LOW_CARDINALITY = 50
"""Up to so many distinct values, each is counted over the whole table."""
COUNTED_ROWS = 100_000
"""Up to so many rows, distinct values are counted rather than estimated: a few milliseconds a
column, and a reader isn't told of 79 days where there are 90."""
TOP_VALUES = 10
"""The most frequent values that a profile lists."""
_LONGEST_SHOWN = 200
_BITS_A_ROW = 32
"""Bits of a bit string for each row at most; beyond, hashing the values is as fast."""
_MOST_BITS = 500_000_000
"""Bits of the largest bit string: 60 MB."""


def measure_table(
    connection: duckdb.DuckDBPyConnection, table: Table, answers: Conventions = NO_ANSWERS
) -> TableStats:
    """Measure every column of a table; ``answers`` say how text that fits two types is read."""
    stats = [ColumnStats(column, kind_of(column.type)) for column in table.columns]
    row = connection.execute(f"SELECT count(*) FROM {table.relation}").fetchone()
    rows = int(row[0]) if row else 0
    measured = TableStats(table, rows, stats, is_complete=rows <= SAMPLE_ROWS)
    for column in stats:
        column.rows = rows
        column.nulls = rows
    if rows == 0 or not stats:
        return measured
    unmeasured = read_whole(connection, measured) if measured.is_complete else stats
    for start in range(0, len(unmeasured), COLUMNS_A_QUERY):
        _measure_in_one_pass(connection, measured, unmeasured[start : start + COLUMNS_A_QUERY])
    read_documents(connection, measured)
    if not measured.is_complete:
        read_sample(connection, measured)
        for column in stats:
            if column.distinct_exact or column.kind in {"nested", "binary", "float"}:
                continue
            if column.present and column.distinct >= NEAR_UNIQUE * column.present:
                column.distinct = count_distinct(connection, table, column)
                column.distinct_exact = True
        few = [
            column
            for column in stats
            if column.kind not in {"nested", "binary", "float"}
            and 0 < column.distinct <= LOW_CARDINALITY
        ]
        for start in range(0, len(few), COLUMNS_A_QUERY):
            _count_values(connection, measured, few[start : start + COLUMNS_A_QUERY])
    find_measured_types(connection, measured, answers)
    describe_distributions(connection, measured)
    return measured


def _measure_in_one_pass(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, columns: Sequence[ColumnStats]
) -> None:
    """Read counts, bounds, lengths and distinct values of some columns in one query."""
    aggregates = [_aggregates(stats, measured.is_complete) for stats in columns]
    expressions = [expression for group in aggregates for expression in group.values()]
    if not expressions:
        return
    row = connection.execute(
        f"SELECT {', '.join(expressions)} FROM {measured.table.relation}"
    ).fetchone()
    figures = iter(row or ())
    for stats, group in zip(columns, aggregates, strict=True):
        _set_figures(stats, {name: next(figures) for name in group})


def _aggregates(stats: ColumnStats, is_complete: bool) -> dict[str, str]:
    """Return SQL for the figures that a column still lacks, by their names."""
    name = quote(stats.column.alias)
    aggregates: dict[str, str] = {}
    if not is_complete:
        aggregates["count"] = f"count({name})"
        if stats.kind in {"nested", "binary"}:
            aggregates["distinct"] = f"approx_count_distinct(hash({name}))"
        elif stats.rows <= COUNTED_ROWS:
            aggregates["counted"] = f"count(DISTINCT {name})"
        else:
            aggregates["distinct"] = f"approx_count_distinct({name})"
    if stats.kind not in {"nested", "binary"}:
        # Python has no years after 9999, and needs another package for times with a zone.
        bound = "CAST({}({}) AS VARCHAR)" if stats.kind == "temporal" else "{}({})"
        aggregates["low"] = bound.format("min", name)
        aggregates["high"] = bound.format("max", name)
    if stats.kind == "text" and not is_complete:
        aggregates["min_length"] = f"min(length({name}))"
        aggregates["max_length"] = f"max(length({name}))"
        aggregates["avg_length"] = f"avg(length({name}))"
    if stats.kind == "float":
        aggregates["integral"] = f"bool_and(isfinite({name}) AND {name} = trunc({name}))"
    return aggregates


def _set_figures(stats: ColumnStats, figures: dict[str, Value]) -> None:
    if "count" in figures:
        stats.nulls = stats.rows - int(str(figures["count"]))
        stats.distinct_exact = "counted" in figures
        distinct = figures["counted"] if stats.distinct_exact else figures["distinct"]
        stats.distinct = min(int(str(distinct)), stats.present)
    if "min_length" in figures and figures["min_length"] is not None:
        stats.min_length = int(str(figures["min_length"]))
        stats.max_length = int(str(figures["max_length"]))
        stats.avg_length = float(str(figures["avg_length"]))
    stats.is_integral = stats.kind == "integer" or figures.get("integral") is True
    stats.set_bounds(figures.get("low"), figures.get("high"))


def count_distinct(connection: duckdb.DuckDBPyConnection, table: Table, stats: ColumnStats) -> int:
    """Count the distinct values of a column exactly.

    Whole numbers of a narrow range set one bit each, several times faster than hashing them.
    """
    name = quote(stats.column.alias)
    expression = f"count(DISTINCT {name})"
    if stats.kind == "integer" and isinstance(stats.low, int) and isinstance(stats.high, int):
        span = stats.high - stats.low + 1
        if span <= min(_BITS_A_ROW * stats.rows, _MOST_BITS):
            low, high = (f"CAST({n} AS {stats.column.type})" for n in (stats.low, stats.high))
            expression = f"bit_count(bitstring_agg({name}, {low}, {high}))"
    row = connection.execute(f"SELECT {expression} FROM {table.relation}").fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _count_values(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, columns: Sequence[ColumnStats]
) -> None:
    counts = " UNION ALL ".join(
        f"SELECT {place}, CAST(value AS VARCHAR), n FROM (SELECT {name} AS value, count(*) AS n"
        f" FROM {measured.table.relation} WHERE {name} IS NOT NULL GROUP BY ALL)"
        for place, name in enumerate(quote(stats.column.alias) for stats in columns)
    )
    value_counts: list[list[tuple[str, int]]] = [[] for _ in columns]
    for place, value, count in connection.execute(counts).fetchall():
        value_counts[place].append((str(value), int(count)))
    for stats, ranked in zip(columns, value_counts, strict=True):
        ranked.sort(key=lambda item: (-item[1], item[0]))
        stats.distinct, stats.distinct_exact = len(ranked), True
        stats.values = ranked[:SAMPLE_VALUES]
        stats.sample_rows = measured.rows


def value_text(value: Value) -> str | None:
    """Return a value as text, cut to a readable length."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value:f}"
    text = value.hex() if isinstance(value, bytes) else str(value)
    return clip(text, _LONGEST_SHOWN)
