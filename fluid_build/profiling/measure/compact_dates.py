"""Dates written in a form that other values have too: ``20231225``, ``202312`` and ``2023-12``.

Ids of eight digits look like days and codes of six like months, so every value must be one, and a
name or many repeated values must confirm it. Columns that refer to each other are both dates of one
format or neither is.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from fluid_build.lexicon import terms
from fluid_build.profiling.measure.figures import ColumnStats
from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.profile import ForeignKey

_DAY: Final = "%Y%m%d"
_MONTH: Final = "%Y%m"
_DASHED_MONTH: Final = "%Y-%m"
COMPACT_FORMATS: Final[Mapping[str, re.Pattern[str]]] = {
    _DAY: re.compile(r"^(?:(?:1[5-9]|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|99991231)$"),
    _MONTH: re.compile(r"^(?:19|20)\d{2}(?:0[1-9]|1[0-2])$"),
    _DASHED_MONTH: re.compile(r"^(?:19|20)\d{2}-(?:0[1-9]|1[0-2])$"),
}
"""The formats by which such dates are read, each with what all of its values look like. 9999-12-31
is the day that stands for "until further notice"."""

_BOUNDS: Final = {_DAY: (19000101, 20991231), _MONTH: (190001, 209912)}
_FEWEST_NAMED = 3
"""A number of eight digits is a day with a chance of 4 %: three are one in 20,000. One of six is a
month with a chance of 12 %, but then its name must say month."""
_FEWEST_UNNAMED: Final = {_DAY: 40, _MONTH: 13}
"""Consecutive numbers, as ids are, hit one that isn't a day after 31, or a month after 12."""
_DATE_CONCEPTS: Final = frozenset({"date", "day", "time", "birth", "dob"})
_ID_CONCEPTS: Final = frozenset({"id", "key", "number", "code", "phone", "postcode"})


def is_credible(stats: ColumnStats, date_format: str) -> bool:
    """Return whether values that look like dates of a format are, before each one is checked.

    Formats that nothing else is written in need no confirmation.
    """
    if date_format not in COMPACT_FORMATS:
        return True
    if is_named_for(stats, date_format):
        return stats.distinct >= _FEWEST_NAMED
    name = read_concepts(stats.name)
    if date_format not in _BOUNDS or (date_format == _MONTH and set(name.words) & terms("fiscal")):
        return False
    first, last = _BOUNDS[date_format]
    low, high = stats.bounds or (first, last)
    repeats = stats.distinct_exact and not stats.is_unique
    return (
        first <= low
        and high <= last
        and repeats
        and stats.distinct >= _FEWEST_UNNAMED[date_format]
        and not name.concepts & _ID_CONCEPTS
    )


def is_named_for(stats: ColumnStats, date_format: str) -> bool:
    """Return whether a column's name says that its values are days, or months."""
    name = read_concepts(stats.name)
    words = set(name.words)
    is_month = "month" in name.concepts or bool(words & terms("compact_month"))
    is_date = bool(name.concepts & _DATE_CONCEPTS or words & terms("compact_date"))
    if date_format == _DAY:
        return is_date
    # The first month of a fiscal year need not be January.
    is_calendar_month = is_month and not words & terms("fiscal")
    return is_calendar_month or (date_format == _DASHED_MONTH and is_date)


def adopt_notations(columns: Iterable[ColumnStats]) -> None:
    """Read the one or two values of a column as dates where other columns write dates so.

    ``columns`` are those of the whole source. So few values prove nothing by themselves, but those
    of all columns that are named as dates do together.
    """
    measured = list(columns)
    for date_format in COMPACT_FORMATS:
        type_ = f"DATE ({date_format})"
        few = [stats for stats in measured if _has_few_dates(stats, date_format)]
        days = {value for stats in few for value, _ in stats.values}
        if len(days) >= _FEWEST_NAMED or any(s.measured_type == type_ for s in measured):
            for stats in few:
                stats.measured_type, stats.reversible = type_, True


def keep_references_comparable(
    references: Iterable[ForeignKey], columns: Mapping[tuple[str, str], ColumnStats]
) -> None:
    """Unmark the dates of columns that refer, or are referred to by, a column without such dates.

    ``columns`` are all columns by their table and name.
    """
    pairs = [
        (columns[key.from_table, child], columns[key.to_table, parent])
        for key in references
        for child, parent in zip(key.from_columns, key.to_columns, strict=True)
    ]
    # An unmarked column may leave another as the only one with dates, hence the repetition.
    while uneven := [pair for pair in pairs if _notation(pair[0]) != _notation(pair[1])]:
        for stats in (column for pair in uneven for column in pair if _notation(column)):
            # Text of digits alone is a whole number too, and spelled again as easily.
            is_digits = stats.kind == "text" and _notation(stats) != _DASHED_MONTH
            stats.measured_type = "BIGINT" if is_digits else None


def _has_few_dates(stats: ColumnStats, date_format: str) -> bool:
    """Return whether a column has fewer values than prove dates, all of which are, and its name."""
    return (
        stats.kind in {"integer", "text"}
        and 0 < stats.distinct < _FEWEST_NAMED
        and stats.distinct_exact
        and len(stats.values) == stats.distinct
        and is_named_for(stats, date_format)
        and all(_is_date(value, date_format) for value, _ in stats.values)
    )


def _is_date(value: str, date_format: str) -> bool:
    if not COMPACT_FORMATS[date_format].match(value):
        return False
    try:
        datetime.strptime(value, date_format)
    except ValueError:
        return False
    return True


def _notation(stats: ColumnStats) -> str:
    """Return the compact format that a column's dates have; "" if it has no such dates."""
    measured = stats.measured_type or ""
    return next((f for f in COMPACT_FORMATS if measured == f"DATE ({f})"), "")
