from fluid_build.report.layout.channels import Riser, assign_tracks


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
