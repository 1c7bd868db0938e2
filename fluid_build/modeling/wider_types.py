"""The type that holds what a column held before, and what it holds now.

A type never gets narrower: rows that were loaded need the wider one.
"""

import re

from fluid_build.modeling.types import column_type, is_number
from fluid_build.profiling.profile import ColumnProfile

_TEXT = "VARCHAR"
_MOST_DIGITS = 38
"""Of DuckDB's decimals: https://duckdb.org/docs/stable/sql/data_types/numeric."""
_SIGNED = {"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": 39}
_UNSIGNED = {"UTINYINT": 3, "USMALLINT": 5, "UINTEGER": 10, "UBIGINT": 20, "UHUGEINT": 39}
"""Digits of whole numbers."""
_MOMENTS = ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS")
"""Moments, each as exact as those before it."""
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")
_LIMIT = re.compile(r"(?:var)?char\((\d+)\)")


def wider(earlier: ColumnProfile, now: ColumnProfile) -> tuple[str, str | None]:
    """Return the type and the measured type of a column that held one and holds the other.

    A column without values says nothing about its type.
    """
    as_before = (earlier.type, earlier.measured_type)
    if as_before == (now.type, now.measured_type) or now.rows == now.nulls:
        return as_before
    before, after = _real_type(earlier), _real_type(now)
    both = wider_type(before, after)
    if both == before and (earlier.type == now.type or earlier.measured_type is None):
        return as_before
    if both == after:
        return now.type, now.measured_type
    if now.type == _TEXT and is_number(both):
        return now.type, both
    return both, None


def wider_type(first: str, second: str) -> str:
    """Return the DuckDB type of the values of two types; text where no other holds both."""
    if first == second:
        return first
    if is_number(first) and is_number(second):
        return _wider_number(first, second)
    if first in _MOMENTS and second in _MOMENTS:
        return max(first, second, key=_MOMENTS.index)
    return _TEXT


def longer_text(earlier: ColumnProfile, now: ColumnProfile) -> tuple[str, int | None]:
    """Return the declared type and the length of the longest text that hold both columns."""
    lengths = [n for n in (earlier.max_length, now.max_length) if n is not None]
    as_before = earlier.declared_type, earlier.max_length
    names = [
        column_type(earlier),
        column_type(
            earlier.model_copy(
                update={
                    "declared_type": now.declared_type,
                    "max_length": max(lengths, default=None),
                }
            )
        ),
    ]
    limits = [_LIMIT.fullmatch(name) for name in names]
    if limits[0] is None or (limits[1] and int(limits[1][1]) <= int(limits[0][1])):
        return as_before
    return now.declared_type, max(lengths, default=None)


def _real_type(column: ColumnProfile) -> str:
    return column.measured_type or column.type


def _wider_number(first: str, second: str) -> str:
    if {first, second} & {"FLOAT", "DOUBLE"}:
        return "DOUBLE"
    if "DECIMAL" in first or "DECIMAL" in second:
        (whole, scale), (other_whole, other_scale) = map(_digits, (first, second))
        scale = max(scale, other_scale)
        digits = max(whole, other_whole) + scale
        return f"DECIMAL({digits},{scale})" if digits <= _MOST_DIGITS else "DOUBLE"
    digits = max(_digits(first)[0], _digits(second)[0])
    kinds = [kind for kind in (_SIGNED, _UNSIGNED) if first in kind and second in kind]
    if kinds:
        return max(first, second, key=kinds[0].__getitem__)
    # A signed type holds an unsigned one that has fewer bits.
    unsigned = max(_UNSIGNED.get(first, 0), _UNSIGNED.get(second, 0))
    signed = first if first in _SIGNED else second
    if _SIGNED[signed] > unsigned:
        return signed
    return next((name for name, size in _SIGNED.items() if size > digits), "DOUBLE")


def _digits(number: str) -> tuple[int, int]:
    """Return how many digits a number has before and after the point."""
    decimal = _DECIMAL.fullmatch(number)
    if decimal is not None:
        return int(decimal[1]) - int(decimal[2]), int(decimal[2])
    return _SIGNED.get(number) or _UNSIGNED.get(number, _MOST_DIGITS), 0
