"""The type that values really have, checked on every one: what text holds, and dates in numbers."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.profiling.compact_dates import COMPACT_FORMAT, may_be_compact_dates
from fluid_build.sources.conventions import (
    DATE_QUESTION,
    NO_ANSWERS,
    NUMBER_QUESTION,
    Conventions,
)
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_classes import ONE_POINT

_LOOKS_LIKE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("BIGINT", re.compile(r"^\s*[+-]?\d{1,18}\s*$")),
    ("DOUBLE", re.compile(r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$")),
    ("DATE", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*$")),
    ("TIMESTAMP", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$")),
    ("BOOLEAN", re.compile(r"^(true|false|t|f|yes|no)$", re.IGNORECASE)),
    ("UUID", re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")),
)
_BIT_STRING = re.compile(r"\s*(?:var)?bit\b", re.IGNORECASE)
"""A declared type whose values are ones and zeros that make no number: ``bit(8)``, ``varbit``."""
_LEADING_ZERO = re.compile(r"^\s*[+-]?0\d")
_DATE_FORMATS = (
    ("%d/%m/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%m/%d/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%d.%m.%Y", re.compile(r"^\d{1,2}\.\d{1,2}\.\d{4}$")),
    ("%d-%m-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    ("%m-%d-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    (COMPACT_FORMAT, re.compile(r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$")),
    ("%d-%b-%Y", re.compile(r"^\d{1,2}-[A-Za-z]{3}-\d{4}$")),
    ("%Y/%m/%d", re.compile(r"^\d{4}/\d{1,2}/\d{1,2}$")),
)
_ORDERS = {
    "dmy": ("DATE (%d/%m/%Y)", "DATE (%d-%m-%Y)"),
    "mdy": ("DATE (%m/%d/%Y)", "DATE (%m-%d-%Y)"),
}

_FITS, _SAME = 1, 2
"""A value is of a type, or is even spelled as the type's values are."""


@dataclass(frozen=True, slots=True)
class _Suspected:
    """A type that the values of a column may have, and what came of checking it on all of them."""

    stats: ColumnStats
    type: str
    reading: str
    holds: bool = False
    same: bool = False
    bounds: tuple[object, object] = (None, None)
    fits_both: bool = False


def find_measured_types(
    connection: duckdb.DuckDBPyConnection,
    measured: TableStats,
    answers: Conventions = NO_ANSWERS,
) -> None:
    """Find the type that every value of a text column has, and dates in whole numbers.

    What fits two conventions follows the answers, or else the table's other columns of text, or
    stays text with a note.
    """
    suspects = [
        _Suspected(stats, type_name, expression)
        for stats in measured.columns
        if stats.kind in {"text", "integer"}
        for type_name, expression in _suspected_types(stats)
    ]
    if not suspects:
        return
    found = [one for one in _checked(connection, measured, suspects) if one.holds]
    by_column: dict[int, list[_Suspected]] = {}
    for one in found:
        by_column.setdefault(id(one.stats), []).append(one)
    settled = {
        fits[0].type for fits in by_column.values() if len(fits) == 1 and not fits[0].fits_both
    }
    for fits in by_column.values():
        chosen = _chosen(fits, answers, settled)
        if chosen is not None:
            _take(chosen)


def _checked(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, suspects: Sequence[_Suspected]
) -> list[_Suspected]:
    checks = ", ".join(
        f"coalesce(min({_fit(one, name)}), {_SAME}), {_bounds(one.type, one.reading)},"
        f" {_all_fit_both(one.type, name)}"
        for one in suspects
        for name in [_text(one.stats)]
    )
    row = connection.execute(f"SELECT {checks} FROM {measured.table.relation}").fetchone() or ()
    answers = zip(row[::4], row[1::4], row[2::4], row[3::4], strict=True)
    return [
        replace(one, holds=fit >= _FITS, same=fit == _SAME, bounds=(low, high), fits_both=both)
        for one, (fit, low, high, both) in zip(suspects, answers, strict=True)
    ]


def _fit(one: _Suspected, name: str) -> str:
    """How well a value fits the type."""
    # What is spelled as usual has no blanks around it: most values are read once, and not trimmed.
    usual = _written(one.type, one.reading.replace(f"trim({name})", name))
    return (
        f"CASE WHEN {name} IS NULL OR {usual} = {name} THEN {_SAME}"
        f" WHEN {one.reading} IS NOT NULL THEN {_FITS} ELSE 0 END"
    )


def _chosen(
    fits: Sequence[_Suspected], answers: Conventions, settled: Collection[str]
) -> _Suspected | None:
    """The type that holds; of two orders of day and month the one that something settles."""
    first = fits[0]
    if first.fits_both:
        if answers.decimal == "." or (answers.decimal is None and "DOUBLE" in settled):
            return first
        if answers.decimal is None:
            first.stats.notes.append(NUMBER_QUESTION)
        return None
    if len(fits) == 1 or not _order(first.type):
        return first
    for one in fits:
        told = answers.date_order == _order(one.type)
        if told or (answers.date_order is None and _settles(settled, one, fits)):
            return one
    first.stats.notes.append(DATE_QUESTION)
    return None


def _settles(settled: Collection[str], one: _Suspected, fits: Sequence[_Suspected]) -> bool:
    """Whether the table's other dates of the same writing all have this order."""
    others = {other.type for other in fits if other is not one}
    return one.type in settled and not others & set(settled)


def _order(type_name: str) -> str:
    """The order of day and month in a date's format where the other one would be possible."""
    return next((order for order, formats in _ORDERS.items() if type_name in formats), "")


def _take(chosen: _Suspected) -> None:
    stats = chosen.stats
    stats.measured_type, stats.reversible = chosen.type, chosen.same
    if chosen.type == "BIGINT":
        low, high = chosen.bounds
        stats.bounds = (int(str(low)), int(str(high)))


def _all_fit_both(type_name: str, name: str) -> str:
    """Whether every point in the numbers could part thousands as well."""
    if type_name != "DOUBLE":
        return "FALSE"
    fits = f"regexp_full_match(trim({name}), {literal(ONE_POINT)})"
    return f"coalesce(bool_and({fits}) FILTER (contains({name}, '.')), FALSE)"


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
    if not values or (stats.kind == "integer" and not may_be_compact_dates(stats)):
        return []
    if _BIT_STRING.match(stats.column.declared_type):
        return []
    name = _text(stats)
    dated = [fmt for fmt, pattern in _DATE_FORMATS if _all_match(values, pattern)]
    if dated == [COMPACT_FORMAT] and not may_be_compact_dates(stats):
        dated = []
    if dated or stats.kind == "integer":
        return [(f"DATE ({fmt})", _dated(name, fmt)) for fmt in dated]
    for type_name, pattern in _LOOKS_LIKE:
        if _all_match(values, pattern):
            if type_name in {"BIGINT", "DOUBLE"} and any(map(_LEADING_ZERO.match, values)):
                return []
            return [(type_name, f"TRY_CAST(trim({name}) AS {type_name})")]
    return []


def _text(stats: ColumnStats) -> str:
    """A column's values as text."""
    name = quote(stats.column.alias)
    return name if stats.kind == "text" else f"CAST({name} AS VARCHAR)"


def _dated(name: str, format_: str) -> str:
    """The date in a text; none for a year of two digits, which strptime takes for the year 24."""
    read = f"try_strptime(trim({name}), {literal(format_)})"
    return f"CASE WHEN year({read}) >= 1000 THEN {read} END"


def _all_match(values: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.match(value) for value in values)
