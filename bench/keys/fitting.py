"""The tables of the calibration, fitted to judged pairs of databases with known keys.

Isotonic regression (pool adjacent violators) of the share of true pairs over log odds: once for
each fold of databases, without that fold, and then the mean. A fold holds whole databases, since
the pairs of one database are right or wrong together.
"""

import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bench.keys.judged_pairs import JudgedPair
from fluid_build.profiling.choose.calibration import Calibration, Role, Table

_FOLDS = 10
_SEED = 10
_MOST_WEIGHT = 60.0
"""Pairs that one database counts as at most: a large schema repeats its habits."""
_LEAST_WEIGHT = 15.0
"""Pairs of a block at least: fewer say too little about a share."""
_GRID = [step / 2 for step in range(-12, 17)]
"""Log odds from -6 to 8 in steps of a half; beyond, confidences hardly differ."""
_MOST_POINTS = 14
_TOLERANCE = 0.004
"""What a dropped point of a table may differ from the line between its neighbours."""


@dataclass
class _Block:
    """Pairs that get one confidence: their weight, that of the true ones, their mean log odds."""

    weight: float
    true: float
    log_odds: float

    @property
    def share(self) -> float:
        """The share of true pairs with half a true and half a wrong pair more: never 0 or 1."""
        return (self.true + 0.5) / (self.weight + 1.0)

    def merge(self, other: "_Block") -> "_Block":
        weight = self.weight + other.weight
        centre = (self.weight * self.log_odds + other.weight * other.log_odds) / weight
        return _Block(weight, self.true + other.true, centre)


def fit_calibration(pairs: Sequence[JudgedPair]) -> Calibration:
    """Return a table for each role that has pairs."""
    by_role: dict[Role, list[JudgedPair]] = defaultdict(list)
    for pair in pairs:
        by_role[pair.role].append(pair)
    return Calibration({role: _fit_table(group) for role, group in sorted(by_role.items())})


def _fit_table(pairs: Sequence[JudgedPair]) -> Table:
    databases = sorted({pair.database for pair in pairs})
    random.Random(_SEED).shuffle(databases)
    folds = [set(databases[fold::_FOLDS]) for fold in range(min(_FOLDS, len(databases)))]
    curves = [
        _curve([pair for pair in pairs if pair.database not in fold] or pairs) for fold in folds
    ]
    shares = [sum(curve[index] for curve in curves) / len(curves) for index in range(len(_GRID))]
    return _simplify(list(zip(_GRID, shares, strict=True)))


def _curve(pairs: Sequence[JudgedPair]) -> list[float]:
    """Return the fitted shares on the grid."""
    counts = Counter(pair.database for pair in pairs)
    blocks: dict[float, _Block] = {}
    for pair in pairs:
        weight = min(1.0, _MOST_WEIGHT / counts[pair.database])
        log_odds = round(pair.log_odds, 2)
        block = _Block(weight, weight * pair.is_true, log_odds)
        blocks[log_odds] = blocks[log_odds].merge(block) if log_odds in blocks else block
    pooled = _pool(_with_least_weight([blocks[log_odds] for log_odds in sorted(blocks)]))
    return [_interpolate(pooled, log_odds) for log_odds in _GRID]


def _with_least_weight(blocks: Sequence[_Block]) -> list[_Block]:
    """Merge neighbours until each block weighs enough."""
    merged: list[_Block] = []
    for block in blocks:
        if merged and merged[-1].weight < _LEAST_WEIGHT:
            merged[-1] = merged[-1].merge(block)
        else:
            merged.append(block)
    if len(merged) > 1 and merged[-1].weight < _LEAST_WEIGHT:
        last = merged.pop()
        merged[-1] = merged[-1].merge(last)
    return merged


def _pool(blocks: Sequence[_Block]) -> list[_Block]:
    """Merge neighbours until the shares ascend."""
    pooled: list[_Block] = []
    for block in blocks:
        pooled.append(block)
        while len(pooled) > 1 and pooled[-2].share >= pooled[-1].share:
            last = pooled.pop()
            pooled[-1] = pooled[-1].merge(last)
    return pooled


def _interpolate(blocks: Sequence[_Block], log_odds: float) -> float:
    index = bisect_right(blocks, log_odds, key=lambda block: block.log_odds)
    if index in {0, len(blocks)}:
        return blocks[max(index - 1, 0)].share
    low, high = blocks[index - 1], blocks[index]
    part = (log_odds - low.log_odds) / (high.log_odds - low.log_odds)
    return low.share + part * (high.share - low.share)


def _simplify(points: list[tuple[float, float]]) -> Table:
    """Drop the points that differ least from the line between their neighbours."""
    points = list(points)
    while len(points) > 2:
        distances = [
            abs(_between(left, right, middle[0]) - middle[1])
            for left, middle, right in zip(points, points[1:], points[2:], strict=False)
        ]
        least = min(range(len(distances)), key=distances.__getitem__)
        if distances[least] > _TOLERANCE and len(points) <= _MOST_POINTS:
            break
        del points[least + 1]
    return tuple((odds, round(share, 3)) for odds, share in points)


def _between(left: tuple[float, float], right: tuple[float, float], log_odds: float) -> float:
    part = (log_odds - left[0]) / (right[0] - left[0])
    return left[1] + part * (right[1] - left[1])
