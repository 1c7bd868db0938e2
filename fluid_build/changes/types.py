"""Which type holds every value of another: what is widened, narrowed, or something else."""

import re
from dataclasses import dataclass
from typing import Literal

TypeChange = Literal["widened", "narrowed", "changed"]

_WHOLE_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_EXACT_IN_FLOAT = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""Up to here, a floating point number is exactly every whole number."""
_FINER_TIMES = ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP")
"""Each holds all moments of those before it. Nanoseconds don't: they begin in 1677."""


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
    """Return what became of a type, in DuckDB's names; None where it's the same."""
    if before == after:
        return None
    if _holds(after, before):
        return "widened"
    return "narrowed" if _holds(before, after) else "changed"


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
