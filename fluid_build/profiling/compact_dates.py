"""Dates written as eight digits, ``20231225``, in whole numbers or text.

Ids of eight digits look alike, so every value must be a day of the calendar, and a name or many
repeated values must bear it out. Columns that refer to each other are dates together or not at all.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from fluid_build.profiling.column_stats import ColumnStats
from fluid_build.profiling.profile import ForeignKey
from fluid_build.profiling.semantic_types.name_concepts import read_name

COMPACT_FORMAT: Final = "%Y%m%d"
COMPACT_DATE: Final = f"DATE ({COMPACT_FORMAT})"

_FIRST, _LAST = 19000101, 20991231
_FEWEST_NAMED = 3
"""A number of eight digits in this range is a day with a chance of 4 %: three are one in 20,000."""
_FEWEST_UNNAMED = 40
"""Numbers that run on, as ids do, hold none that isn't a day for 31 at most."""
_OF_DATES: Final = frozenset({"date", "day", "time", "birth", "dob"})
_DATE_WORDS: Final = frozenset({"ymd", "yyyymmdd", "calendar", "datekey", "dateid"})
_OF_IDS: Final = frozenset({"id", "key", "number", "code", "phone", "postcode"})


def may_be_compact_dates(stats: ColumnStats) -> bool:
    """Whether eight digits may be dates by all that's known but the values one by one."""
    if stats.kind == "integer":
        low, high = stats.bounds or (0, 0)
        if not _FIRST <= low <= high <= _LAST:
            return False
    name = read_name(stats.name)
    if name.concepts & _OF_DATES or _DATE_WORDS & set(name.words):
        return stats.distinct >= _FEWEST_NAMED
    repeats = stats.distinct_exact and not stats.unique
    return repeats and stats.distinct >= _FEWEST_UNNAMED and not name.concepts & _OF_IDS


def keep_references_comparable(
    references: Iterable[ForeignKey], columns: Mapping[tuple[str, str], ColumnStats]
) -> None:
    """Take the dates back where a column refers, or is referred to by, one that isn't such a date.

    ``columns`` are all columns by their table and name.
    """
    pairs = [
        (columns[key.from_table, own], columns[key.to_table, theirs])
        for key in references
        for own, theirs in zip(key.from_columns, key.to_columns, strict=True)
    ]
    # One that is taken back may leave another that refers to it alone.
    while uneven := [pair for pair in pairs if _is_compact(pair[0]) != _is_compact(pair[1])]:
        for stats in (one for pair in uneven for one in pair if _is_compact(one)):
            # Text of eight digits is a whole number too, and spelled again as easily.
            stats.measured_type = None if stats.kind == "integer" else "BIGINT"


def _is_compact(stats: ColumnStats) -> bool:
    return stats.measured_type == COMPACT_DATE
