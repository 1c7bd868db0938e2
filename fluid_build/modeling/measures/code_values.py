"""Whole numbers that are codes by their values: flags, numberings, closed lists, moments, digits.

Measured numbers are scattered, repeat by chance, and small ones are the more frequent. Assigned
numbers are close together, each as likely as the next, or have a fixed width.
"""

from statistics import median

from fluid_build.profiling.profile import ColumnProfile

_FEWEST_ROWS = 20
"""Rows from which on values say more than a name; in fewer, amounts are distinct too."""
_NEAR_UNIQUE = 0.95
"""Share of distinct values of a numbering, which may have been repeated by mistake now and then."""
_WIDEST_NUMBERING = 10
"""Width of the range of a numbering per row: assigned numbers are close together, even if nine in
ten were deleted. Measured numbers aren't."""
_FLAGS = {(0, 1), (1, 2), (-1, 1)}
_MOST_LISTED = 12
"""Values of a closed list of codes, such as statuses or kinds. Longer lists are mostly tables."""
_ROWS_PER_VALUE = 5
"""Rows that must repeat each listed value on average, so that a small table's amounts aren't."""
_MOST_SPARSE = 60
_ROWS_PER_SPARSE_VALUE = 15
_UNUSED_PER_SPARSE_VALUE = 10
"""Codes of a catalogue: few of a wide range, each of them often. Of measured numbers as far apart,
most would occur once; rounded ones are multiples of five."""
_FULL_RANGE = 0.9
"""Share of a range's whole numbers that occur in it where they were assigned one by one."""
_FEWEST_DIGITS = 5
"""Digits of a number of fixed width; years and hundreds have as many by chance."""
_FEWEST_FOR_WIDTH = 10
"""Distinct values that must have the same width."""
_LONGEST_NUMBER = 18
"""Digits of the largest amounts; a longer text of digits is a code or a dump of bytes."""
_EPOCHS = tuple((946_684_800 * unit, 2_524_608_000 * unit) for unit in (1, 1_000, 1_000_000))
"""The years 2000 to 2050 in seconds, milliseconds and microseconds since 1970."""
_FEWEST_COUNTED = 3
"""Values that show a decline; two show none."""
_YEARS = (1800, 2100)
"""Between them, numbers whose name says nothing are years rather than amounts."""
_FEWEST_CONCENTRATED = 25
"""Distinct values whose ten most frequent are close together for a reason."""
_CONCENTRATED_PART = 0.5
"""Part of the range that holds them all: of ten assigned codes, by chance in one case of fifty."""
_LOW_PART = 0.25
"""Part of the range in which the most frequent of counted values are."""


def is_assigned(column: ColumnProfile) -> bool:
    """Return whether whole numbers were assigned: a numbering, years, moments or codes."""
    low, high = value_bounds(column)
    if is_numbering(column) or _YEARS[0] <= low <= high <= _YEARS[1]:
        return True
    if any(first <= low <= high <= last for first, last in _EPOCHS):
        return True
    return column.distinct >= _FEWEST_FOR_WIDTH and _digits(low) == _digits(high) >= _FEWEST_DIGITS


def is_listed(column: ColumnProfile) -> bool:
    """Return whether whole numbers are likely a list: few, or nearly all of a range.

    Codes 1 to 9 of a kind of shop each have many rows. What is counted may have few values too,
    but those become rarer as they grow: few families have nine children.
    """
    low, high = value_bounds(column)
    filled = column.rows - column.nulls
    if filled < _FEWEST_ROWS or (low, high) in _FLAGS or column.distinct == 1:
        return True
    if _is_sparse_list(column):
        return True
    if low < -1 or has_counted_values(column) or _is_concentrated(column):
        return False
    if column.distinct <= _MOST_LISTED and filled >= _ROWS_PER_VALUE * column.distinct:
        return True
    return column.distinct >= _FULL_RANGE * (high - low + 1)


def _is_sparse_list(column: ColumnProfile) -> bool:
    """Return whether a few numbers of a wide range occur again and again, and aren't rounded."""
    low, high = value_bounds(column)
    filled = column.rows - column.nulls
    if low < 0 or column.distinct > _MOST_SPARSE or not column.top_values:
        return False
    is_rounded = all(float(value.value) % 5 == 0 for value in column.top_values)
    is_wide = high - low >= _UNUSED_PER_SPARSE_VALUE * column.distinct
    return is_wide and not is_rounded and filled >= _ROWS_PER_SPARSE_VALUE * column.distinct


def is_numbering(column: ColumnProfile) -> bool:
    """Return whether whole numbers are near-unique and close together: a numbering of rows."""
    low, high = value_bounds(column)
    filled = column.rows - column.nulls
    is_near_unique = filled >= _FEWEST_ROWS and column.distinct >= _NEAR_UNIQUE * filled
    return is_near_unique and high - low < _WIDEST_NUMBERING * filled


def is_flag(column: ColumnProfile, *, or_two_values: bool = False) -> bool:
    """Return whether the values are 0 and 1, or any two values that each of many rows has."""
    if value_bounds(column) == (0, 1) and column.distinct == 2:
        return True
    filled = column.rows - column.nulls
    return or_two_values and column.distinct == 2 and filled >= _FEWEST_ROWS


def is_digit_code(column: ColumnProfile) -> bool:
    """Return whether text of digits is longer than any amount."""
    return column.max_length is not None and column.max_length > _LONGEST_NUMBER


def has_counted_values(column: ColumnProfile) -> bool:
    """Return whether values begin at zero or one and become rarer as they grow, as counts do."""
    low, high = value_bounds(column)
    frequent = [float(value.value) for value in column.top_values]
    if low not in {0, 1} or len(frequent) < _FEWEST_COUNTED or high < _FEWEST_COUNTED:
        return False
    if frequent[:3] == [low, low + 1, low + 2] and (low == 0 or column.distinct > _MOST_LISTED):
        return True
    is_long = column.distinct > max(len(frequent), _MOST_LISTED)
    return is_long and median(frequent) <= low + _LOW_PART * (high - low)


def _is_concentrated(column: ColumnProfile) -> bool:
    """Return whether the most frequent of many values are close together, as around a mean."""
    low, high = value_bounds(column)
    frequent = [float(value.value) for value in column.top_values]
    if column.distinct < _FEWEST_CONCENTRATED or not frequent:
        return False
    return max(frequent) - min(frequent) <= _CONCENTRATED_PART * (high - low)


def may_be_percentages(column: ColumnProfile) -> bool:
    """Return whether whole numbers end at exactly 100, and aren't just the few that do."""
    low, high = value_bounds(column)
    return low >= 0 and high == 100 and column.distinct >= _FEWEST_CONCENTRATED


def is_whole(column: ColumnProfile) -> bool:
    """Return whether all values that the profile shows are whole numbers."""
    shown = [*(value.value for value in column.top_values), column.min, column.max]
    return all(_is_whole_number(text) for text in shown if text is not None)


def value_bounds(column: ColumnProfile) -> tuple[float, float]:
    """Return the least and the greatest value; NaN where they aren't known."""
    try:
        return float(column.min or "nan"), float(column.max or "nan")
    except ValueError:
        return float("nan"), float("nan")


def _is_whole_number(text: str) -> bool:
    try:
        return float(text).is_integer()
    except ValueError:
        return False


def _digits(number: float) -> int:
    return len(str(int(number))) if number > 0 and number == number else 0
