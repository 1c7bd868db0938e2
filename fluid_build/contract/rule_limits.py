"""How much of the data must keep a rule: FLUID's threshold and operator, and a limit in rows.

The schema of FLUID 0.7.2 leaves the meaning of a threshold open. Here it is the share of the rows
that keep the rule: 0.97, or 97 where it is above 1, which then can only be percent.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from fluid_build.contract.fluid import DqRule
from fluid_build.text import counted

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_IN_WORDS: Mapping[str, str] = {
    ">=": "at least",
    ">": "more than",
    "<=": "at most",
    "<": "less than",
    "==": "exactly",
    "!=": "other than",
}
_WHOLE = 100
_FEWEST_DECIMALS = 2


MEASURED: Mapping[str, str] = {"limit": "measured"}
"""The label of a rule whose limit is what the data kept, and what no reader can rely on."""
_FINEST = 9
"""Decimals of a limit: a source of a billion rows may have a single one that breaks a rule."""
_TOO_LAX = 10


class UnclearLimitError(ValueError):
    """A limit that cannot be meant; the text says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class RuleLimit:
    """The share of rows that must keep a rule, and the most rows that may break it, if given."""

    share: float = 1.0
    comparison: str = ">="
    most: int | None = None

    def allows(self, rows: int, violations: int) -> bool:
        """Return whether so many violations among so many rows are within the limit."""
        share = (rows - violations) / rows if rows else 1.0
        within = self.most is None or violations <= self.most
        return within and _COMPARE[self.comparison](share, self.share)

    @property
    def is_strict(self) -> bool:
        """Whether not one row may break the rule."""
        return self.most == 0 or (self.share == 1 and self.comparison in (">=", "=="))

    @property
    def text(self) -> str:
        """The limit in words."""
        if self.is_strict:
            return "every row"
        most = "" if self.most is None else f"at most {counted(self.most, 'violation')}"
        if self.share == 0 and self.comparison == ">=":
            return most or "any share of rows"
        share = f"{_IN_WORDS[self.comparison]} {percent(self.share)} of rows"
        return f"{share}, {most}" if most else share


def limit_of(rule: DqRule) -> RuleLimit:
    """Return the limit of a rule; every row must keep it where none is given. UnclearLimitError."""
    most = _most(rule)
    if rule.threshold is None:
        if most is not None and rule.operator is None:
            return RuleLimit(share=0.0, most=most)
        return RuleLimit(comparison=rule.operator or ">=", most=most)
    # Compared before it is made a float, which a number of a thousand digits is too large for.
    if not 0 <= rule.threshold <= _WHOLE:
        raise UnclearLimitError("its threshold isn't a share of rows")
    threshold = float(rule.threshold)
    share = threshold / _WHOLE if threshold > 1 else threshold
    return RuleLimit(share=share, comparison=rule.operator or ">=", most=most)


def _most(rule: DqRule) -> int | None:
    label = (rule.labels or {}).get("max-violations")
    if label is None:
        return None
    if not label.isascii() or not label.isdigit() or len(label) > len(str(2**63)):
        raise UnclearLimitError("its label max-violations isn't a number of rows")
    return int(label)


def limit_with_room(broken: int, rows: int) -> float | None:
    """Return the share of rows that must keep a rule which so many break; None for every row.

    What is broken may grow as by chance (by two standard deviations), and the share that may be
    is rounded up to 1, 2 or 5 of a power of ten: a night like the others breaks no limit.
    """
    if not broken or not rows:
        return None
    most = Decimal(broken + 2 * math.sqrt(broken)) / rows
    steps = (Decimal(digit).scaleb(-at) for at in range(_FINEST, 0, -1) for digit in (1, 2, 5))
    return float(1 - next((step for step in steps if step >= most), Decimal(1)))


def is_kept(limit: float, next_limit: float) -> bool:
    """Return whether a limit stays where today's data asks for another one, with its room.

    It does unless it's too tight, or allows for ten times as much. A rule that nothing breaks any
    more is for every row again.
    """
    most, fitting = (round(1 - share, _FINEST) for share in (limit, next_limit))
    return 0 < fitting <= most < min(1, _TOO_LAX * fitting)


def percent(share: float) -> str:
    """Return a share as a percentage, rounded down, so that only the whole reads as 100%.

    It has two decimals, and more where only nines would be left: "97.95%", "99.9987%". A larger
    share never reads as a smaller one, so a share can be compared with its limit.
    """
    if share >= 1:
        return "100%"
    nines = -math.floor(math.log10(1 - share))
    decimals = max(_FEWEST_DECIMALS, nines - 1)
    # Without rounding the product first, 0.29 would read as 28.99%.
    floored = math.floor(round(share * 10 ** (decimals + 2), 4)) / 10**decimals
    return f"{floored:.{decimals}f}".rstrip("0").rstrip(".") + "%"
