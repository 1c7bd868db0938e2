"""Columns that say the same moment twice."""

from pathlib import Path

import duckdb

from fluid_build.observations.observe import observe
from fluid_build.observations.observed import Observations
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
