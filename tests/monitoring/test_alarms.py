"""What is unusual in a night's figures, and what isn't."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.monitoring.alarms import Figure
from fluid_build.monitoring.usual import FIRST_NIGHTS, NEW_LEVEL
from tests.monitoring.nights import night, watched


def figures_of_last(found: list) -> list[Figure]:
    return [alarm.figure for alarm in found[-1]]


@given(
    start=st.integers(0, 10**9),
    week=st.lists(st.integers(0, 50_000), min_size=7, max_size=7),
    distinct=st.integers(0, 10**6),
)
def test_what_repeats_each_week_is_usual(start: int, week: list[int], distinct: int) -> None:
    """Whatever its rhythm: a table that grows by the same rows each Monday, each Tuesday, ..."""
    rows = start
    nights = []
    for number in range(35):
        nights.append(night(number, rows, distinct=distinct))
        rows += week[number % 7]
    assert not any(watched(nights)[2 * FIRST_NIGHTS + 1 :])


@given(rows=st.integers(0, 10**7), jump=st.integers(2, 1_000))
def test_the_first_week_is_silent(rows: int, jump: int) -> None:
    nights = [night(number, rows * (1 + jump * (number % 2))) for number in range(FIRST_NIGHTS)]
    assert not any(watched(nights))


@given(
    step=st.integers(50, 20_000),
    noise=st.floats(0, 0.2),
    seed=st.integers(0, 999),
    times=st.sampled_from([0.0, 2.5, 10.0]),
)
def test_a_night_without_rows_or_with_twice_as_many_is_found(
    step: int, noise: float, seed: int, times: float
) -> None:
    """However large the table is that they are added to."""
    draw = random.Random(seed)
    rows, nights = 10**6, []
    for number in range(40):
        nights.append(night(number, rows))
        rows += round(step * (1 + draw.uniform(-noise, noise)))
    rows = nights[-1].source.rows + round(step * times)
    nights.append(night(40, rows))
    assert Figure.ROWS in figures_of_last(watched(nights))


@pytest.mark.parametrize(
    ("figure", "changed"),
    [
        (Figure.NULLS, {"nulls": 400}),
        (Figure.ORPHANS, {"orphans": 400}),
        (Figure.DISTINCT, {"distinct": 2}),
        (Figure.DISTINCT, {"distinct": 40}),
        (Figure.HIGH, {"high": 90_000.0}),
        (Figure.LATENESS, {"late_hours": 28.0}),
    ],
)
def test_each_figure_is_watched_by_itself(figure: Figure, changed: dict[str, float]) -> None:
    usual = {"nulls": 20, "orphans": 10, "distinct": 12, "high": 900.0, "late_hours": 4.0}
    nights = [night(number, 5_000, **usual) for number in range(20)]
    nights.append(night(20, 5_000, **{**usual, **changed}))
    assert figures_of_last(watched(nights)) == [figure]


@pytest.mark.parametrize("better", [{"nulls": 0}, {"orphans": 0}, {"late_hours": 0.1}])
def test_less_of_what_is_bad_is_no_alarm(better: dict[str, float]) -> None:
    usual = {"nulls": 2_000, "orphans": 1_000, "late_hours": 50.0}
    nights = [night(number, 5_000, **usual) for number in range(20)]
    nights.append(night(20, 5_000, **{**usual, **better}))
    assert not watched(nights)[-1]


def test_a_level_that_stays_is_the_usual_one_from_then_on() -> None:
    nights = [night(number, 5_000, nulls=10) for number in range(20)]
    nights += [night(number, 5_000, nulls=900) for number in range(20, 30)]
    alarms = [len(each) for each in watched(nights)[20:]]
    assert alarms == [1] * NEW_LEVEL + [0] * (10 - NEW_LEVEL)


def test_rows_that_came_twice_are_told_once() -> None:
    """They stay in the table, and the next nights are as usual."""
    rows = [1_000 * number for number in range(20)]
    rows += [rows[-1] + 3_000 + 1_000 * number for number in range(5)]
    alarms = [len(each) for each in watched([night(n, count) for n, count in enumerate(rows)])]
    assert alarms == [0] * 20 + [1] + [0] * 4


def test_the_end_of_a_month_is_unusual_only_once() -> None:
    rows, nights = 0, []
    for number in range(120):
        each = night(number, rows)
        last = (each.moment.month, 32) != (night(number + 1, 0).moment.month, 32)
        rows += 8_000 if last else 1_000
        nights.append(night(number, rows))
    assert [len(each) for each in watched(nights)].count(1) == 1


def test_an_alarm_says_what_was_expected() -> None:
    nights = [night(number, 1_000 * number) for number in range(20)]
    nights.append(night(20, 19_000))
    (alarm,) = watched(nights)[-1]
    assert str(alarm) == "orders: 19,000 rows, expected 19,500 to 20,500."
