"""Moments whose times say something, and those whose times are a batch's or none."""

from pathlib import Path

import pytest

from fluid_build.observations.times_of_day import TimesOfDay
from tests.observations.sources import observed


def times(path: Path, moment: str, type_: str = "TIMESTAMP") -> tuple[TimesOfDay, ...]:
    """What is observed of 600 rows, whose moment is that SQL of the row's number i."""
    table = (
        "CREATE TABLE sale AS"
        f" SELECT i AS id, CAST({moment} AS {type_}) AS sold_at FROM range(600) rows(i)"
    )
    return observed(path, table).times_of_day


def test_times_spread_over_the_day_say_something(tmp_path: Path) -> None:
    moment = "TIMESTAMP '2024-01-01 08:00' + (i % 10) * INTERVAL 1 HOUR + i * INTERVAL 1 MINUTE"
    (found,) = times(tmp_path, moment)
    assert (found.table, found.column) == ("sale", "sold_at")
    assert found.minutes == 600 and found.hours == 19


def test_times_are_read_of_text(tmp_path: Path) -> None:
    moment = "strftime(TIMESTAMP '2024-01-01' + i * INTERVAL 37 MINUTE, '%Y-%m-%d %H:%M:%S')"
    (found,) = times(tmp_path, moment, "VARCHAR")
    assert found.hours == 24


@pytest.mark.parametrize(
    "moment",
    [
        "TIMESTAMP '2024-01-01' + i * INTERVAL 1 DAY",
        "TIMESTAMP '2024-01-01 03:15' + i * INTERVAL 1 DAY",
        # A batch of three hours, each night.
        "TIMESTAMP '2024-01-01 01:00' + i * INTERVAL 1 DAY + (i % 180) * INTERVAL 1 MINUTE",
        # A job on each full hour.
        "TIMESTAMP '2024-01-01' + i * INTERVAL 1 HOUR",
        # Most rows have only a day.
        "TIMESTAMP '2024-01-01' + CASE WHEN i % 3 = 0 THEN i ELSE 0 END * INTERVAL 37 MINUTE",
        "'infinity'",
        "NULL",
    ],
    ids=["midnight", "one time", "night", "full hours", "mostly midnight", "infinite", "null"],
)
def test_times_of_batches_and_of_days_say_nothing(tmp_path: Path, moment: str) -> None:
    assert times(tmp_path, moment) == ()
