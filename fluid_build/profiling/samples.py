"""The sample: every row of a small table, or slices spread evenly over a large one.

A small table is read once, as text; its figures are then counted here, since a query costs more
than a few thousand values do.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from operator import mul
from typing import Any, TypeAlias, cast
from uuid import UUID

import duckdb

from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.sources.base import Table
from fluid_build.sources.sql import quote

SAMPLE_ROWS = 4096
SAMPLE_VALUES = 100
_SLICES = 4
_DOCUMENT_ROWS = 500
"""Of nested values some are enough, since none of them is ever shown."""
_SLICE_ROWS = 512
# One object a number, not one a column: they are most of what a sample takes.
_CODES = tuple(range(SAMPLE_ROWS))


def read_whole(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> list[ColumnStats]:
    """Read a small table into its columns; gives those whose bounds its text does not tell."""
    names = ", ".join(map(_as_text, measured.columns))
    rows = connection.execute(f"SELECT {names} FROM {measured.table.relation}").fetchall()
    unbounded = []
    for stats, values in zip(measured.columns, zip(*rows, strict=True), strict=True):
        counted, stats.nulls = _count(values)
        stats.distinct, stats.distinct_exact = len(counted), True
        _take_sample(stats, values, counted)
        if not _take_figures(stats, counted):
            unbounded.append(stats)
    return unbounded


def read_sample(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Read slices of a large table into its columns."""
    names = ", ".join(map(_as_text, measured.columns))
    step = (measured.rows - _SLICE_ROWS) // (_SLICES - 1)
    starts = [index * step for index in range(_SLICES)]
    rows = _read_by_number(connection, measured.table, names, starts)
    if len(rows) < _SLICES * _SLICE_ROWS:
        rows = _read_by_offset(connection, measured.table, names, starts)
    for stats, values in zip(measured.columns, zip(*rows, strict=True), strict=True):
        counted, _ = _count(values)
        _take_sample(stats, values, counted)


def read_documents(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Read some values of the nested columns of a table as JSON."""
    nested = [
        stats
        for stats in measured.columns
        if stats.kind == "nested" and stats.column.type not in ("JSON", "INTERVAL")
    ]
    if not nested or not measured.rows:
        return
    asked = ", ".join(f"CAST(to_json({quote(stats.column.alias)}) AS VARCHAR)" for stats in nested)
    rows = connection.execute(
        f"SELECT {asked} FROM {measured.table.relation} LIMIT {_DOCUMENT_ROWS}"
    ).fetchall()
    for stats, values in zip(nested, zip(*rows, strict=True), strict=True):
        stats.documents = [value for value in values if value is not None]


Rows: TypeAlias = list[tuple[str | None, ...]]


def _read_by_number(
    connection: duckdb.DuckDBPyConnection, table: Table, names: str, starts: Sequence[int]
) -> Rows:
    """Slices by the numbers that DuckDB gives the rows of a table, several times faster.

    Nothing for a view, which has no such numbers; too few where rows were deleted.
    """
    if any(column.alias.lower() == "rowid" for column in table.columns):
        return []
    slices = " OR ".join(f"rowid BETWEEN {start} AND {start + _SLICE_ROWS - 1}" for start in starts)
    try:
        return connection.execute(f"SELECT {names} FROM {table.relation} WHERE {slices}").fetchall()
    except duckdb.BinderException:
        return []


def _read_by_offset(
    connection: duckdb.DuckDBPyConnection, table: Table, names: str, starts: Sequence[int]
) -> Rows:
    rows: Rows = []
    for start in starts:
        part = f"(SELECT * FROM {table.relation} LIMIT {_SLICE_ROWS} OFFSET {start})"
        rows.extend(connection.execute(f"SELECT {names} FROM {part}").fetchall())
    return rows


def _as_text(stats: ColumnStats) -> str:
    name = quote(stats.column.alias)
    if stats.column.type == "BLOB":
        return f"hex({name})"
    return name if stats.kind == "text" else f"CAST({name} AS VARCHAR)"


def _count(values: Sequence[str | None]) -> tuple[Mapping[str, int], int]:
    """The values with their counts, in the order they come in, and how many are null."""
    seen = Counter(values)
    nulls = seen.pop(None, 0)
    return cast("Mapping[str, int]", seen), nulls


def _take_sample(
    stats: ColumnStats, values: Sequence[str | None], counted: Mapping[str, int]
) -> None:
    stats.sample_rows = len(values)
    stats.values = _most_frequent(counted)
    if not stats.nulls and not stats.is_key:
        code_of: dict[str | None, int] = dict(zip(counted, _CODES, strict=False))
        stats.codes = list(map(code_of.__getitem__, values))


def _most_frequent(counted: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent values; of the many that are equally rare, some spread over all of them."""
    ranked = sorted(counted)
    ranked.sort(key=counted.__getitem__, reverse=True)
    if len(ranked) > SAMPLE_VALUES:
        edge = -counted[ranked[SAMPLE_VALUES - 1]]
        first = bisect_left(ranked, edge, key=lambda value: -counted[value])
        ties = ranked[first : bisect_right(ranked, edge, first, key=lambda value: -counted[value])]
        wanted = SAMPLE_VALUES - first
        ranked[first:] = [ties[place * len(ties) // wanted] for place in range(wanted)]
    return [(value, counted[value]) for value in ranked]


def _take_figures(stats: ColumnStats, counted: Mapping[str, int]) -> bool:
    """Take lengths and bounds from all values of a column; False where text hides the order."""
    if stats.kind in {"nested", "binary"}:
        return True
    stats.integral = stats.kind == "integer"
    if not counted:
        return True
    if stats.kind == "text":
        _take_lengths(stats, counted)
    read = _READ.get(stats.column.type.partition("(")[0])
    if read is None or (stats.kind == "temporal" and not all(map(_OF_OUR_ERA, counted))):
        return False
    values = list(map(read, counted))
    if stats.kind == "float":
        stats.integral = all(math.isfinite(value) and value.is_integer() for value in values)
        values.sort(key=_nan_last)
        stats.take_bounds(values[0], values[-1])
    else:
        stats.take_bounds(min(values), max(values))
    return True


def _take_lengths(stats: ColumnStats, counted: Mapping[str, int]) -> None:
    lengths = list(map(len, counted))
    stats.min_length, stats.max_length = min(lengths), max(lengths)
    stats.avg_length = sum(map(mul, lengths, counted.values())) / stats.present


def _nan_last(value: float) -> tuple[bool, float]:
    return math.isnan(value), value


# A date or time that sorts as its text does: not so in late years, before Christ, and never.
_OF_OUR_ERA = re.compile(r"\d{4}-\d\d-[^)]*$|\d\d:").match

# How text becomes the value that DuckDB would give; of what is not named here, DuckDB is asked.
_READ: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), int),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), int),
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "VARCHAR"), str),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), str),
    "DECIMAL": Decimal,
    "DOUBLE": float,
    "BOOLEAN": "true".__eq__,
    "UUID": UUID,
}
