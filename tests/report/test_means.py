"""Means as they're shown to readers."""

import pytest

from fluid_build.report.means import shorten_number


@pytest.mark.parametrize(
    ("mean", "shown"),
    [
        ("6993.146933", "6993.15"),
        ("1.552621938", "1.55262"),
        ("0.000123456789", "0.000123457"),
        ("-239.8032776", "-239.803"),
        ("12345678.91", "12345679"),
        ("60.50", "60.5"),
        ("36935", "36935"),
        ("0.0", "0"),
        ("12345678901234567890123456789012345.678", "12345678901234567890123456789012346"),
        ("0.12345678901234567890123456789012345678", "0.123457"),
        ("2023-09-25 07:39:35.25", "2023-09-25 07:39:35.25"),
    ],
)
def test_a_mean_is_shown_with_six_digits(mean: str, shown: str) -> None:
    assert shorten_number(mean) == shown
