"""Columns whose digits name something, so that they belong in text."""

from fluid_build.profiling.profile import ColumnProfile

# Semantic types whose digits name something: a number would drop their leading zeros.
_CODES = frozenset({"ean", "isbn", "vin", "phone", "postal_code", "hash", "version"})
# Personal data is mostly identifiers, which are codes; these are measured.
_PERSONAL_QUANTITIES = frozenset({"date_of_birth", "latitude", "longitude"})


def is_code(column: ColumnProfile) -> bool:
    """Return whether a column's digits belong in text, since they name something."""
    if column.semantic_type in _CODES:
        return True
    return column.pii and column.semantic_type not in _PERSONAL_QUANTITIES
