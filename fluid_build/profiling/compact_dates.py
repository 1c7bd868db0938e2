"""Dates written as eight digits, ``20231225``, in whole numbers or text.

Ids of eight digits look alike, so every value must be a day of the calendar, and a name or many
repeated values must confirm it. Columns that refer to each other are both dates or neither is.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from fluid_build.profiling.column_stats import ColumnStats
from fluid_build.profiling.profile import ForeignKey
from fluid_build.profiling.semantic_types.name_concepts import read_concepts

COMPACT_FORMAT: Final = "%Y%m%d"
COMPACT_DATE: Final = f"DATE ({COMPACT_FORMAT})"

_FIRST, _LAST = 19000101, 20991231
_FEWEST_NAMED = 3
"""A number of eight digits in this range is a day with a chance of 4 %: three are one in 20,000."""
_FEWEST_UNNAMED = 40
"""Consecutive numbers, as ids are, hit a number that isn't a day after 31 at the latest."""
_DATE_CONCEPTS: Final = frozenset({"date", "day", "time", "birth", "dob"})
_DATE_WORDS: Final = frozenset({"ymd", "yyyymmdd", "calendar", "datekey", "dateid"})
_ID_CONCEPTS: Final = frozenset({"id", "key", "number", "code", "phone", "postcode"})


def may_be_compact_dates(stats: ColumnStats) -> bool:
    """Return whether eight digits may be dates, before each value is checked."""
    if stats.kind == "integer":
        low, high = stats.bounds or (0, 0)
        if not _FIRST <= low <= high <= _LAST:
            return False
    name = read_concepts(stats.name)
    if name.concepts & _DATE_CONCEPTS or _DATE_WORDS & set(name.words):
        return stats.distinct >= _FEWEST_NAMED
    repeats = stats.distinct_exact and not stats.is_unique
    return repeats and stats.distinct >= _FEWEST_UNNAMED and not name.concepts & _ID_CONCEPTS


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
    while uneven := [pair for pair in pairs if _is_compact(pair[0]) != _is_compact(pair[1])]:
        for stats in (column for pair in uneven for column in pair if _is_compact(column)):
            # Text of eight digits is a whole number too, and spelled again as easily.
            stats.measured_type = None if stats.kind == "integer" else "BIGINT"


def _is_compact(stats: ColumnStats) -> bool:
    return stats.measured_type == COMPACT_DATE
