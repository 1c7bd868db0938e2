"""Means and estimates as they're shown to readers."""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

_DIGITS = 6
"""Digits that are shown of a figure: more say nothing to a reader, and are noise in a sample."""
_FRACTION = re.compile(r"-?0*(\d*)\.\d+")


def shorten_number(figure: str) -> str:
    """Return a figure with as many decimals as make six digits; whole numbers and dates as is."""
    match = _FRACTION.fullmatch(figure)
    if match is None:
        return figure
    number = Decimal(figure)
    # A number below one has its digits behind the zeros.
    first = number.adjusted() if number and not match[1] else len(match[1]) - 1
    unit = Decimal(1).scaleb(min(first - _DIGITS + 1, 0))
    # Python's own precision is 28 digits, and a DECIMAL may have 38.
    rounded = f"{number.quantize(unit, ROUND_HALF_EVEN, Context(prec=len(figure) + _DIGITS)):f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded
