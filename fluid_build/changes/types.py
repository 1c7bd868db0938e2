"""Which type holds every value of another, and which one holds those of two.

A change of a source is judged by it, and what rows are loaded as follows it: a type that holds what
was loaded and what comes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TypeChange = Literal["widened", "narrowed", "changed"]

_WHOLE_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_EXACT_IN_FLOAT = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""Up to here, a floating point number is exactly every whole number."""
_FINER_TIMES = ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS")
"""Each holds the moments of those before it. Nanoseconds only do from 1677 to 2262: a moment beyond
stops its load, which is better than text for all others."""
_TEXT = "VARCHAR"
_MOST_DIGITS = 38
"""Of DuckDB's decimals: https://duckdb.org/docs/stable/sql/data_types/numeric."""


@dataclass(frozen=True, slots=True)
class _Exact:
    """Numbers from ``low`` to ``high``, both counted in units of the last of ``scale`` digits."""

    low: int
    high: int
    scale: int = 0

    def holds(self, other: "_Exact") -> bool:
        finer = 10 ** (self.scale - other.scale) if self.scale >= other.scale else 0
        return bool(finer) and self.low <= other.low * finer and other.high * finer <= self.high


def type_change(before: str, after: str) -> TypeChange | None:
    """Return what became of a type, in DuckDB's names; None where it's the same.

    It's widened where another exact number holds the values of both.
    """
    if before == after:
        return None
    if _holds(after, before):
        return "widened"
    if _holds(before, after):
        return "narrowed"
    return "widened" if _exact(wider_type(before, after)) else "changed"


def wider_type(first: str, second: str) -> str:
    """Return the DuckDB type of the values of two types; text where no other takes both.

    A fraction and a whole number of many digits make a floating point number: the digits that it
    hasn't are those that the source's own number hasn't either.
    """
    if first == second or _holds(first, second):
        return first
    if _holds(second, first):
        return second
    numbers = _exact(first), _exact(second)
    if not all(
        number or name in _EXACT_IN_FLOAT
        for number, name in zip(numbers, (first, second), strict=True)
    ):
        return _TEXT
    if None in numbers:
        return "DOUBLE"
    exact = [number for number in numbers if number is not None]
    if _DECIMAL.fullmatch(first) or _DECIMAL.fullmatch(second):
        return _wider_decimal(exact)
    whole = (name for name in _WHOLE_BITS if all(_holds(name, each) for each in (first, second)))
    return next(whole, "DOUBLE")


def _wider_decimal(numbers: Sequence[_Exact]) -> str:
    scale = max(number.scale for number in numbers)
    whole = (len(str(number.high)) - number.scale for number in numbers)
    digits = max(whole) + scale
    return f"DECIMAL({digits},{scale})" if digits <= _MOST_DIGITS else "DOUBLE"


def _holds(wide: str, narrow: str) -> bool:
    """Return whether one type has every value of another, exactly and of the same meaning."""
    if wide in _FINER_TIMES and narrow in _FINER_TIMES:
        return _FINER_TIMES.index(wide) > _FINER_TIMES.index(narrow)
    if narrow.startswith("ENUM("):
        return wide == "VARCHAR"
    if wide == "DOUBLE" and narrow == "FLOAT":
        return True
    inner = _exact(narrow)
    if inner is None:
        return False
    if wide in _EXACT_IN_FLOAT:
        most = _EXACT_IN_FLOAT[wide]
        return inner.scale == 0 and -most <= inner.low and inner.high <= most
    outer = _exact(wide)
    return outer is not None and outer.holds(inner)


def _exact(name: str) -> _Exact | None:
    """Return the numbers of an exact type; None for another type."""
    if decimal := _DECIMAL.fullmatch(name):
        most = 10 ** int(decimal[1]) - 1
        return _Exact(-most, most, int(decimal[2]))
    if bits := _WHOLE_BITS.get(name):
        return _Exact(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if bits := _WHOLE_BITS.get(name.removeprefix("U")):
        return _Exact(0, 2**bits - 1)
    return None
