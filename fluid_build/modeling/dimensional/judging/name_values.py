"""Whether a column's values look like names, whatever the column is called.

Names of columns are known in some languages only. A name is text of letters, not long, and nearly
every row has another one.
"""

from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.profile import ColumnProfile

_FEWEST_VALUES = 8
"""Rows with a value from which on distinct text isn't chance."""
_DISTINCT_SHARE = 0.9
_SHORTEST, _LONGEST = 4, 40
"""Characters of a name on average; a shorter text is a code, a longer one a remark."""
_LETTERS = 0.8
"""Share of letters among the characters other than spaces; a number or address has fewer."""


def looks_like_name(column: ColumnProfile) -> bool:
    """Return whether nearly every row has a short text of letters of its own."""
    filled = column.rows - column.nulls
    if family(column_type(column)) != "text" or column.semantic_type is not None:
        return False
    if filled < _FEWEST_VALUES or column.distinct < _DISTINCT_SHARE * filled:
        return False
    if not _SHORTEST <= (column.avg_length or 0) <= _LONGEST:
        return False
    text = "".join(value.value for value in column.top_values).replace(" ", "")
    return bool(text) and sum(map(str.isalpha, text)) >= _LETTERS * len(text)
