"""How the values of a column are distributed: mean, quantiles and histogram."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import mul
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from fluid_build.profiling.measure.figures import Distribution
from fluid_build.profiling.measure.number_lines import Axis, Bounds, FixedPoint, Position, Total
from fluid_build.profiling.profile import HistogramBin, Quantiles

Value = TypeVar("Value", Position, str)


@dataclass(frozen=True, slots=True)
class Ranked(Generic[Value]):
    """Values in ascending order; ``running`` counts the rows that have one up to each place."""

    values: Sequence[Value]
    running: Sequence[int]

    @property
    def count(self) -> int:
        """The rows that have a value."""
        return self.running[-1]

    def quantile(self, percent: int) -> Value:
        """Return the least value that so many percent of the rows don't exceed."""
        return self.values[bisect_left(self.running, -(-self.count * percent // 100))]

    def count_below(self, border: Value) -> int:
        """Return how many rows have a lesser value."""
        place = bisect_left(self.values, border)
        return self.running[place - 1] if place else 0


def rank(positions: Sequence[Position], counts: Sequence[int] | None = None) -> Ranked[Position]:
    """Rank values, of which each occurs once or as often as ``counts`` says."""
    if counts is None:
        return Ranked(sorted(positions), range(1, len(positions) + 1))
    order = sorted(range(len(positions)), key=positions.__getitem__)
    running = list(accumulate(map(counts.__getitem__, order)))
    return Ranked([positions[place] for place in order], running)


def finite_values(
    positions: Sequence[Position], counts: Sequence[int] | None = None
) -> tuple[Sequence[Position], Sequence[int] | None]:
    """Return values without infinity and NaN, each with its count if there are ``counts``."""
    if all(map(math.isfinite, positions)):
        return positions, counts
    places = [place for place, position in enumerate(positions) if math.isfinite(position)]
    kept = [positions[place] for place in places]
    return kept, None if counts is None else [counts[place] for place in places]


def add_up(positions: Sequence[Position], counts: Sequence[int] | None = None) -> Total:
    """Return the sum of finite values; of floats, rounded once, so that their order is no matter.

    It's a fraction where a float can't hold it.
    """
    terms = positions if counts is None else list(map(mul, positions, counts))
    if all(isinstance(term, int) for term in terms[:1]):
        return sum(terms)
    try:
        total = math.fsum(terms)
    except (OverflowError, ValueError):
        total = math.inf
    if math.isfinite(total):
        return total
    weights = counts or (1,) * len(positions)
    return sum(Fraction(value) * count for value, count in zip(positions, weights, strict=True))


def describe_positions(
    axis: Axis,
    positions: Sequence[Position],
    counts: Sequence[int] | None = None,
    bounds: Bounds | None = None,
) -> Distribution | None:
    """Describe values, of which each occurs once or as often as ``counts`` says.

    ``bounds`` are the least and greatest value if those of other rows may go further. None without
    a finite value.
    """
    if not isinstance(axis, FixedPoint):
        positions, counts = finite_values(positions, counts)
    if not positions:
        return None
    ranked = rank(positions, counts)
    ends = ranked.values[0], ranked.values[-1]
    low, high = _finite_bounds(bounds, ends)
    inner = axis.inner_borders((low, high))
    return Distribution(
        mean=axis.mean(add_up(positions, counts), ranked.count, ends),
        quantiles=_quantiles(ranked, axis.text),
        histogram=_histogram(ranked, inner, list(map(axis.text, (low, *inner, high)))),
    )


def describe_texts(axis: Axis, ranked: Ranked[str], total: int) -> Distribution:
    """Describe dates or times that sort as their text does; ``total`` adds up their positions."""
    low, high = ranked.values[0], ranked.values[-1]
    first, last = axis.positions((low, high))
    inner = list(map(axis.text, axis.inner_borders((first, last))))
    return Distribution(
        mean=axis.mean(total, ranked.count, (first, last)),
        quantiles=_quantiles(ranked, str),
        histogram=_histogram(ranked, inner, [low, *inner, high]),
    )


def _finite_bounds(bounds: Bounds | None, ends: Bounds) -> Bounds:
    """Return the bounds, each replaced by the end of the values if it's infinite or NaN."""
    low, high = bounds or ends
    return (low if math.isfinite(low) else ends[0], high if math.isfinite(high) else ends[1])


def _quantiles(ranked: Ranked[Value], spell: Callable[[Value], str]) -> Quantiles:
    p05, p25, p50, p75, p95 = (spell(ranked.quantile(percent)) for percent in (5, 25, 50, 75, 95))
    return Quantiles(p05=p05, p25=p25, p50=p50, p75=p75, p95=p95)


def _histogram(
    ranked: Ranked[Value], inner: Sequence[Value], texts: Sequence[str]
) -> tuple[HistogramBin, ...]:
    """Return the histogram with the given inner borders; ``texts`` are those of all borders."""
    below = [0, *map(ranked.count_below, inner), ranked.count]
    return _BINS.validate_python(
        [
            {"low": low, "high": high, "count": end - start}
            for (low, high), (start, end) in zip(pairwise(texts), pairwise(below), strict=True)
        ]
    )


_BINS = TypeAdapter(tuple[HistogramBin, ...])
"""Makes all bins of a histogram at once, in half the time."""
