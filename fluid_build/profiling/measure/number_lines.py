"""Axes: the values of a type as numbers in the same order, and those numbers as text again."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Final, Protocol, TypeAlias

from fluid_build.profiling.measure.figures import kind_of

Position: TypeAlias = int | float
Bounds: TypeAlias = tuple[Position, Position]
"""The least and the greatest position."""
Total: TypeAlias = int | float | Fraction

_MOST_BINS: Final = 24
"""Whole numbers up to which each has a bin of its own."""
_FEWEST_BINS: Final = 13
"""Bins of the widest of several widths: one more would make fewer than half as many as the most."""
_USUAL_BINS: Final = 20
_NARROW: Final = 1000
"""Whole numbers up to which the last bin could be visibly narrower than the others."""
_WIDTH_DIGITS: Final = 4
"""Digits of a width: with so many, the last of 20 bins is at most 2 % narrower."""
_MEAN_DIGITS: Final = 10
"""Digits of a mean, or as many as the whole part of a sum of whole units has."""
_MOST_WHOLE_FLOAT: Final = 2**53
"""The number up to which floats hold every whole number."""
_FEWEST_UNITS: Final = 96
"""Units of time from which bins begin at whole ones: each has four or more, the first may lack
a part of one."""
_EPOCH: Final = date(1970, 1, 1)
_CYCLE_DAYS: Final = 146_097
"""Days after which the calendar repeats: 400 years."""
_DAY_SECONDS: Final = 86_400
_UNIT_SECONDS: Final = (_DAY_SECONDS, 3600, 60, 1)
_DATE: Final = re.compile(r"(\d{4,})-(\d\d)-(\d\d)( \(BC\))?")
_CLOCK: Final = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?")


class Axis(Protocol):
    """The order of a type's values."""

    def sql(self, value: str) -> str:
        """Return SQL for the position of a value, which is SQL too; null for infinite times."""

    def positions(self, texts: Iterable[str]) -> list[Position]:
        """Return where values are, given as text. Infinity and NaN are themselves."""

    def text(self, position: Position) -> str:
        """Return the value at a position, spelled as a profile spells values."""

    def inner_borders(self, bounds: Bounds) -> list[Position]:
        """Return the borders between bins of equal width, ascending, without the bounds."""

    def mean(self, total: Total, count: int, bounds: Bounds) -> str:
        """Return the mean of ``count`` values, spelled, and no further out than their bounds.

        ``total`` is the sum of their positions.
        """


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Whole numbers, and decimals of some digits after the point, in units of the last digit."""

    digits: int = 0

    def sql(self, value: str) -> str:
        """Return the number itself, which is converted as text."""
        return value

    def positions(self, texts: Iterable[str]) -> list[Position]:
        """Return numbers in units of their last digit."""
        # The points of all values at once go several times faster than one by one.
        return list(map(int, " ".join(texts).replace(".", "").split() if self.digits else texts))

    def text(self, position: Position) -> str:
        """Return the number of so many units."""
        return f"{Decimal(f'{position}E-{self.digits}'):f}" if self.digits else str(position)

    def inner_borders(self, bounds: Bounds) -> list[Position]:
        """Return whole borders."""
        return list(_whole_borders(*map(int, bounds)))

    def mean(self, total: Total, count: int, bounds: Bounds) -> str:
        """Return the mean without trailing zeros."""
        digits = max(len(str(abs(int(total)) // count)), _MEAN_DIGITS)
        mean = Context(prec=digits).divide(Decimal(int(total)), Decimal(count))
        low, high = map(Decimal, bounds)
        text = f"{Decimal(f'{min(max(mean, low), high):f}E-{self.digits}'):f}"
        return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True, slots=True)
class FloatingPoint:
    """Floating-point numbers; ``is_integral`` says that all of them are whole."""

    is_integral: bool = False

    def sql(self, value: str) -> str:
        """Return the number with all of its digits."""
        return f"CAST({value} AS DOUBLE)"

    def positions(self, texts: Iterable[str]) -> list[Position]:
        """Return the numbers."""
        return list(map(float, texts))

    def text(self, position: Position) -> str:
        """Return the number in its shortest spelling."""
        # Zero has a sign among floats, and nobody means it.
        return str(float(position) + 0.0)

    def inner_borders(self, bounds: Bounds) -> list[Position]:
        """Return whole borders, or those that have three digits of the width of a bin."""
        low, high = bounds
        if self.is_integral and max(abs(low), abs(high)) <= _MOST_WHOLE_FLOAT:
            return list(_whole_borders(int(low), int(high)))
        # The difference of the greatest and the least number may be infinite, their shares aren't.
        shares = [index / _USUAL_BINS for index in range(1, _USUAL_BINS)]
        width = high / _USUAL_BINS - low / _USUAL_BINS
        digits = 2 - math.floor(math.log10(width)) if width else 0
        borders = {round(low * (1 - share) + high * share, digits) for share in shares}
        return sorted(border for border in borders if low < border < high)

    def mean(self, total: Total, count: int, bounds: Bounds) -> str:
        """Return the mean."""
        mean = float(f"{float(total / count):.{_MEAN_DIGITS}g}")
        return self.text(_clamp(mean, bounds))


@dataclass(frozen=True, slots=True)
class Days:
    """Dates, as days since 1970."""

    def sql(self, value: str) -> str:
        """Return the days since 1970."""
        return f"CASE WHEN isfinite({value}) THEN {value} - DATE '1970-01-01' END"

    def positions(self, texts: Iterable[str]) -> list[Position]:
        """Return the days of dates, also of those before year 1 and after 9999."""
        return [_day(text) for text in texts]

    def text(self, position: Position) -> str:
        """Return the date as DuckDB spells it."""
        return _day_text(int(position))

    def inner_borders(self, bounds: Bounds) -> list[Position]:
        """Return whole days."""
        return list(_whole_borders(*map(int, bounds)))

    def mean(self, total: Total, count: int, bounds: Bounds) -> str:
        """Return the day in which the mean is."""
        return self.text(_clamp(int(total) // count, bounds))


@dataclass(frozen=True, slots=True)
class Moments:
    """Times, in parts of a second since midnight, or since 1970 if they have a date.

    ``zone`` is the offset that follows each of them, ``conversion`` the SQL of a position.
    """

    parts: int = 10**6
    has_date: bool = True
    zone: str = ""
    conversion: str = "epoch_us({})"

    def sql(self, value: str) -> str:
        """Return the parts of a second."""
        return self.conversion.format(value)

    def positions(self, texts: Iterable[str]) -> list[Position]:
        """Return the times of texts."""
        return [self._position(text) for text in texts]

    def _position(self, text: str) -> Position:
        clock = _CLOCK.search(text)
        if clock is None:
            return _infinity(text)
        day = _day(text) if self.has_date else 0
        hours, minutes, seconds = map(int, clock.group(1, 2, 3))
        total = day * _DAY_SECONDS + hours * 3600 + minutes * 60 + seconds
        return total * self.parts + int((clock[4] or "").ljust(self._part_digits, "0"))

    @property
    def _part_digits(self) -> int:
        return len(str(self.parts)) - 1

    def text(self, position: Position) -> str:
        """Return the time as DuckDB spells it."""
        seconds, part = divmod(int(position), self.parts)
        # A time without a date may be 24:00:00.
        day, second = divmod(seconds, _DAY_SECONDS) if self.has_date else (0, seconds)
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        if part:
            clock += "." + str(part).zfill(self._part_digits).rstrip("0")
        return f"{_day_text(day)} {clock}{self.zone}" if self.has_date else clock

    def inner_borders(self, bounds: Bounds) -> list[Position]:
        """Return whole days, hours, minutes or seconds, the longest of which there are enough."""
        low, high = bounds
        units = (seconds * self.parts for seconds in _UNIT_SECONDS)
        unit = next((unit for unit in units if high - low >= _FEWEST_UNITS * unit), 1)
        return [border * unit for border in _whole_borders(int(low) // unit, int(high) // unit)]

    def mean(self, total: Total, count: int, bounds: Bounds) -> str:
        """Return the mean, in whole seconds unless the values are close together."""
        unit = self.parts if bounds[1] - bounds[0] >= _FEWEST_UNITS * self.parts else 1
        return self.text(_clamp(int(total) // (count * unit) * unit, bounds))


@cache
def axis_of(type_name: str, *, is_integral: bool = False) -> Axis | None:
    """Return the axis of a type's values; None if they're neither numbers nor dates nor times.

    ``is_integral`` says that all of a column's floats are whole.
    """
    bare, _, detail = type_name.upper().partition("(")
    kind = kind_of(type_name)
    if kind == "float":
        return FloatingPoint(is_integral)
    if kind == "decimal":
        return FixedPoint(int(detail.rstrip(")").partition(",")[2]))
    return FixedPoint() if kind == "integer" else _TEMPORAL_AXES.get(bare.strip())


_TEMPORAL_AXES: Final[dict[str, Axis]] = {
    "DATE": Days(),
    "TIME": Moments(has_date=False),
    "TIMESTAMP": Moments(),
    "TIMESTAMP_NS": Moments(10**9, conversion="epoch_ns({})"),
    "TIMESTAMP WITH TIME ZONE": Moments(zone="+00"),
    # These reach further than microseconds do.
    "TIMESTAMP_S": Moments(conversion="epoch_us(TRY_CAST({} AS TIMESTAMP))"),
    "TIMESTAMP_MS": Moments(conversion="epoch_us(TRY_CAST({} AS TIMESTAMP))"),
}


def _clamp(position: Position, bounds: Bounds) -> Position:
    return min(max(position, bounds[0]), bounds[1])


def _whole_borders(low: int, high: int) -> range:
    """Return whole borders between bins for the whole numbers from ``low`` to ``high``.

    Where the last bin could be visibly narrower than the others, the width is one with which it's
    the least.
    """
    size = high - low + 1
    if size <= _MOST_BINS:
        width = 1
    elif size > _NARROW:
        exact = -(-size // _USUAL_BINS)
        unit = 10 ** max(len(str(exact)) - _WIDTH_DIGITS, 0)
        width = -(-exact // unit) * unit
    else:
        narrowest = -(-size // _MOST_BINS)
        widths = range(narrowest, max(narrowest, size // _FEWEST_BINS) + 1)
        width = min(widths, key=lambda width: (-size % width) / width)
    return range(low + width, high + 1, width)


def _day(text: str) -> Position:
    match = _DATE.match(text)
    if match is None:
        return _infinity(text)
    year, month, day = map(int, match.group(1, 2, 3))
    cycles, year = divmod((1 - year if match[4] else year) - 1, 400)
    return date(year + 1, month, day).toordinal() - _EPOCH.toordinal() + cycles * _CYCLE_DAYS


def _day_text(position: int) -> str:
    cycles, days = divmod(position + _EPOCH.toordinal() - 1, _CYCLE_DAYS)
    day = date.fromordinal(days + 1)
    year = day.year + 400 * cycles
    before_christ = "" if year > 0 else " (BC)"
    return f"{year if year > 0 else 1 - year:04}-{day.month:02}-{day.day:02}{before_christ}"


def _infinity(text: str) -> float:
    return -math.inf if text.startswith("-") else math.inf
