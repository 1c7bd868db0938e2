from collections import defaultdict
from itertools import pairwise

import pytest

from fluid_build.report.layout.channels import CLEARANCE, Riser, assign_tracks
from fluid_build.report.layout.heights import sweeps_of


def test_lines_down_are_nested_so_that_they_dont_cross() -> None:
    upper = Riser("upper", [(0.0, 1)], [(100.0, 1)])
    lower = Riser("lower", [(50.0, 1)], [(150.0, 1)])

    assert assign_tracks([upper, lower])[1] == 2
    assert lower.track < upper.track


def test_risers_that_dont_meet_share_a_track() -> None:
    risers = [Riser("upper", [(0.0, 1)], [(50.0, 1)]), Riser("lower", [(80.0, 1)], [(120.0, 1)])]

    assert assign_tracks(risers)[1] == 1


def test_lines_that_swap_heights_get_a_second_riser() -> None:
    risers = [Riser("down", [(0.0, 1)], [(60.0, 1)]), Riser("up", [(60.0, 1)], [(0.0, 1)])]

    strands, tracks = assign_tracks(risers)

    assert sorted(map(len, strands)) == [1, 2]
    assert tracks == 3


@pytest.mark.parametrize(("count", "is_ordered"), [(300, True), (301, False)])
def test_only_so_many_risers_are_ordered(count: int, is_ordered: bool) -> None:
    risers = [Riser(i, [(i * 10.0, 1)], [(i * 10.0 + 25.0, 1)]) for i in range(count)]

    strands, tracks = assign_tracks(risers)

    assert strands == [[riser] for riser in risers]
    assert (tracks == count) is is_ordered
    assert (risers[1].track < risers[0].track) is is_ordered
    runs = defaultdict(list)
    for riser in risers:
        runs[riser.track].append((riser.top, riser.bottom))
    for track in runs.values():
        assert all(upper[1] + CLEARANCE <= lower[0] for upper, lower in pairwise(sorted(track)))


@pytest.mark.parametrize(("lines", "sweeps"), [(5_000, 14), (5_001, 8), (20_000, 8), (20_001, 2)])
def test_the_more_lines_the_fewer_sweeps(lines: int, sweeps: int) -> None:
    assert sweeps_of(lines) == sweeps
