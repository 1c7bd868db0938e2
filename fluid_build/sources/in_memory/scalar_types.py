"""The SQL type that holds Python's plain values, and each of them as text for it.

Text is what every value has, and what DuckDB casts to any type without losing a digit.
"""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from fluid_build.sources.text_values.nanoseconds import AS_TEXT
from fluid_build.text import listed

MOST_DIGITS = 38
"""Digits of the widest DECIMAL."""
LARGEST_EXACT = 2**53
"""Whole numbers up to here are exact in a float64."""
NESTED = frozenset({"dict", "list"})
"""The families of values that aren't plain."""

_WHOLE_TYPES = (
    ("BIGINT", -(2**63), 2**63 - 1),
    ("UBIGINT", 0, 2**64 - 1),
    ("HUGEINT", -(2**127), 2**127 - 1),
    ("UHUGEINT", 0, 2**128 - 1),
)
"""Types of whole numbers with their smallest and largest value, the usual ones first."""
_FAMILIES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (Integral, "whole number"),
    (Real, "number"),
    (Decimal, "decimal"),
    (str, "text"),
    ((bytes, bytearray, memoryview), "bytes"),
    (datetime, "timestamp"),
    (date, "date"),
    (time, "time"),
    (timedelta, "duration"),
    (uuid.UUID, "UUID"),
    (dict, "dict"),
    ((list, tuple, set, frozenset), "list"),
)
"""What an object column may hold, the narrower types before those that include them."""
_NUMPY_FAMILIES = {
    "ndarray": "list", "bool": "boolean", "bool_": "boolean", "timedelta64": "other",
}  # fmt: skip
"""The types of NumPy that are none of Python's, or that it calls whole numbers and aren't."""
_MISSING = ("NoneType", "NaTType", "NAType")
"""Types whose only value says that there's none: Python's and pandas'."""


@dataclass(frozen=True, slots=True)
class ScalarType:
    """An SQL type, how a value is written for it, and a note where it isn't the values' own."""

    sql: str
    write: Callable[[Any], str]
    note: str = ""

    def carried(self) -> object:
        """Return the type of the texts, as ``from_json`` takes it."""
        return "VARCHAR"


def is_missing(value: object) -> bool:
    """Return whether a value only says that there's none."""
    return type(value).__name__ in _MISSING


def families_of(values: Iterable[object]) -> frozenset[str]:
    """Return what kinds of values there are, as a user calls them."""
    return frozenset(_family(kind) for kind in set(map(type, values)))


def _family(kind: type) -> str:
    if kind.__module__ == "numpy" and kind.__name__ in _NUMPY_FAMILIES:
        return _NUMPY_FAMILIES[kind.__name__]
    return next((family for types, family in _FAMILIES if issubclass(kind, types)), "other")


def scalar_type(present: Sequence[Any], families: frozenset[str]) -> ScalarType:
    """Return the type for all of some values, none of which is missing; text where none fits."""
    if families == {"other"}:
        kinds = sorted({type(value).__name__ for value in present})
        return _text(f"Its {listed(kinds)} values are read as text.")
    if families == {"whole number", "number"} and _are_exact(present):
        families = frozenset({"number"})
    if len(families) > 1:
        return _text(f"It holds {listed(sorted(families))} values; read as text.")
    if families == {"number"} and not all(map(_is_double, present)):
        return _text("Some of its numbers have more digits than a DOUBLE; read as text.")
    if families <= {"timestamp", "time"} and len(set(map(_clock, present))) > 1:
        return _text("Some of its times have a time zone and some haven't; read as text.")
    if families <= {"timestamp", "duration"} and any(map(_is_finer, present)):
        return ScalarType("VARCHAR", lambda value: str(value.isoformat()), AS_TEXT)
    (family,) = families or {""}
    if family == "whole number":
        return _whole_type(present)
    if family == "decimal":
        return _decimal_type(present)
    if family == "time":
        zone = " WITH TIME ZONE" if _clock(present[0])[1] else ""
        return ScalarType(f"TIME{zone}", time.isoformat)
    if family == "timestamp":
        zone = " WITH TIME ZONE" if _clock(present[0])[1] else ""
        return ScalarType(f"TIMESTAMP{zone}", datetime.isoformat)
    return _PLAIN[family]


def checked_text(text: str) -> str:
    """Return a text. Raises ValueError unless it's Unicode: other text leaves DuckDB unusable.

    Only Python's own strings can hold such text: half of a surrogate pair.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("text that isn't valid Unicode.") from None
    return text


def _text(note: str) -> ScalarType:
    return ScalarType("VARCHAR", lambda value: checked_text(str(value)), note)


def _are_exact(numbers: Iterable[Any]) -> bool:
    """Return whether whole and other numbers can be one column without losing a digit."""
    return all(abs(int(v)) <= LARGEST_EXACT for v in numbers if isinstance(v, Integral))


def _is_double(number: Any) -> bool:
    """Return whether a float holds a number as it is; fractions and long doubles may have more."""
    return bool(number != number or float(number) == number)


def _clock(value: Any) -> tuple[bool, bool]:
    """Return whether a time names a zone, and whether its offset is known from it."""
    return value.tzinfo is not None, value.utcoffset() is not None


def _is_finer(value: Any) -> bool:
    """Return whether one of pandas' moments or durations has more than Python's own can have."""
    return bool(getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0) % 1000)


def _whole_type(present: Iterable[Any]) -> ScalarType:
    numbers = [int(value) for value in present]
    smallest, largest = min(numbers), max(numbers)
    for sql, least, most in _WHOLE_TYPES:
        if least <= smallest and largest <= most:
            return ScalarType(sql, _whole)
    note = "Some of its whole numbers have more digits than a number has in SQL; read as text."
    return ScalarType("VARCHAR", _whole, note)


def _whole(value: Any) -> str:
    return str(int(value))


def _decimal_type(present: Iterable[Decimal]) -> ScalarType:
    """Return the DECIMAL that has a place for each digit."""
    if not all(value.is_finite() for value in present):
        return _text("Some of its decimals are infinite or NaN; read as text.")
    whole = max((value.adjusted() + 1 for value in present if value), default=1)
    behind = max(-int(value.as_tuple().exponent) for value in present)
    digits = max(whole, 1) + max(behind, 0)
    if digits > MOST_DIGITS:
        return _text(f"Its decimals need {digits:,} digits, more than a number has; read as text.")
    return ScalarType(f"DECIMAL({digits}, {max(behind, 0)})", lambda value: f"{value:f}")


def _duration(value: timedelta) -> str:
    hours, seconds = divmod(value.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    return f"{value.days} days {hours}:{minutes:02}:{seconds:02}.{value.microseconds:06}"


def _bytes(value: bytes) -> str:
    return "".join(f"\\x{byte:02X}" for byte in bytes(value))


_PLAIN = {
    "": ScalarType("INTEGER", str),  # Nothing but nulls, as DuckDB takes them.
    "boolean": ScalarType("BOOLEAN", lambda value: str(bool(value))),
    "number": ScalarType("DOUBLE", lambda value: repr(float(value))),
    "text": ScalarType("VARCHAR", lambda value: checked_text(str.__str__(value))),
    "bytes": ScalarType("BLOB", _bytes),
    "date": ScalarType("DATE", date.isoformat),
    "duration": ScalarType("INTERVAL", _duration),
    "UUID": ScalarType("UUID", str),
}
