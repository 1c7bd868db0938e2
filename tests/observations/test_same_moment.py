"""Columns that say the same moment twice."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.observations.observe import Observations, observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source


def _observed(folder: Path, *statements: str) -> Observations:
    database = folder / "events.duckdb"
    with duckdb.connect(str(database)) as connection:
        for statement in statements:
            connection.execute(statement)
    with open_source(str(database)) as source:
        return observe(source, profile_source(source))


def test_a_date_that_has_the_day_of_a_timestamp_says_the_same_moment(tmp_path: Path) -> None:
    """The pair is observed with the count of its rows."""
    observed = _observed(
        tmp_path,
        """
        CREATE TABLE visit AS
        SELECT i AS id, TIMESTAMP '2024-01-01 08:00' + INTERVAL (i) HOUR AS admitted,
          CAST(admitted AS DATE) AS admission_day
        FROM range(100) AS t(i)
        """,
    )
    (pair,) = observed.same_moments
    assert (pair.date, pair.timestamp, pair.rows) == ("admission_day", "admitted", 100)


def test_a_date_that_differs_once_is_another_moment(tmp_path: Path) -> None:
    """A single row with another day is enough."""
    observed = _observed(
        tmp_path,
        """
        CREATE TABLE visit AS
        SELECT i AS id, TIMESTAMP '2024-01-01 08:00' + INTERVAL (i) HOUR AS admitted,
          CAST(admitted AS DATE) + CAST(i = 50 AS INTEGER) AS planned_day
        FROM range(100) AS t(i)
        """,
    )
    assert observed.same_moments == ()


def _pairs(observed: Observations) -> list[tuple[str, str]]:
    return [(pair.date, pair.timestamp) for pair in observed.same_moments]


def test_a_day_written_as_a_timestamp_says_the_same_moment_where_the_time_isnt_known(
    tmp_path: Path,
) -> None:
    """The names agree but for the words for day and time."""
    observed = _observed(
        tmp_path,
        """
        CREATE TABLE measurement AS
        SELECT i AS id, TIMESTAMP '2024-01-01' + INTERVAL (i) DAY AS chartdate,
          CASE WHEN i % 3 > 0 THEN chartdate + INTERVAL 9 HOUR END AS charttime
        FROM range(10) AS t(i)
        """,
    )
    assert _pairs(observed) == [("chartdate", "charttime")]


def test_what_is_filled_in_later_on_the_same_day_is_another_moment(tmp_path: Path) -> None:
    """Orders that are shipped within a day are still ordered and shipped."""
    observed = _observed(
        tmp_path,
        """
        CREATE TABLE orders AS
        SELECT i AS id, DATE '2024-01-01' + CAST(i AS INTEGER) AS ordered,
          CASE WHEN i < 90 THEN ordered + INTERVAL 9 HOUR END AS shipped
        FROM range(100) AS t(i)
        """,
    )
    assert observed.same_moments == ()


def test_a_moment_in_two_time_zones_is_one(tmp_path: Path) -> None:
    """In summer the clock is put forward by an hour."""
    observed = _observed(
        tmp_path,
        """
        CREATE TABLE reading AS
        SELECT i AS id, TIMESTAMP '2024-01-01 08:00' + INTERVAL (i) DAY AS read_utc,
          read_utc + CASE WHEN i > 80 THEN INTERVAL 2 HOUR ELSE INTERVAL 1 HOUR END AS read_local,
          read_utc + INTERVAL 1 HOUR AS sent
        FROM range(100) AS t(i)
        """,
    )
    assert [(twin.column, twin.twin) for twin in observed.twin_moments] == [
        ("read_utc", "read_local")
    ]


def test_two_events_that_share_their_day_in_a_few_rows_are_two(tmp_path: Path) -> None:
    """In twenty rows it's no accident."""
    table = """
        CREATE TABLE bill_{rows} AS
        SELECT i AS id, DATE '2024-01-01' + CAST(i AS INTEGER) AS billed, billed AS paid
        FROM range({rows}) AS t(i)
    """
    observed = _observed(tmp_path, table.format(rows=19), table.format(rows=20))
    assert [twin.table for twin in observed.twin_moments] == ["bill_20"]


@pytest.mark.parametrize(
    ("summer", "winter", "is_zone"),
    [
        ("2 HOUR", "1 HOUR", True),
        ("-4 HOUR", "-5 HOUR", True),
        ("1 HOUR", "1 HOUR", True),
        ("3 HOUR", "1 HOUR", False),
        ("90 MINUTE", "60 MINUTE", False),
        ("2 HOUR", "1 MINUTE", False),
    ],
)
def test_only_a_clock_that_is_put_forward_by_an_hour_is_of_another_zone(
    tmp_path: Path, summer: str, winter: str, is_zone: bool
) -> None:
    observed = _observed(
        tmp_path,
        f"""
        CREATE TABLE reading AS
        SELECT i AS id, TIMESTAMP '2024-01-01 08:00' + INTERVAL (i) DAY AS read_utc,
          read_utc + CASE WHEN i > 80 THEN INTERVAL '{summer}' ELSE INTERVAL '{winter}' END
            AS read_local
        FROM range(100) AS t(i)
        """,
    )
    assert bool(observed.twin_moments) is is_zone
