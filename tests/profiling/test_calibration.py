"""A table says how often judgements of some log odds are right."""

import math
from itertools import pairwise

import pytest

from fluid_build.profiling.choose.calibration import CALIBRATION, Calibration, read_calibration

TWO_STEPS = read_calibration('{"single": [[-1, 0.1], [1, 0.5], [2, 0.9]]}')


@pytest.mark.parametrize(
    ("log_odds", "confidence"),
    [(-9, 0.1), (-1, 0.1), (0, 0.3), (1, 0.5), (1.5, 0.7), (2, 0.9), (9, 0.9)],
)
def test_confidence_is_interpolated_between_points(log_odds: float, confidence: float) -> None:
    """Beyond the first and the last point, it stays what it is there."""
    assert TWO_STEPS.confidence("single", log_odds) == pytest.approx(confidence)


def test_a_role_without_a_table_is_taken_at_its_word() -> None:
    """Log odds become the probability that they mean."""
    assert Calibration({}).confidence("single", 2.0) == pytest.approx(1 / (1 + math.exp(-2.0)))


def test_the_fitted_tables_are_monotone_and_small() -> None:
    """A more credible reference never gets a lower confidence, and none is certain."""
    for table in CALIBRATION.tables.values():
        assert 1 < len(table) <= 15
        for (low, low_share), (high, high_share) in pairwise(table):
            assert low < high
            assert 0.0 < low_share <= high_share < 1.0
