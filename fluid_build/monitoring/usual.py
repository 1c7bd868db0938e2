"""What a figure is expected to be tonight, after what it was on the nights before.

A figure is compared with the last usual night, and the step between the two with the earlier steps:
so a table that grows, one that stays and one that varies are judged by the same rule. The expected
step is the median of the earlier ones, of the same weekday where two weeks are known. It may differ
by ``SPREADS`` times their spread, which is the median absolute deviation scaled to that of a normal
distribution. A few large steps hardly move either figure.
(Leys et al., Detecting outliers, Journal of Experimental Social Psychology 49, 2013.)

An unusual night isn't compared with later. If the figure stays unusual for ``NEW_LEVEL`` nights, it
is what's usual from then on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from statistics import median

FIRST_NIGHTS = 7
"""Nights before the first alarm: a week has each weekday once."""
WEEKDAY_NIGHTS = 14
"""Nights from which on a weekday is compared with itself: each has come twice."""
REMEMBERED = 65
"""Steps that count: two months, so that what happens at the end of each is known."""
SPREADS = 4.0
"""Spreads that a step may differ by: of the simulated histories (``bench/night_histories.py``),
5 finds two faults in a hundred fewer, and cries a quarter less."""
NEW_LEVEL = 3
"""Nights in a row after which an unusual figure is the usual one: somebody was told thrice."""
_FEWEST_STEPS = 4
"""Steps of which a median says something."""
_OF_NORMAL = 1.4826
"""A normal distribution's standard deviation, in median absolute deviations."""


@dataclass(frozen=True, slots=True)
class Point:
    """A figure of one night; ``night`` counts those that are known."""

    night: int
    day: date
    value: float


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a step may always differ by.

    ``relative`` is a share of the step that is expected, and ``still`` holds where most nights
    changed nothing. A figure that ``may_stay`` needn't make a step, though it did until now.
    """

    least: float = 0.0
    relative: float = 0.0
    still: float = 0.0
    may_stay: bool = False


@dataclass(frozen=True, slots=True)
class Expected:
    """The range that a figure is expected in; a value outside it is unusual."""

    low: float
    high: float

    def has(self, value: float) -> bool:
        """Return whether a value is usual."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Step:
    """The step that is expected tonight, and by how much it may differ."""

    size: float
    may_differ: float

    def after(self, point: Point, tonight: int) -> Expected:
        """Return the range after a night; the nights between may have made a step each, or none."""
        whole = self.size * (tonight - point.night)
        return Expected(
            point.value + min(self.size, whole) - self.may_differ,
            point.value + max(self.size, whole) + self.may_differ,
        )


def last_usual(nights: Sequence[tuple[Point, bool]]) -> Point:
    """Return the night that tonight is compared with; each comes with whether it was unusual."""
    found, unusual = nights[0][0], 0
    for point, is_unusual in nights:
        unusual = unusual + 1 if is_unusual else 0
        if unusual == NEW_LEVEL:
            unusual = 0
        if not unusual:
            found = point
    return found


def expected_steps(points: Sequence[Point], day: date, tolerance: Tolerance) -> list[Step]:
    """Return the steps that are expected on a day; none while few nights are known.

    ``points`` are the nights before, unusual ones included, since a few of them move no median.
    Besides the usual step these are that of a week ago while weekdays aren't known, and that of the
    same day of the last month, or of its end.
    """
    if len(points) < FIRST_NIGHTS:
        return []
    recent = points[-REMEMBERED - 1 :]
    steps = {
        later.day: later.value - before.value
        for before, later in pairwise(recent)
        if later.night == before.night + 1
    }
    if len(steps) < _FEWEST_STEPS:
        return []
    weekdays = _by_weekday(steps) if len(steps) >= WEEKDAY_NIGHTS else {}
    overall = median(steps.values())
    rests = [abs(step - weekdays.get(on.weekday(), overall)) for on, step in steps.items()]
    least = max(
        tolerance.least,
        tolerance.still if not median(map(abs, steps.values())) else 0.0,
        SPREADS * _OF_NORMAL * median(rests),
    )
    known = [weekdays.get(day.weekday(), overall)]
    if not weekdays:
        known += [steps[on] for on in (day - timedelta(days=7),) if on in steps]
    known += [step for on, step in steps.items() if _is_a_month_ago(on, day)]
    if tolerance.may_stay:
        known.append(0.0)
    return [Step(size, max(least, tolerance.relative * abs(size))) for size in known]


def _is_a_month_ago(earlier: date, day: date) -> bool:
    """Return whether two days are the same of two months, or the last of each."""
    if (day.year - earlier.year) * 12 + day.month - earlier.month not in (1, 2):
        return False
    both_last = (earlier + timedelta(days=1)).day == 1 == (day + timedelta(days=1)).day
    return earlier.day == day.day or both_last


def _by_weekday(steps: Mapping[date, float]) -> dict[int, float]:
    """Return the median step of each weekday that came twice at least."""
    days: dict[int, list[float]] = {}
    for day, step in steps.items():
        days.setdefault(day.weekday(), []).append(step)
    return {weekday: median(each) for weekday, each in days.items() if len(each) > 1}
