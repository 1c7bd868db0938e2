"""Closed domains: columns of which all values that will ever come have probably been seen."""

import re
from collections.abc import Set

from fluid_build.modeling.measures import is_code, names_things
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.profile import ColumnProfile

_MOST_VALUES = 25
_MOST_NUMERIC_VALUES = 10
_LONGEST_VALUE = 64
_FEWEST_ROWS = 50
_ROWS_PER_VALUE = 10
_WHOLE = re.compile(r"-?[0-9]{1,9}")
# Other meanings, such as a city or a company, are open: the next row may bring a new one.
_CLOSED_MEANINGS = {None, "boolean", "gender", "marital_status", "salutation"}


def accepted_values(column: ColumnProfile, key_columns: Set[str]) -> tuple[str, ...] | None:
    """The values of a closed domain as text, sorted; None where the column has no such domain.

    All values must be known and counted exactly, be few for the number of rows, and none may have
    been seen only once: by Good and Turing, the chance that the next row brings a new value is
    about the share of rows that hold a value nobody else holds. Personal data never qualifies, nor
    does a key or a reference, whose domain is another table.
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
    kind = family(column_type(column))
    if kind == "text":
        return not names_things(column.name)
    if kind != "integer" or column.distinct > _MOST_NUMERIC_VALUES:
        return False
    found = {value.value for value in column.top_values}
    return found == {"0", "1"} or (is_code(column.name) and _is_dense(found))


def _is_dense(values: set[str]) -> bool:
    """Whether whole numbers lie side by side, as codes that were given out do."""
    if not all(map(_WHOLE.fullmatch, values)):
        return False
    numbers = [int(value) for value in values]
    return max(numbers) - min(numbers) < 2 * len(numbers)
