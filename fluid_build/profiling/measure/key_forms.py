"""How much a column has the form of a key: by its type and its values, whatever its name.

``profiling/keys/likelihood.py`` adds what names and other tables say.
"""

from fluid_build.profiling.measure.figures import ColumnStats

_SHORT_TEXT, _LONG_TEXT = 12, 40
"""Characters, on average, up to which text is a code, and up to which it is a name or a label."""
_READ_VALUES = 20
"""Values that are read for prose: the most frequent ones are enough to tell."""
_FORMS = {"integer": 1.0, "uuid": 0.9, "temporal": 0.6, "boolean": 0.2, "decimal": 0.1}
"""Whole numbers are keys most often; decimals and flags hardly ever. The steps are small next to
what a name adds (``PrimaryKeyWeights``)."""
_CODE, _LABEL, _PROSE = 0.8, 0.5, 0.1
"""The forms of text: codes come right after numbers, labels after dates."""


def key_form(column: ColumnStats) -> float:
    """Return how much a column has the form of a key; 0 to 1, 0 if it can't be compared."""
    if column.kind != "text":
        return _FORMS.get(column.kind, 0.0)
    length = column.avg_length or 0.0
    if length > _LONG_TEXT or reads_like_prose(column):
        return _PROSE
    return _CODE if length <= _SHORT_TEXT else _LABEL


def reads_like_prose(column: ColumnStats) -> bool:
    """Return whether most of a column's values are three words or more: free text, not a key."""
    values = [value for value, _ in column.values[:_READ_VALUES]]
    return bool(values) and sum(value.count(" ") >= 2 for value in values) > len(values) / 2
