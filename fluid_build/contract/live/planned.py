"""A check before it is measured: what to ask of the data, and what to make of the answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fluid_build.contract.live.results import CheckResult

Figure = int | datetime | None
Figures = tuple[Figure, ...]
Judge = Callable[[Figures], CheckResult]


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check to measure: ``aggregates`` share a SELECT with others, ``query`` has its own.

    ``judge`` gets the figures of the one or the other, in their order.
    """

    judge: Judge
    aggregates: Sequence[str] = ()
    query: str = ""


Check = CheckResult | PlannedCheck
"""A check that is settled without reading a row, or one that has still to be measured."""


def count(figure: Figure) -> int:
    """Return a figure that must be a number of rows."""
    if not isinstance(figure, int):
        raise TypeError(f"{figure!r} isn't a number of rows")
    return figure
