"""What the columns of a table hold: one sample for the values, one pass for the figures.

Of a small table the sample is the whole, and tells nearly everything. Of others the pass counts,
bounds and estimates distinct values of every column at once; exact distinct counts follow only
where a column is near-unique (a key could be there) or has few values.
"""

from collections.abc import Sequence

import duckdb

from fluid_build.profiling.column_stats import ColumnStats, TableStats, Value, kind_of
from fluid_build.profiling.measured_types import find_measured_types
from fluid_build.profiling.samples import (
    SAMPLE_ROWS,
    SAMPLE_VALUES,
    read_documents,
    read_sample,
    read_whole,
)
from fluid_build.sources.base import Table
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.sql import quote
from fluid_build.text import clip

NEAR_UNIQUE = 0.7
LOW_CARDINALITY = 50
TOP_VALUES = 10
_COLUMNS_A_QUERY = 250
_CLIP = 200


def measure_table(
    connection: duckdb.DuckDBPyConnection, table: Table, answers: Conventions = NO_ANSWERS
) -> TableStats:
    """Measure every column of a table; ``answers`` say how text that fits two types is read."""
    stats = [ColumnStats(column, kind_of(column.type)) for column in table.columns]
    rows = _count_rows(connection, table)
    measured = TableStats(table, rows, stats, complete=rows <= SAMPLE_ROWS)
    for column in stats:
        column.rows = rows
        column.nulls = rows
    if rows == 0 or not stats:
        return measured
    asked = read_whole(connection, measured) if measured.complete else stats
    for start in range(0, len(asked), _COLUMNS_A_QUERY):
        _one_pass(connection, measured, asked[start : start + _COLUMNS_A_QUERY])
    read_documents(connection, measured)
    if not measured.complete:
        read_sample(connection, measured)
        _count_near_unique(connection, measured)
        _count_low_cardinality(connection, measured)
    find_measured_types(connection, measured, answers)
    return measured


def _count_rows(connection: duckdb.DuckDBPyConnection, table: Table) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table.relation}").fetchone()
    return int(row[0]) if row else 0


def _one_pass(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, columns: Sequence[ColumnStats]
) -> None:
    """Read counts, bounds, lengths and distinct values of some columns in one query."""
    asked = [_aggregates(stats, measured.complete) for stats in columns]
    expressions = [expression for group in asked for expression in group.values()]
    if not expressions:
        return
    row = connection.execute(
        f"SELECT {', '.join(expressions)} FROM {measured.table.relation}"
    ).fetchone()
    found = iter(row or ())
    for stats, group in zip(columns, asked, strict=True):
        _take_figures(stats, {name: next(found) for name in group})


def _aggregates(stats: ColumnStats, complete: bool) -> dict[str, str]:
    name = quote(stats.column.alias)
    asked: dict[str, str] = {}
    if not complete:
        asked["count"] = f"count({name})"
        if stats.kind in {"nested", "binary"}:
            asked["distinct"] = f"approx_count_distinct(hash({name}))"
        else:
            asked["distinct"] = f"approx_count_distinct({name})"
    if stats.kind not in {"nested", "binary"}:
        # As Python values, times with a zone need another package, and late years don't exist.
        bound = "CAST({}({}) AS VARCHAR)" if stats.kind == "temporal" else "{}({})"
        asked["low"] = bound.format("min", name)
        asked["high"] = bound.format("max", name)
    if stats.kind == "text" and not complete:
        asked["min_length"] = f"min(length({name}))"
        asked["max_length"] = f"max(length({name}))"
        asked["avg_length"] = f"avg(length({name}))"
    if stats.kind == "float":
        asked["integral"] = f"bool_and(isfinite({name}) AND {name} = trunc({name}))"
    return asked


def _take_figures(stats: ColumnStats, found: dict[str, Value]) -> None:
    if "count" in found:
        stats.nulls = stats.rows - int(str(found["count"]))
        stats.distinct = min(int(str(found["distinct"])), stats.present)
        stats.distinct_exact = False
    if "min_length" in found and found["min_length"] is not None:
        stats.min_length = int(str(found["min_length"]))
        stats.max_length = int(str(found["max_length"]))
        stats.avg_length = float(str(found["avg_length"]))
    stats.integral = stats.kind == "integer" or found.get("integral") is True
    stats.take_bounds(found.get("low"), found.get("high"))


def _count_near_unique(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    for stats in measured.columns:
        if stats.distinct_exact or stats.kind in {"nested", "binary", "float"}:
            continue
        if stats.present and stats.distinct >= NEAR_UNIQUE * stats.present:
            stats.distinct = count_distinct(connection, measured.table, stats)
            stats.distinct_exact = True


def count_distinct(connection: duckdb.DuckDBPyConnection, table: Table, stats: ColumnStats) -> int:
    """Count the distinct values of a column exactly.

    Whole numbers of a narrow range set one bit each, several times faster than hashing them.
    """
    name = quote(stats.column.alias)
    expression = f"count(DISTINCT {name})"
    if stats.kind == "integer" and isinstance(stats.low, int) and isinstance(stats.high, int):
        span = stats.high - stats.low + 1
        if span <= min(32 * stats.rows, 500_000_000):
            low, high = (f"CAST({n} AS {stats.column.type})" for n in (stats.low, stats.high))
            expression = f"bit_count(bitstring_agg({name}, {low}, {high}))"
    row = connection.execute(f"SELECT {expression} FROM {table.relation}").fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _count_low_cardinality(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Count the values of columns with few of them over the whole table."""
    columns = [
        stats
        for stats in measured.columns
        if stats.kind not in {"nested", "binary", "float"} and 0 < stats.distinct <= LOW_CARDINALITY
    ]
    for start in range(0, len(columns), _COLUMNS_A_QUERY):
        _count_values(connection, measured, columns[start : start + _COLUMNS_A_QUERY])


def _count_values(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, columns: Sequence[ColumnStats]
) -> None:
    counts = " UNION ALL ".join(
        f"SELECT {place}, CAST(value AS VARCHAR), n FROM (SELECT {name} AS value, count(*) AS n"
        f" FROM {measured.table.relation} WHERE {name} IS NOT NULL GROUP BY ALL)"
        for place, name in enumerate(quote(stats.column.alias) for stats in columns)
    )
    found: list[list[tuple[str, int]]] = [[] for _ in columns]
    for place, value, count in connection.execute(counts).fetchall():
        found[place].append((str(value), int(count)))
    for stats, counted in zip(columns, found, strict=True):
        counted.sort(key=lambda item: (-item[1], item[0]))
        stats.distinct, stats.distinct_exact = len(counted), True
        stats.values = counted[:SAMPLE_VALUES]
        stats.sample_rows = measured.rows


def value_text(value: Value) -> str | None:
    """A bound as text, cut to a readable length."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    text = value.hex() if isinstance(value, bytes) else str(value)
    return clip(text, _CLIP)
