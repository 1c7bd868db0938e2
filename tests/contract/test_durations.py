"""Durations of ISO 8601, counted back from a moment."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.durations import age_text, moment_before

MOMENTS = st.datetimes(datetime(1980, 1, 1), datetime(2080, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("day", "duration", "expected"),
    [
        ("2024-03-31", "P1M", "2024-02-29"),
        ("2023-03-29", "P1M", "2023-02-28"),
        ("2024-05-31", "P1M", "2024-04-30"),
        ("2024-05-30", "P1M", "2024-04-30"),
        ("2024-02-29", "P1Y", "2023-02-28"),
        ("2024-01-15", "P1M", "2023-12-15"),
        ("2024-01-01", "P1D", "2023-12-31"),
        ("2024-01-15", "P2W", "2024-01-01"),
    ],
)
def test_a_month_before_is_of_the_calendar(day: str, duration: str, expected: str) -> None:
    """Where that month is shorter, it's its last day."""
    moment = moment_before(datetime.fromisoformat(day), duration)
    assert moment == datetime.fromisoformat(expected)


@given(MOMENTS, st.integers(0, 48))
def test_months_before_fall_into_the_month_that_is_so_many_before(
    moment: datetime, months: int
) -> None:
    before = moment_before(moment, f"P{months}M")
    assert before is not None
    assert (before.year * 12 + before.month) + months == moment.year * 12 + moment.month
    assert before.day == moment.day or (before + timedelta(days=1)).day == 1


@pytest.mark.parametrize("text", ["1D", "P1H", "PT1D", "P-1D", "P1D "])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        moment_before(datetime(2024, 1, 1), text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "less than a minute old"), (59, "less than a minute old"), (60, "1 minute old"),
        (3_599, "59 minutes old"), (3_600, "1 hour old"), (86_399, "23 hours old"),
        (86_400, "1 day old"), (172_799, "1 day old"), (172_800, "2 days old"),
    ],
)  # fmt: skip
def test_an_age_is_in_its_largest_unit_rounded_down(seconds: int, text: str) -> None:
    assert age_text(timedelta(seconds=seconds)) == text
