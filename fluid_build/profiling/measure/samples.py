"""The sample: every row of a small table, or slices spread evenly over a large one.

A small table is read once, as text, and its figures are counted here: for a few thousand values
that's faster than a query.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate
from operator import mul
from typing import Any, TypeAlias
from uuid import UUID

import duckdb

from fluid_build.profiling.measure.distributions import Ranked, describe_positions, describe_texts
from fluid_build.profiling.measure.figures import ColumnStats, TableStats
from fluid_build.profiling.measure.number_lines import FloatingPoint, axis_of
from fluid_build.sources.base import Table
from fluid_build.sources.sql import quote


def _set_figures(
    stats: ColumnStats, counts: Mapping[str, int], ranked: Sequence[str], total: int | None
) -> bool:
    """Set lengths, bounds and distribution of a column; False if the text hides its order.

    ``counts`` are all values with their numbers, ``ranked`` the same values in alphabetical order.
    ``total`` adds up the positions of dates or times on their axis.
    """
    if stats.kind in {"nested", "binary"}:
        return True
    stats.is_integral = stats.kind == "integer"
    if not counts:
        return True
    if stats.kind == "text":
        lengths = list(map(len, counts))
        stats.min_length, stats.max_length = min(lengths), max(lengths)
        stats.avg_length = sum(map(mul, lengths, counts.values())) / stats.present
    type_name = stats.column.type.partition("(")[0]
    if type_name in _NUMBERS:
        _set_number_figures(stats, counts)
        return True
    if type_name in _SORTED_AS_TEXT:
        if stats.kind == "temporal":
            # "infinity", years BC and years after 9999 don't sort as their text does.
            usual_length = _USUAL_LENGTHS.get(type_name)
            if not (set(map(len, ranked)) == {usual_length} or all(map(_SORTS_AS_TEXT, ranked))):
                return False
            axis = axis_of(stats.column.type)
            if axis is not None and total is not None:
                running = list(accumulate(map(counts.__getitem__, ranked)))
                stats.distribution = describe_texts(axis, Ranked(ranked, running), total)
        stats.set_bounds(ranked[0], ranked[-1])
        return True
    parse = _PARSERS.get(type_name)
    if parse is None:
        return False
    values = list(map(parse, counts))
    stats.set_bounds(min(values), max(values))
    return True


def _set_number_figures(stats: ColumnStats, counts: Mapping[str, int]) -> None:
    axis = axis_of(stats.column.type)
    if axis is None:
        return
    positions = axis.positions(counts)
    if stats.kind == "float":
        # DuckDB orders NaN last.
        floats = list(map(float, positions))
        stats.is_integral = all(math.isfinite(value) and value.is_integer() for value in floats)
        numbers = [value for value in floats if not math.isnan(value)]
        has_nan = len(numbers) < len(floats)
        stats.set_bounds(
            min(numbers, default=math.nan), math.nan if has_nan else max(reversed(numbers))
        )
        axis = FloatingPoint(stats.is_integral)
    else:
        parse = Decimal if stats.column.type.startswith("DECIMAL") else int
        stats.set_bounds(parse(axis.text(min(positions))), parse(axis.text(max(positions))))
    repeats = None if len(counts) == stats.present else list(counts.values())
    stats.distribution = describe_positions(axis, positions, repeats)


_SORTS_AS_TEXT = re.compile(r"\d{4}-\d\d-[^)]*$|\d\d:").match
_USUAL_LENGTHS = {"DATE": 10, "TIME": 8, "TIMESTAMP": 19}
"""Lengths that only dates of years with four digits, and times of whole seconds, have."""
_SORTED_AS_TEXT = frozenset(
    (
        *"DATE TIME TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS VARCHAR".split(),
        "TIMESTAMP WITH TIME ZONE",
    )
)

_NUMBERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT"
    " DECIMAL DOUBLE".split()
)
# How text becomes the value that DuckDB would return; the bounds of other types come from a query.
_PARSERS: Mapping[str, Callable[[str], Any]] = {"BOOLEAN": "true".__eq__, "UUID": UUID}


SAMPLE_ROWS = 4096
"""Rows up to which a table is read whole: reading it costs about as much as one query."""
SAMPLE_VALUES = 100
"""Distinct values of a column that are kept, most frequent first."""
COLUMNS_A_QUERY = 250
"""Columns read by one query: a statement with thousands of aggregates is slow to plan."""
_SLICES = 4
_SLICE_ROWS = 512
"""Four slices of 512 rows give a hundred values of each column, from all over the table."""
_DOCUMENT_ROWS = 500
"""Rows of nested values that are read: some are enough, since they are never shown."""
_CODES = tuple(range(SAMPLE_ROWS))
"""The numbers that encode values, shared by all columns: they are most of a sample's memory."""
_SEPARATOR = "\x1f"
"""The character between the values of a column that are read as one string."""
_FREE_TEXT = frozenset({"text", "nested", "binary"})
"""Kinds of columns whose values, as text, may hold any character."""

_Rows: TypeAlias = list[tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class _Read:
    """Some rows as read: of each column the values that aren't null, row by row, as text.

    ``totals`` add up the positions of a column's dates or times on their axis, and mean nothing for
    other columns.
    """

    rows: int
    values: Iterable[Sequence[str]]
    totals: Sequence[int | None] = ()


@dataclass(frozen=True, slots=True)
class _Sample:
    """The values of a column in ``rows`` rows, as text.

    ``present`` are those that aren't null, row by row. ``counts`` has the distinct ones in order of
    appearance, ``ranked`` the same in alphabetical order. ``total`` adds up the positions of dates
    or times on their axis.
    """

    rows: int
    present: Sequence[str]
    counts: Mapping[str, int]
    ranked: Sequence[str]
    total: int | None = None


def read_whole(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> list[ColumnStats]:
    """Read a small table into its columns; return those whose bounds its text doesn't show."""
    unbounded = []
    for columns in _columns_a_query(measured):
        read = _read_columns(connection, measured.table.relation, columns)
        for stats, present, total in zip(columns, read.values, read.totals, strict=True):
            sample = _count_values(read.rows, present, total)
            stats.nulls = read.rows - len(present)
            stats.distinct, stats.distinct_exact = len(sample.counts), True
            _set_sample(stats, sample)
            if not _set_figures(stats, sample.counts, sample.ranked, sample.total):
                unbounded.append(stats)
    return unbounded


def read_sample(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Read slices of a large table into its columns."""
    step = (measured.rows - _SLICE_ROWS) // (_SLICES - 1)
    starts = [index * step for index in range(_SLICES)]
    for columns in _columns_a_query(measured):
        read = _read_by_number(connection, measured.table, columns, starts)
        if read.rows < _SLICES * _SLICE_ROWS:
            read = _read_by_offset(connection, measured.table, columns, starts)
        for stats, present in zip(columns, read.values, strict=True):
            _set_sample(stats, _count_values(read.rows, present))


def _columns_a_query(measured: TableStats) -> Iterator[Sequence[ColumnStats]]:
    for start in range(0, len(measured.columns), COLUMNS_A_QUERY):
        yield measured.columns[start : start + COLUMNS_A_QUERY]


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
    for stats, documents in zip(nested, _by_column(rows).values, strict=True):
        stats.documents = list(documents)


def _read_columns(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[ColumnStats]
) -> _Read:
    """Read the columns of all rows of a relation, which is SQL that may follow FROM.

    Each column comes as one string: DuckDB and Python take half the time that single values take.
    """
    texts = ", ".join(f"{_as_text(stats)} AS c{index}" for index, stats in enumerate(columns))
    positions = "".join(
        f", {_position(stats)} AS p{index}"
        for index, stats in enumerate(columns)
        if stats.kind == "temporal"
    )
    joined = ", ".join(
        f"string_agg(c{index}, chr({ord(_SEPARATOR)})), {_figure(stats, index)}"
        for index, stats in enumerate(columns)
    )
    # Several threads would join rows in any order; rows that are numbered stay in theirs.
    numbered = f"SELECT row_number() OVER () AS n, {texts}{positions} FROM {relation}"
    rows, *values = connection.execute(
        f"SELECT coalesce(max(n), 0), {joined} FROM ({numbered})"
    ).fetchone() or (0,)
    strings, figures = values[::2], values[1::2]
    if any(map(_holds_separator, columns, strings, figures)):
        names = ", ".join(map(_as_text, columns))
        values = connection.execute(f"SELECT {names} FROM {relation}").fetchall()
        return replace(_by_column(values), totals=figures)
    split = ([] if text is None else text.split(_SEPARATOR) for text in strings)
    return _Read(rows, split, figures)


def _figure(stats: ColumnStats, index: int) -> str:
    """Return SQL for the figure that is read with a column's values, if any.

    It's the number of free texts, or the sum of dates or times.
    """
    if stats.kind in _FREE_TEXT:
        return f"count(c{index})"
    return f"sum(p{index})" if stats.kind == "temporal" else "NULL"


def _holds_separator(stats: ColumnStats, joined: str | None, count: int | None) -> bool:
    """Return whether one of ``count`` joined values holds the separator; False if it can't."""
    if stats.kind not in _FREE_TEXT or joined is None or count is None:
        return False
    return joined.count(_SEPARATOR) >= count


def _by_column(rows: _Rows) -> _Read:
    return _Read(len(rows), map(_present_values, zip(*rows, strict=True)))


def _present_values(values: Sequence[str | None]) -> list[str]:
    return [value for value in values if value is not None]


def _read_by_number(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    columns: Sequence[ColumnStats],
    starts: Sequence[int],
) -> _Read:
    """Read slices by the numbers that DuckDB gives the rows of a table, several times faster.

    A view has no such numbers, so no row is read; if rows were deleted, there are too few.
    """
    if any(column.alias.lower() == "rowid" for column in table.columns):
        return _Read(0, ())
    slices = " OR ".join(f"rowid BETWEEN {start} AND {start + _SLICE_ROWS - 1}" for start in starts)
    try:
        return _read_columns(connection, f"{table.relation} WHERE {slices}", columns)
    except duckdb.BinderException:
        return _Read(0, ())


def _read_by_offset(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    columns: Sequence[ColumnStats],
    starts: Sequence[int],
) -> _Read:
    names = ", ".join(map(_as_text, columns))
    rows: _Rows = []
    for start in starts:
        part = f"(SELECT * FROM {table.relation} LIMIT {_SLICE_ROWS} OFFSET {start})"
        rows.extend(connection.execute(f"SELECT {names} FROM {part}").fetchall())
    return _by_column(rows)


def _as_text(stats: ColumnStats) -> str:
    name = quote(stats.column.alias)
    if stats.column.type == "BLOB":
        return f"hex({name})"
    if stats.kind == "float":
        # Equal numbers are one value: 0.0 and -0.0, and whatever is no number.
        return f"replace(CAST({name} + 0 AS VARCHAR), '-nan', 'nan')"
    return name if stats.kind == "text" else f"CAST({name} AS VARCHAR)"


def _position(stats: ColumnStats) -> str:
    """Return SQL for the position of a date or time on its axis; null for other values."""
    axis = axis_of(stats.column.type) if stats.kind == "temporal" else None
    return axis.sql(quote(stats.column.alias)) if axis else "NULL"


def _count_values(rows: int, present: Sequence[str], total: int | None = None) -> _Sample:
    counts = Counter(present)
    return _Sample(rows, present, counts, sorted(counts), total)


def _set_sample(stats: ColumnStats, sample: _Sample) -> None:
    stats.sample_rows = sample.rows
    stats.values = _most_frequent(sample)
    if not stats.nulls and not stats.is_key:
        code_of = dict(zip(sample.counts, _CODES, strict=False))
        stats.codes = list(map(code_of.__getitem__, sample.present))


def _most_frequent(sample: _Sample) -> list[tuple[str, int]]:
    """Return the most frequent values; of equally rare ones, a selection spread over all."""
    counts, ranked = sample.counts, list(sample.ranked)
    if len(ranked) < len(sample.present):
        ranked.sort(key=counts.__getitem__, reverse=True)
    if len(ranked) > SAMPLE_VALUES:
        edge = -counts[ranked[SAMPLE_VALUES - 1]]
        first = bisect_left(ranked, edge, key=lambda value: -counts[value])
        ties = ranked[first : bisect_right(ranked, edge, first, key=lambda value: -counts[value])]
        size = SAMPLE_VALUES - first
        ranked[first:] = [ties[place * len(ties) // size] for place in range(size)]
    return [(value, counts[value]) for value in ranked]
