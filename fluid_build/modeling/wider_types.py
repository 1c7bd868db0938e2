"""The type that holds what a column held before, and what it holds now.

A type never gets narrower: rows that were loaded need the wider one.
"""

import re

from fluid_build.changes.types import wider_type
from fluid_build.modeling.types import column_type, is_number
from fluid_build.profiling.profile import ColumnProfile

_TEXT = "VARCHAR"
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
