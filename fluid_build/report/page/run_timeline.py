"""The stages of a run on an axis of time, in shares of its width."""

import math
from dataclasses import dataclass

from fluid_build.report.page.run_facts import StageFacts

_MOST_TICKS = 6
"""Labels on the axis that have room next to each other."""
_LONG = 300
"""Seconds from which an axis counts minutes."""
_SHORTEST = 0.4
"""Percent of the axis: less than that isn't seen, and each stage says its seconds in a figure."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An attempt of a stage: where it begins and how long it is, in percent of the axis."""

    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Lane:
    """A stage with its bars, one for each attempt."""

    stage: StageFacts
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of the axis, and where it is in percent."""

    label: str
    place: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The stages in order of their start; there's no axis where nobody noted when they began."""

    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    seconds: float


def timeline(stages: tuple[StageFacts, ...]) -> Timeline:
    """Return the stages on an axis from the run's start to its end."""
    end = max((end for stage in stages for _, end in stage.spans), default=0.0)
    if not end or not all(stage.spans for stage in stages):
        seconds = sum(stage.seconds for stage in stages)
        return Timeline(tuple(Lane(stage, ()) for stage in stages), (), seconds)
    return Timeline(
        tuple(
            Lane(stage, tuple(bar(start, stop, end) for start, stop in stage.spans))
            for stage in stages
        ),
        axis(end),
        end,
    )


def axis(end: float) -> tuple[Tick, ...]:
    """Return the labels of an axis of so many seconds."""
    step = _step(end)
    ticks = [step * n for n in range(math.floor(end / step) + 1)]
    return tuple(Tick(duration(tick), _percent(tick, end)) for tick in ticks)


def duration(seconds: float) -> str:
    """Return a time as people read it: ``0.25 s``, ``12.5 s``, ``2 min 5 s``."""
    if seconds >= 60:
        minutes, remainder = divmod(round(seconds), 60)
        return f"{minutes} min {remainder} s" if remainder else f"{minutes} min"
    if 0 < seconds < 0.01:
        return "< 0.01 s"
    return f"{round(seconds, 2 if seconds < 10 else 1):g} s"


def bar(start: float, stop: float, end: float) -> Bar:
    """Return what lasts from one second to another on an axis of ``end`` seconds."""
    width = max(_percent(stop - start, end), _SHORTEST)
    return Bar(min(_percent(start, end), 100 - width), width)


def _percent(seconds: float, end: float) -> float:
    return round(100 * seconds / end, 2)


def _step(end: float) -> float:
    """Return the distance of ticks: the smallest of 1, 2 or 5 times a power of ten that fits.

    Ticks of a long run are at whole minutes.
    """
    if end > _LONG:
        return 60 * _step(end / 60)
    magnitude = 10.0 ** math.floor(math.log10(end / _MOST_TICKS))
    steps = (factor * magnitude for factor in (1, 2, 5, 10))
    return next(step for step in steps if end / step <= _MOST_TICKS)
