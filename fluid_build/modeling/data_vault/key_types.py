"""The types of key columns in a vault, and which of them write equal values alike.

A hash key is made of the text of its parts. Two columns may feed the same hub only where equal
values have equal texts: whole numbers of any width, decimals of one scale, text of any type.
"""

import re
from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute

_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")


def vault_type(attribute: Attribute) -> str:
    """Return DuckDB's type of an attribute in a vault, which keeps the spelling of every value."""
    conversion = attribute.conversion
    if conversion is not None and conversion.reversible:
        return conversion.to_type
    return attribute.source_type


def are_written_alike(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether equal values of two lists of types, paired by position, have equal texts."""
    return list(map(_notation, left)) == list(map(_notation, right))


def _notation(type_: str) -> str:
    """Return what the text of a type's values depends on."""
    if _is_text(type_):
        return "text"
    if _WHOLE.fullmatch(type_):
        return "number of scale 0"
    if decimal := _DECIMAL.fullmatch(type_):
        return f"number of scale {decimal[1]}"
    return type_


def _is_text(type_: str) -> bool:
    return type_ == "VARCHAR" or type_.startswith("ENUM(")
