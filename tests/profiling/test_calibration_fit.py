"""Tables are fitted to judged pairs, and scored by how far they are from the truth."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.calibrate import calibration_json
from bench.keys.fitting import fit_calibration
from bench.keys.judged_pairs import JudgedPair, bins, expected_calibration_error
from fluid_build.profiling.choose.calibration import read_calibration

PAIRS = st.lists(
    st.builds(
        JudgedPair,
        database=st.sampled_from(["a", "b", "c"]),
        role=st.sampled_from(["single", "ruled_out"]),
        confidence=st.floats(0.0, 1.0),
        is_true=st.booleans(),
    ),
    min_size=1,
)


def _drawn(share: float, confidence: float, count: int = 300) -> list[JudgedPair]:
    """Pairs of one confidence of which a share is true, in ten databases."""
    return [
        JudgedPair(f"d{i % 10}", "single", confidence, is_true=i < share * count)
        for i in random.Random(1).sample(range(count), count)
    ]


@given(PAIRS)
def test_a_table_ascends_and_is_never_certain(pairs: list[JudgedPair]) -> None:
    """Whatever the pairs, probabilities don't fall with the log odds."""
    for table in fit_calibration(pairs).tables.values():
        assert len(table) <= 15
        for (low, low_share), (high, high_share) in pairwise(table):
            assert low < high
            assert 0.0 < low_share <= high_share < 1.0


def test_a_table_has_the_share_of_true_pairs() -> None:
    """Judgements of one log odds get the share of them that is right."""
    pairs = [*_drawn(0.2, 0.4), *_drawn(0.9, 0.7)]
    calibration = fit_calibration(pairs)
    assert calibration.confidence("single", pairs[0].log_odds) == pytest.approx(0.2, abs=0.1)
    assert calibration.confidence("single", pairs[-1].log_odds) == pytest.approx(0.9, abs=0.1)


def test_a_fit_is_the_same_every_time() -> None:
    """The order of the pairs doesn't matter."""
    pairs = [*_drawn(0.2, 0.4), *_drawn(0.9, 0.7)]
    assert fit_calibration(pairs) == fit_calibration(pairs[::-1])


def test_stored_tables_are_read_as_they_were_fitted() -> None:
    """Writing and reading changes nothing."""
    calibration = fit_calibration([*_drawn(0.2, 0.4), *_drawn(0.9, 0.7)])
    assert read_calibration(calibration_json(calibration)) == calibration


def test_the_error_is_the_mean_distance_of_stated_and_true_shares() -> None:
    """Each bin counts by its pairs."""
    pairs = [*_drawn(0.5, 0.95, 300), *_drawn(0.1, 0.1, 100)]
    assert expected_calibration_error(pairs) == pytest.approx(0.75 * 0.45)
    assert [each.pairs for each in bins(pairs) if each.pairs] == [100, 300]
