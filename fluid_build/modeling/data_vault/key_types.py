"""The types of key columns in a vault, and which of them write equal values alike.

A hash key is made of the text of its parts. Two columns may feed the same hub only where equal
values have equal texts: whole numbers of any width, decimals of one scale, text of any type.
"""

import re
from collections.abc import Collection, Sequence

from fluid_build.modeling.conceptual import Attribute

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_DIGITS = {
    "TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": 38,
    "UTINYINT": 3, "USMALLINT": 5, "UINTEGER": 10, "UBIGINT": 20,
}  # fmt: skip
_AS_SIGNED = {
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "HUGEINT",
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def vault_type(attribute: Attribute) -> str:
    """Return DuckDB's type of an attribute in a vault, which keeps the spelling of every value."""
    conversion = attribute.conversion
    if conversion is not None and conversion.reversible:
        return conversion.to_type
    return attribute.source_type


def are_written_alike(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether equal values of two lists of types, paired by position, have equal texts."""
    return list(map(_notation, left)) == list(map(_notation, right))


def widest(types: Collection[str]) -> str:
    """Return the type that holds the values of all of these types, which are written alike."""
    if len(set(types)) == 1:
        return next(iter(types))
    if all(_is_text(type_) for type_ in types):
        return "VARCHAR"
    if all(type_ in _DIGITS for type_ in types):
        return max((_AS_SIGNED.get(type_, type_) for type_ in types), key=_SIGNED.index)
    parts = [_precision_and_scale(type_) for type_ in types]
    return f"DECIMAL({max(precision for precision, _ in parts)},{parts[0][1]})"


def _notation(type_: str) -> str:
    """Return what the text of a type's values depends on."""
    if _is_text(type_):
        return "text"
    if type_ in _DIGITS or _DECIMAL.fullmatch(type_):
        return f"number of scale {_precision_and_scale(type_)[1]}"
    return type_


def _is_text(type_: str) -> bool:
    return type_ == "VARCHAR" or type_.startswith("ENUM(")


def _precision_and_scale(type_: str) -> tuple[int, int]:
    decimal = _DECIMAL.fullmatch(type_)
    return (int(decimal[1]), int(decimal[2])) if decimal else (_DIGITS[type_], 0)
