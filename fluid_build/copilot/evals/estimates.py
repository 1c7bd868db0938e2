"""Means with their confidence intervals.

Trials of one case resemble each other, so the interval is over the means of the cases, which are
drawn independently: how well would it do on other cases like these? A single case is judged by its
trials. Scores from 0 to 1 have Wilson's interval, which doesn't call ten successes in a row certain
nor leave the range, with the number of independent answers that the values vary like (E. L. Korn
and B. I. Graubard, 1998). Other scores, and changes, have Student's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, variance

from pydantic import BaseModel, ConfigDict

_Z = NormalDist().inv_cdf(0.975)
_T_OF_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t for 95 % with 1 to 10 degrees of freedom; for more, a series is exact enough."""


class Estimate(BaseModel):
    """A mean and the bounds of its 95 % confidence interval, None where nothing tells them.

    ``count`` is how many cases they rest on, or how many trials of a single one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean: float
    low: float | None
    high: float | None
    count: int

    def __str__(self) -> str:
        """The figures: ``0.85 [0.71, 0.93]``."""
        bounds = "" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.mean:.2f}{bounds}"


def estimate(scores: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean of cases that each have the scores of their trials."""
    values = [fmean(each) for each in scores] if len(scores) > 1 else list(scores[0])
    return _of_shares(values) if all(0 <= value <= 1 for value in values) else _of_means(values)


def estimate_change(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Return the mean of the changes of paired cases."""
    return _of_means([new - old for old, new in zip(before, after, strict=True)])


def _of_means(values: Sequence[float]) -> Estimate:
    mean, count = fmean(values), len(values)
    if count < 2:
        return Estimate(mean=mean, low=None, high=None, count=count)
    margin = _t(count - 1) * math.sqrt(variance(values) / count)
    return Estimate(mean=mean, low=mean - margin, high=mean + margin, count=count)


def _of_shares(values: Sequence[float]) -> Estimate:
    """Return the mean of values from 0 to 1."""
    mean, count = fmean(values), len(values)
    spread = variance(values) / count if count > 1 else 0.0
    quantile, answers = _Z, float(count)
    if spread > 0:
        quantile, answers = _t(count - 1), max(answers, mean * (1 - mean) / spread)
    middle = mean + quantile**2 / (2 * answers)
    margin = quantile * math.sqrt(mean * (1 - mean) / answers + (quantile / (2 * answers)) ** 2)
    scale = 1 + quantile**2 / answers
    low, high = max(0.0, (middle - margin) / scale), min(1.0, (middle + margin) / scale)
    return Estimate(mean=mean, low=low, high=high, count=count)


def _t(freedom: int) -> float:
    """Return Student's t for a 95 % interval (the first terms of Fisher's series)."""
    if freedom <= len(_T_OF_FEW):
        return _T_OF_FEW[freedom - 1]
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    return _Z + first / freedom + second / freedom**2
