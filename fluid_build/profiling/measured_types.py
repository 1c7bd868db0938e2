"""The type that text really has: number, date, truth value or UUID, checked on every value."""

import re
from collections.abc import Iterable

import duckdb

from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.sources.sql import literal, quote

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


def find_measured_types(connection: duckdb.DuckDBPyConnection, measured: TableStats) -> None:
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
        f"count({name}) = count({reading}), coalesce(bool_and({written} = {name}), TRUE),"
        f" {_bounds(type_name, reading)}"
        for stats, type_name, reading in suspects
        for name, written in [(quote(stats.column.alias), _written(type_name, reading))]
    )
    row = connection.execute(f"SELECT {checks} FROM {measured.table.relation}").fetchone() or ()
    answers = zip(row[::4], row[1::4], row[2::4], row[3::4], strict=True)
    for (stats, type_name, _), (holds, same, low, high) in zip(suspects, answers, strict=True):
        if holds and stats.measured_type is None:
            stats.measured_type, stats.reversible = type_name, same
            if type_name == "BIGINT":
                stats.bounds = (int(low), int(high))


def _bounds(type_name: str, reading: str) -> str:
    """The least and greatest number of text that holds whole numbers; text sorts otherwise."""
    return f"min({reading}), max({reading})" if type_name == "BIGINT" else "NULL, NULL"


def _written(type_name: str, reading: str) -> str:
    """What was read as a type, spelled again."""
    bare, _, spelled = type_name.partition(" (")
    if spelled:
        return f"strftime({reading}, {literal(spelled.removesuffix(')'))})"
    return f"CAST(CAST({reading} AS {bare}) AS VARCHAR)"


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
