"""What the columns of a table hold: one pass for the figures, one sample for the values.

The pass counts, bounds and estimates distinct values of every column at once; exact distinct
counts follow only where a column is near-unique (a key could be there), has few values, or the
whole table was read anyway.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from operator import itemgetter
from typing import Literal, TypeAlias, cast
from uuid import UUID

import duckdb

from fluid_build.sources.base import Column, Table
from fluid_build.sources.sql import literal, quote

Kind = Literal[
    "integer", "decimal", "float", "text", "boolean", "temporal", "uuid", "binary", "nested"
]
Value: TypeAlias = (
    int | float | str | bool | bytes | Decimal | date | datetime | time | UUID | object | None
)

SAMPLE_ROWS = 4096
NEAR_UNIQUE = 0.7
LOW_CARDINALITY = 50
TOP_VALUES = 10
SAMPLE_VALUES = 100
_SLICES = 4
_SLICE_ROWS = 512
_COLUMNS_A_QUERY = 250
_CLIP = 200

_INTEGERS = re.compile(r"^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$|^BIGNUM$")
_TEMPORAL = re.compile(r"^(DATE|TIME|TIMESTAMP)")


@dataclass(slots=True)
class ColumnStats:
    """The figures of one column, as they are gathered.

    ``low`` and ``high`` are Python values of the column's own type; dates and times are text.
    ``values`` are up to a hundred values as text with their counts, most frequent first, over
    ``sample_rows`` rows; ``codes`` numbers the sample's values row by row (-1 for null), for the
    search of keys. ``bounds`` are the least and greatest whole number, also of text that holds
    such.
    """

    column: Column
    kind: Kind
    rows: int = 0
    nulls: int = 0
    distinct: int = 0
    distinct_exact: bool = True
    low: Value = None
    high: Value = None
    min_length: int | None = None
    max_length: int | None = None
    avg_length: float | None = None
    values: list[tuple[str, int]] = field(default_factory=list)
    sample_rows: int = 0
    codes: list[int] = field(default_factory=list)
    integral: bool = False
    measured_type: str | None = None
    reversible: bool = False
    bounds: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """The column's name in the source."""
        return self.column.name

    @property
    def present(self) -> int:
        """Rows that are not null."""
        return self.rows - self.nulls

    @property
    def unique(self) -> bool:
        """Whether no value repeats, known exactly; nulls aside."""
        return self.distinct_exact and self.present > 0 and self.distinct == self.present

    @property
    def is_key(self) -> bool:
        """Whether the column alone identifies a row."""
        return self.unique and self.nulls == 0


@dataclass(slots=True)
class TableStats:
    """The figures of one table; ``complete`` says that the sample holds every row."""

    table: Table
    rows: int
    columns: list[ColumnStats]
    complete: bool

    def column(self, name: str) -> ColumnStats:
        """The statistics of the column of that name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def kind_of(type_name: str) -> Kind:
    """The kind of values that a DuckDB type holds."""
    name = type_name.upper()
    if name.endswith("]") or name.startswith(("STRUCT", "MAP", "UNION", "VARIANT")):
        return "nested"
    if _INTEGERS.match(name):
        return "integer"
    if name.startswith("DECIMAL"):
        return "integer" if name.endswith(",0)") else "decimal"
    if name in {"FLOAT", "DOUBLE", "REAL"}:
        return "float"
    if name == "BOOLEAN":
        return "boolean"
    if _TEMPORAL.match(name):
        return "temporal"
    if name == "UUID":
        return "uuid"
    if name in {"BLOB", "BIT", "GEOMETRY"}:
        return "binary"
    if name in {"INTERVAL", "JSON"}:
        return "nested"
    return "text"


def measure_table(connection: duckdb.DuckDBPyConnection, table: Table) -> TableStats:
    """Measure every column of a table."""
    stats = [ColumnStats(column, kind_of(column.type)) for column in table.columns]
    rows = _count_rows(connection, table)
    measured = TableStats(table, rows, stats, complete=rows <= SAMPLE_ROWS)
    for column in stats:
        column.rows = rows
        column.nulls = rows
    if rows == 0 or not stats:
        return measured
    _read_sample(connection, measured)
    for start in range(0, len(stats), _COLUMNS_A_QUERY):
        _one_pass(connection, measured, stats[start : start + _COLUMNS_A_QUERY])
    if not measured.complete:
        _count_near_unique(connection, measured)
        _count_low_cardinality(connection, measured)
    _find_measured_types(connection, measured)
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
    stats.low, stats.high = found.get("low"), found.get("high")
    if "min_length" in found and found["min_length"] is not None:
        stats.min_length = int(str(found["min_length"]))
        stats.max_length = int(str(found["max_length"]))
        stats.avg_length = float(str(found["avg_length"]))
    stats.integral = stats.kind == "integer" or found.get("integral") is True
    low, high = stats.low, stats.high
    if (
        stats.integral
        and isinstance(low, int | float | Decimal)
        and isinstance(high, int | float | Decimal)
    ):
        stats.bounds = (int(low), int(high))


def _read_sample(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Read all rows of a small table, or slices spread evenly over a large one, as text."""
    names = ", ".join(_as_text(stats) for stats in measured.columns)
    source = measured.table.relation
    if measured.complete:
        rows = connection.execute(f"SELECT {names} FROM {source}").fetchall()
    else:
        size = _SLICE_ROWS
        step = (measured.rows - size) // (_SLICES - 1)
        rows = []
        for index in range(_SLICES):
            part = f"(SELECT * FROM {source} LIMIT {size} OFFSET {index * step})"
            rows.extend(connection.execute(f"SELECT {names} FROM {part}").fetchall())
    for stats, values in zip(measured.columns, zip(*rows, strict=True), strict=True):
        _take_sample(stats, values, measured.complete)


def _as_text(stats: ColumnStats) -> str:
    name = quote(stats.column.alias)
    if stats.column.type == "BLOB":
        return f"hex({name})"
    return name if stats.kind == "text" else f"CAST({name} AS VARCHAR)"


def _take_sample(stats: ColumnStats, values: Sequence[str | None], complete: bool) -> None:
    seen = Counter(values)
    nulls = seen.pop(None, 0)
    counted = cast("Mapping[str, int]", seen)
    stats.sample_rows = len(values)
    code_of: dict[str | None, int] = {value: code for code, value in enumerate(counted)}
    code_of[None] = -1
    stats.codes = list(map(code_of.__getitem__, values))
    stats.values = _most_frequent(counted)
    if complete:
        stats.nulls, stats.distinct, stats.distinct_exact = nulls, len(counted), True
        if stats.kind == "text" and counted:
            lengths = {value: len(value) for value in counted}
            stats.min_length, stats.max_length = min(lengths.values()), max(lengths.values())
            stats.avg_length = sum(lengths[value] * n for value, n in counted.items()) / (
                stats.present
            )


def _most_frequent(counted: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent values; of the many that are equally rare, some spread over all of them."""
    ranked = sorted(counted.items())
    ranked.sort(key=itemgetter(1), reverse=True)
    if len(ranked) <= SAMPLE_VALUES:
        return ranked
    edge = ranked[SAMPLE_VALUES - 1][1]
    first = next(place for place, (_, n) in enumerate(ranked) if n == edge)
    ties = [item for item in ranked[first:] if item[1] == edge]
    wanted = SAMPLE_VALUES - first
    return ranked[:first] + [ties[place * len(ties) // wanted] for place in range(wanted)]


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
    for stats in measured.columns:
        if stats.kind in {"nested", "binary", "float"} or not 0 < stats.distinct <= LOW_CARDINALITY:
            continue
        name = quote(stats.column.alias)
        counted = connection.execute(
            "SELECT CAST(value AS VARCHAR), n FROM ("
            f"SELECT {name} AS value, count(*) AS n FROM {measured.table.relation}"
            f" WHERE {name} IS NOT NULL GROUP BY {name}) ORDER BY 2 DESC, 1"
        ).fetchall()
        stats.distinct, stats.distinct_exact = len(counted), True
        stats.values = [(str(value), int(count)) for value, count in counted[:SAMPLE_VALUES]]
        stats.sample_rows = measured.rows


_LOOKS_LIKE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("BIGINT", re.compile(r"^\s*[+-]?\d{1,18}\s*$")),
    ("DOUBLE", re.compile(r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$")),
    ("DATE", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*$")),
    ("TIMESTAMP", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$")),
    ("BOOLEAN", re.compile(r"^(true|false|t|f|yes|no)$", re.IGNORECASE)),
    ("UUID", re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")),
)
_LEADING_ZERO = re.compile(r"^\s*[+-]?0\d")
_DATE_FORMATS = (
    ("%d/%m/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%m/%d/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%d.%m.%Y", re.compile(r"^\d{1,2}\.\d{1,2}\.\d{4}$")),
    ("%d-%m-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    ("%Y%m%d", re.compile(r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$")),
    ("%d-%b-%Y", re.compile(r"^\d{1,2}-[A-Za-z]{3}-\d{4}$")),
    ("%Y/%m/%d", re.compile(r"^\d{4}/\d{1,2}/\d{1,2}$")),
)


def _find_measured_types(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Find the type that every value of a text column has, checked on every value."""
    suspects = [
        (stats, type_name, expression)
        for stats in measured.columns
        if stats.kind == "text"
        for type_name, expression in _suspected_types(stats)
    ]
    if not suspects:
        return
    checks = ", ".join(
        f"count({name}) = count({reading}), coalesce(bool_and({written} = {name}), TRUE)"
        for stats, type_name, reading in suspects
        for name, written in [(quote(stats.column.alias), _written(type_name, reading))]
    )
    row = connection.execute(f"SELECT {checks} FROM {measured.table.relation}").fetchone() or ()
    for (stats, type_name, _), holds, same in zip(suspects, row[::2], row[1::2], strict=True):
        if holds and stats.measured_type is None:
            stats.measured_type, stats.reversible = type_name, same
    _find_bounds(connection, measured)


def _written(type_name: str, reading: str) -> str:
    """What was read as a type, spelled again."""
    bare, _, spelled = type_name.partition(" (")
    if spelled:
        return f"strftime({reading}, {literal(spelled.removesuffix(')'))})"
    return f"CAST(CAST({reading} AS {bare}) AS VARCHAR)"


def _find_bounds(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
    """Find the numeric bounds of text columns that hold whole numbers; text sorts otherwise."""
    columns = [stats for stats in measured.columns if stats.measured_type == "BIGINT"]
    if not columns:
        return
    numbers = [f"TRY_CAST(trim({quote(stats.column.alias)}) AS BIGINT)" for stats in columns]
    asked = ", ".join(f"min({number}), max({number})" for number in numbers)
    row = connection.execute(f"SELECT {asked} FROM {measured.table.relation}").fetchone() or ()
    for stats, low, high in zip(columns, row[::2], row[1::2], strict=True):
        stats.bounds = (int(low), int(high))


def _suspected_types(stats: ColumnStats) -> list[tuple[str, str]]:
    values = [value for value, _ in stats.values]
    name = quote(stats.column.alias)
    if not values:
        return []
    dated = [fmt for fmt, pattern in _DATE_FORMATS if _all_match(values, pattern)]
    if dated:
        return [(f"DATE ({fmt})", f"try_strptime(trim({name}), {literal(fmt)})") for fmt in dated]
    for type_name, pattern in _LOOKS_LIKE:
        if _all_match(values, pattern):
            if type_name in {"BIGINT", "DOUBLE"} and any(map(_LEADING_ZERO.match, values)):
                return []
            return [(type_name, f"TRY_CAST(trim({name}) AS {type_name})")]
    return []


def _all_match(values: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.match(value) for value in values)


def clip(value: Value) -> str | None:
    """A bound as text, cut to a readable length."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= _CLIP else text[: _CLIP - 1] + "…"
