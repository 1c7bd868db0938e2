"""The sample: every row of a small table, or slices spread evenly over a large one.

A small table is read once, as text, and its figures are counted here: for a few thousand values
that's faster than a query.
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
"""Rows up to which a table is read whole: reading it costs about as much as one query."""
SAMPLE_VALUES = 100
"""Distinct values of a column that are kept, most frequent first."""
_SLICES = 4
_SLICE_ROWS = 512
"""Four slices of 512 rows give a hundred values of each column, from all over the table."""
_DOCUMENT_ROWS = 500
"""Rows of nested values that are read: some are enough, since they are never shown."""
_CODES = tuple(range(SAMPLE_ROWS))
"""The numbers that encode values, shared by all columns: they are most of a sample's memory."""


def read_whole(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> list[ColumnStats]:
    """Read a small table into its columns; return those whose bounds its text doesn't show."""
    names = ", ".join(map(_as_text, measured.columns))
    rows = connection.execute(f"SELECT {names} FROM {measured.table.relation}").fetchall()
    unbounded = []
    for stats, values in zip(measured.columns, zip(*rows, strict=True), strict=True):
        counts, stats.nulls = _count_values(values)
        stats.distinct, stats.distinct_exact = len(counts), True
        _set_sample(stats, values, counts)
        if not _set_figures(stats, counts):
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
        counts, _ = _count_values(values)
        _set_sample(stats, values, counts)


def read_documents(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Read some values of the nested columns of a table as JSON."""
    nested = [
        stats
        for stats in measured.columns
        if stats.kind == "nested" and stats.column.type not in ("JSON", "INTERVAL")
    ]
    if not nested or not measured.rows:
        return
    selected = ", ".join(
        f"CAST(to_json({quote(stats.column.alias)}) AS VARCHAR)" for stats in nested
    )
    rows = connection.execute(
        f"SELECT {selected} FROM {measured.table.relation} LIMIT {_DOCUMENT_ROWS}"
    ).fetchall()
    for stats, values in zip(nested, zip(*rows, strict=True), strict=True):
        stats.documents = [value for value in values if value is not None]


Rows: TypeAlias = list[tuple[str | None, ...]]


def _read_by_number(
    connection: duckdb.DuckDBPyConnection, table: Table, names: str, starts: Sequence[int]
) -> Rows:
    """Return slices by the numbers that DuckDB gives the rows of a table, several times faster.

    A view has no such numbers, so there are none; if rows were deleted, there are too few.
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


def _count_values(values: Sequence[str | None]) -> tuple[Mapping[str, int], int]:
    """Return the values with their counts, in order of appearance, and how many are null."""
    counter = Counter(values)
    nulls = counter.pop(None, 0)
    return cast("Mapping[str, int]", counter), nulls


def _set_sample(
    stats: ColumnStats, values: Sequence[str | None], counts: Mapping[str, int]
) -> None:
    stats.sample_rows = len(values)
    stats.values = _most_frequent(counts)
    if not stats.nulls and not stats.is_key:
        code_of: dict[str | None, int] = dict(zip(counts, _CODES, strict=False))
        stats.codes = list(map(code_of.__getitem__, values))


def _most_frequent(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most frequent values; of equally rare ones, a selection spread over all."""
    ranked = sorted(counts)
    ranked.sort(key=counts.__getitem__, reverse=True)
    if len(ranked) > SAMPLE_VALUES:
        edge = -counts[ranked[SAMPLE_VALUES - 1]]
        first = bisect_left(ranked, edge, key=lambda value: -counts[value])
        ties = ranked[first : bisect_right(ranked, edge, first, key=lambda value: -counts[value])]
        size = SAMPLE_VALUES - first
        ranked[first:] = [ties[place * len(ties) // size] for place in range(size)]
    return [(value, counts[value]) for value in ranked]


def _set_figures(stats: ColumnStats, counts: Mapping[str, int]) -> bool:
    """Set lengths and bounds from all values of a column; False if their text hides the order."""
    if stats.kind in {"nested", "binary"}:
        return True
    stats.is_integral = stats.kind == "integer"
    if not counts:
        return True
    if stats.kind == "text":
        _set_lengths(stats, counts)
    parse = _PARSERS.get(stats.column.type.partition("(")[0])
    if parse is None or (stats.kind == "temporal" and not all(map(_SORTS_AS_TEXT, counts))):
        return False
    values = list(map(parse, counts))
    if stats.kind == "float":
        stats.is_integral = all(math.isfinite(value) and value.is_integer() for value in values)
        values.sort(key=_nan_last)
        stats.set_bounds(values[0], values[-1])
    else:
        stats.set_bounds(min(values), max(values))
    return True


def _set_lengths(stats: ColumnStats, counts: Mapping[str, int]) -> None:
    lengths = list(map(len, counts))
    stats.min_length, stats.max_length = min(lengths), max(lengths)
    stats.avg_length = sum(map(mul, lengths, counts.values())) / stats.present


def _nan_last(value: float) -> tuple[bool, float]:
    return math.isnan(value), value


# A date or time that sorts as its text does, unlike "infinity", years BC and years after 9999.
_SORTS_AS_TEXT = re.compile(r"\d{4}-\d\d-[^)]*$|\d\d:").match

# How text becomes the value that DuckDB would return; the bounds of other types come from a query.
_PARSERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), int),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), int),
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "VARCHAR"), str),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), str),
    "DECIMAL": Decimal,
    "DOUBLE": float,
    "BOOLEAN": "true".__eq__,
    "UUID": UUID,
}
