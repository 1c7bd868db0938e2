"""Closed domains: columns whose values have probably all been seen."""

import re
from collections.abc import Set

from fluid_build.modeling.measures import holds_names, is_category_name
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.profile import ColumnProfile

_MOST_VALUES = 25
"""Values of a domain in text. Longer lists of codes belong in a table of their own."""
_MOST_NUMERIC_VALUES = 10
"""Values of a domain in numbers, which are more easily just the numbers that occurred so far."""
_LONGEST_VALUE = 64
"""Characters of a value; longer ones are free text that happens to repeat."""
_FEWEST_ROWS = 50
_ROWS_PER_VALUE = 10
"""Rows that must confirm each value on average. With ten, a value that comes as often as the others
would hardly be missing."""
_WHOLE = re.compile(r"-?[0-9]{1,9}")
# Other meanings, such as a city or a company, are open: the next row may bring a new one.
_CLOSED_MEANINGS = {None, "boolean", "gender", "marital_status", "salutation"}


def accepted_values(column: ColumnProfile, key_columns: Set[str]) -> tuple[str, ...] | None:
    """Return the sorted values of a closed domain as text; None where the column has none.

    All values must be known and counted exactly, be few for the number of rows, and occur more than
    once: by Good and Turing, the chance that the next row has a new value is about the share of
    rows whose value occurs once. Personal data never qualifies, nor does a key or a reference,
    whose domain is another table.
    """
    if column.pii or column.name in key_columns:
        return None
    if column.semantic_type not in _CLOSED_MEANINGS:
        return None
    if not column.distinct_exact or column.sample is not None:
        return None
    filled = column.rows - column.nulls
    if filled < max(_FEWEST_ROWS, _ROWS_PER_VALUE * column.distinct):
        return None
    counted = column.top_values
    if len(counted) != column.distinct or sum(value.count for value in counted) != filled:
        return None
    if not 1 < column.distinct <= _MOST_VALUES or min(value.count for value in counted) < 2:
        return None
    if max(len(value.value) for value in counted) > _LONGEST_VALUE or not _is_category(column):
        return None
    return tuple(sorted(value.value for value in counted))


def _is_category(column: ColumnProfile) -> bool:
    """Return whether a column's few values are categories rather than names or quantities."""
    type_family = family(column_type(column))
    if type_family == "text":
        return not holds_names(column.name)
    if type_family != "integer" or column.distinct > _MOST_NUMERIC_VALUES:
        return False
    values = {value.value for value in column.top_values}
    return values == {"0", "1"} or (is_category_name(column.name) and _is_dense(values))


def _is_dense(values: set[str]) -> bool:
    """Return whether whole numbers are close together, as assigned codes are."""
    if not all(map(_WHOLE.fullmatch, values)):
        return False
    numbers = [int(value) for value in values]
    return max(numbers) - min(numbers) < 2 * len(numbers)
