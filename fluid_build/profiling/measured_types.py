"""The type that values really have, checked on each: what text holds, and dates in numbers."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.profiling.compact_dates import COMPACT_FORMATS, is_credible
from fluid_build.sources.conventions import (
    DATE_QUESTION,
    NO_ANSWERS,
    NUMBER_QUESTION,
    UNDECIDED,
    Conventions,
)
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_classes import ONE_POINT

TYPE_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("BIGINT", re.compile(r"^\s*[+-]?\d{1,18}\s*$")),
    ("DOUBLE", re.compile(r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$")),
    ("DATE", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*$")),
    ("TIMESTAMP", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$")),
    ("BOOLEAN", re.compile(r"^(true|false|t|f|yes|no)$", re.IGNORECASE)),
    ("UUID", re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")),
)
_BIT_STRING = re.compile(r"\s*(?:var)?bit\b", re.IGNORECASE)
"""A declared type whose values are ones and zeros that make no number: ``bit(8)``, ``varbit``."""
LEADING_ZERO = re.compile(r"^\s*[+-]?0\d")
"""A number written like a code: as a number it would lose its zeros."""
_DATE_FORMATS = (
    ("%d/%m/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%m/%d/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%d.%m.%Y", re.compile(r"^\d{1,2}\.\d{1,2}\.\d{4}$")),
    ("%d-%m-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    ("%m-%d-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    *COMPACT_FORMATS.items(),
    ("%d-%b-%Y", re.compile(r"^\d{1,2}-[A-Za-z]{3}-\d{4}$")),
    ("%Y/%m/%d", re.compile(r"^\d{4}/\d{1,2}/\d{1,2}$")),
)
_AMBIGUOUS_DATES = {
    "dmy": ("DATE (%d/%m/%Y)", "DATE (%d-%m-%Y)"),
    "mdy": ("DATE (%m/%d/%Y)", "DATE (%m-%d-%Y)"),
}
_FIRST_YEAR = 1000
"""``strptime`` takes a year of two digits for the year 24; no source means that."""

_FITS, _SAME = 1, 2
"""A value is of a type, or is even spelled as the type's values are."""


@dataclass(frozen=True, slots=True)
class _TypeGuess:
    """A type that the values of a column may have, and the outcome of checking it on each.

    ``reading`` is SQL that converts a value, ``same_spelling`` says that converting back restores
    the text, ``fits_both`` that every point in the numbers could also separate thousands.
    """

    stats: ColumnStats
    type: str
    reading: str
    holds: bool = False
    same_spelling: bool = False
    bounds: tuple[object, object] = (None, None)
    fits_both: bool = False


def find_measured_types(
    connection: duckdb.DuckDBPyConnection,
    measured: TableStats,
    answers: Conventions = NO_ANSWERS,
) -> None:
    """Find the type that every value of a text column has, and dates in whole numbers.

    Values that fit two conventions follow the answers, or else the table's other text columns, or
    stay text with a note.
    """
    guesses = [
        _TypeGuess(stats, type_name, reading)
        for stats in measured.columns
        if stats.kind in {"text", "integer"}
        for type_name, reading in _guess_types(stats)
    ]
    if not guesses:
        return
    by_column: dict[int, list[_TypeGuess]] = {}
    for guess in _check_all(connection, measured, guesses):
        if guess.holds:
            by_column.setdefault(id(guess.stats), []).append(guess)
    settled = {
        fits[0].type for fits in by_column.values() if len(fits) == 1 and not fits[0].fits_both
    }
    for fits in by_column.values():
        chosen = _choose(fits, answers, settled)
        if chosen is not None:
            _set_type(chosen)


def _check_all(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, guesses: Sequence[_TypeGuess]
) -> list[_TypeGuess]:
    checks = ", ".join(
        f"coalesce(min({_fit_sql(guess, name)}), {_SAME}), {_bounds_sql(guess)},"
        f" {_fits_both_sql(guess.type, name)}"
        for guess in guesses
        for name in [_text_sql(guess.stats)]
    )
    row = connection.execute(f"SELECT {checks} FROM {measured.table.relation}").fetchone() or ()
    outcomes = zip(row[::4], row[1::4], row[2::4], row[3::4], strict=True)
    return [
        replace(
            guess,
            holds=fit >= _FITS,
            same_spelling=fit == _SAME,
            bounds=(low, high),
            fits_both=both,
        )
        for guess, (fit, low, high, both) in zip(guesses, outcomes, strict=True)
    ]


def _fit_sql(guess: _TypeGuess, name: str) -> str:
    """Return SQL for how well a value fits the type."""
    # A value in the usual spelling has no spaces around it: most are converted once, untrimmed.
    usual = spelled_sql(guess.type, guess.reading.replace(f"trim({name})", name))
    return (
        f"CASE WHEN {name} IS NULL OR {usual} = {name} THEN {_SAME}"
        f" WHEN {guess.reading} IS NOT NULL THEN {_FITS} ELSE 0 END"
    )


def _choose(
    fits: Sequence[_TypeGuess], answers: Conventions, settled: Collection[str]
) -> _TypeGuess | None:
    """Return the type that holds; of two orders of day and month, the one that is settled."""
    first = fits[0]
    if first.fits_both:
        if answers.decimal == "." or (answers.decimal is None and "DOUBLE" in settled):
            return first
        if answers.decimal is None:
            first.stats.notes.append(NUMBER_QUESTION)
        return None
    if len(fits) == 1 or not _date_order(first.type):
        return first
    for guess in fits:
        is_answered = answers.date_order == _date_order(guess.type)
        if is_answered or (answers.date_order is None and _is_settled(guess, fits, settled)):
            return guess
    first.stats.notes.append(DATE_QUESTION)
    return None


def _is_settled(guess: _TypeGuess, fits: Sequence[_TypeGuess], settled: Collection[str]) -> bool:
    """Return whether all other dates of the table in the same notation have this order."""
    rivals = {rival.type for rival in fits if rival is not guess}
    return guess.type in settled and not rivals & set(settled)


def _date_order(type_name: str) -> str:
    """Return the order of day and month in a date's format if the reverse is possible, or ""."""
    return next((order for order, formats in _AMBIGUOUS_DATES.items() if type_name in formats), "")


def _set_type(chosen: _TypeGuess) -> None:
    stats = chosen.stats
    stats.measured_type, stats.reversible = chosen.type, chosen.same_spelling
    if chosen.type == "BIGINT":
        low, high = chosen.bounds
        stats.bounds = (int(str(low)), int(str(high)))


def _fits_both_sql(type_name: str, name: str) -> str:
    """Return SQL for whether every point in the numbers could separate thousands as well."""
    if type_name != "DOUBLE":
        return "FALSE"
    fits = f"regexp_full_match(trim({name}), {literal(ONE_POINT)})"
    return f"coalesce(bool_and({fits}) FILTER (contains({name}, '.')), FALSE)"


def _bounds_sql(guess: _TypeGuess) -> str:
    """Return SQL for the bounds of whole numbers in text, which sorts differently from numbers."""
    is_integer = guess.type == "BIGINT"
    return f"min({guess.reading}), max({guess.reading})" if is_integer else "NULL, NULL"


def spelled_sql(type_name: str, reading: str) -> str:
    """Return SQL that spells a converted value again."""
    bare, _, date_format = type_name.partition(" (")
    if date_format:
        return f"strftime({reading}, {literal(date_format.removesuffix(')'))})"
    return f"CAST(CAST({reading} AS {bare}) AS VARCHAR)"


def _guess_types(stats: ColumnStats) -> list[tuple[str, str]]:
    """Return the types that all sampled values fit, each with SQL that converts a value."""
    values = [value for value, _ in stats.values]
    if not values:
        return []
    if _BIT_STRING.match(stats.column.declared_type):
        return []
    if set(UNDECIDED) & set(stats.column.notes):
        return []
    name = _text_sql(stats)
    formats = [
        fmt
        for fmt, pattern in _DATE_FORMATS
        if _all_match(values, pattern) and is_credible(stats, fmt)
    ]
    if formats or stats.kind == "integer":
        return [(f"DATE ({fmt})", date_sql(name, fmt)) for fmt in formats]
    for type_name, pattern in TYPE_PATTERNS:
        if _all_match(values, pattern):
            if type_name in {"BIGINT", "DOUBLE"} and any(map(LEADING_ZERO.match, values)):
                return []
            return [(type_name, f"TRY_CAST(trim({name}) AS {type_name})")]
    return []


def reading_sql(stats: ColumnStats) -> str:
    """Return SQL for a column's value, of its measured type if it has one."""
    if stats.measured_type is None:
        return quote(stats.column.alias)
    bare, _, date_format = stats.measured_type.partition(" (")
    if date_format:
        return f"CAST({date_sql(_text_sql(stats), date_format.removesuffix(')'))} AS DATE)"
    return f"TRY_CAST(trim({_text_sql(stats)}) AS {bare})"


def _text_sql(stats: ColumnStats) -> str:
    """Return SQL for a column's values as text."""
    name = quote(stats.column.alias)
    return name if stats.kind == "text" else f"CAST({name} AS VARCHAR)"


def date_sql(name: str, date_format: str) -> str:
    """Return SQL for the date in a text, null for a year of two digits."""
    parsed = f"try_strptime(trim({name}), {literal(date_format)})"
    return f"CASE WHEN year({parsed}) >= {_FIRST_YEAR} THEN {parsed} END"


def _all_match(values: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.match(value) for value in values)
