"""Positions keep the order of values, and become the same text again."""

from datetime import date
from decimal import Decimal
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.measure.number_lines import (
    Axis,
    Days,
    FixedPoint,
    FloatingPoint,
    Moments,
    axis_of,
)

DAYS = st.integers(-2_000_000, 4_000_000)
"""From 3506 BC to the year 12921."""
WHOLE = st.integers(-(10**38), 10**38)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
CENTURY = 100 * 366 * 86_400


@given(DAYS)
def test_a_day_becomes_the_same_text_as_in_duckdb(day: int) -> None:
    with duckdb.connect() as connection:
        row = connection.execute(f"SELECT CAST(DATE '1970-01-01' + {day} AS VARCHAR)").fetchone()
    assert row == (Days().text(day),)
    assert Days().positions(row) == [day]


@given(
    st.sampled_from(
        [
            Moments(),
            Moments(zone="+00"),
            Moments(10**9),
            FixedPoint(),
            FixedPoint(2),
            FixedPoint(38),
            Days(),
        ]
    ),
    DAYS,
)
def test_a_position_survives_the_round_trip_through_text(axis: Axis, position: int) -> None:
    assert axis.positions([axis.text(position * 977)]) == [position * 977] or isinstance(axis, Days)
    assert axis.positions([axis.text(position)]) == [position]


@pytest.mark.parametrize(
    ("axis", "text", "position"),
    [
        (Moments(has_date=False), "24:00:00", 86_400_000_000),
        (Moments(), "1970-01-02 00:00:01.5", 86_401_500_000),
        (Moments(10**9), "1970-01-01 00:00:00.000000001", 1),
        (Moments(), "0001-01-01 (BC) 00:00:00", -62_167_219_200_000_000),
        (FixedPoint(2), "-0.05", -5),
    ],
)
def test_a_value_has_a_position(axis: Axis, text: str, position: int) -> None:
    assert axis.positions([text]) == [position]
    assert axis.text(position) == text


@pytest.mark.parametrize("type_name", ["BOOLEAN", "UUID", "VARCHAR", "BLOB", "INTEGER[]", "BIT"])
def test_other_types_have_no_axis(type_name: str) -> None:
    assert axis_of(type_name) is None


@given(WHOLE, st.integers(0, 2_000) | st.integers(0, 10**38))
def test_whole_borders_make_bins_of_equal_width(low: int, span: int) -> None:
    borders = FixedPoint().inner_borders((low, low + span))
    widths = [after - before for before, after in pairwise([low, *borders])]
    assert len(set(widths)) <= 1
    assert len(borders) < 24
    last = low + span - (borders[-1] if borders else low) + 1
    assert last <= max([*widths, span + 1 if not borders else 1])


@given(FLOATS, FLOATS)
def test_borders_of_floats_ascend_within_the_bounds(first: float, second: float) -> None:
    low, high = sorted((first, second))
    points = [low, *FloatingPoint().inner_borders((low, high)), high]
    assert all(before < after for before, after in pairwise(points[:-1]))
    assert low == high or all(before < after for before, after in pairwise(points))
    assert len(points) <= 21


@given(st.integers(-CENTURY, CENTURY), st.integers(0, CENTURY))
def test_borders_of_times_ascend_within_the_bounds(second: int, span: int) -> None:
    low, high = second * 10**6, (second + span) * 10**6
    points = [low, *Moments().inner_borders((low, high))]
    assert all(before < after for before, after in pairwise(points))
    assert points[-1] <= high
    assert len(points) <= 25


def test_bins_of_days_begin_at_midnight() -> None:
    axis = Moments()
    bounds = axis.positions(["2024-01-01 08:13:07", "2024-12-31 12:00:00"])
    borders = map(axis.text, axis.inner_borders((bounds[0], bounds[1])))
    assert all(border.endswith(" 00:00:00") for border in borders)


@pytest.mark.parametrize(
    ("axis", "total", "count", "bounds", "mean"),
    [
        (FixedPoint(), 10, 4, (1, 5), "2.5"),
        (FixedPoint(), 2, 3, (0, 1), "0.6666666667"),
        (FixedPoint(2), 1230, 1, (1230, 1230), "12.3"),
        (FixedPoint(), 3 * (2**64 - 1), 3, (0, 2**64), str(2**64 - 1)),
        (FloatingPoint(), 1.0, 3, (0.0, 1.0), "0.3333333333"),
        (FloatingPoint(), 0.3333333333333333, 1, (0.3333333333333333,) * 2, "0.3333333333333333"),
        (Days(), date(2024, 1, 1).toordinal() * 2 - 2 * 719_163 + 1, 2, (0, 10**6), "2024-01-01"),
        (Moments(), 1_500_000, 1, (0, 10**9), "1970-01-01 00:00:01"),
        (Moments(), 1_500_000, 1, (10**6, 2 * 10**6), "1970-01-01 00:00:01.5"),
    ],
)
def test_a_mean_has_as_many_digits_as_it_needs(
    axis: Axis, total: int | float, count: int, bounds: tuple[int, int], mean: str
) -> None:
    assert axis.mean(total, count, bounds) == mean


@given(st.lists(WHOLE, min_size=1, max_size=9), st.integers(0, 38))
def test_a_mean_is_between_the_bounds(values: list[int], digits: int) -> None:
    axis, bounds = FixedPoint(digits), (min(values), max(values))
    mean = Decimal(axis.mean(sum(values), len(values), bounds))
    assert Decimal(axis.text(bounds[0])) <= mean <= Decimal(axis.text(bounds[1]))
