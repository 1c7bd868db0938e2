"""Failed queries: those that say nothing about the source, and those that must be reported."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import SourceUnreadableError
from fluid_build.observations.observe import observe
from fluid_build.observations.observed_tables import unless_unreadable
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

BOOKINGS = """
    SELECT i AS booking_id, i % 97 AS room_id, i % 89 AS guest_id,
      TIMESTAMP '2024-01-01' + to_seconds(i * 7) AS booked_at,
      TIMESTAMP '2024-01-01' + to_seconds(i * 7) AS created_at
    FROM range(1000) AS t(i)
"""


def test_a_query_that_the_types_do_not_support_leaves_the_observation_out() -> None:
    results = []
    with duckdb.connect() as connection, unless_unreadable():
        results.append(connection.execute("SELECT CAST('x' AS INTEGER)").fetchall())
    assert not results


def test_a_file_that_vanished_after_profiling_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "bookings.parquet"
    duckdb.sql(BOOKINGS).write_parquet(str(file))
    with open_source(str(tmp_path)) as source:
        profile = profile_source(source)
        file.unlink()
        with pytest.raises(SourceUnreadableError, match=r"Reading .* failed"):
            observe(source, profile)


def test_too_little_memory_is_reported_with_the_way_to_raise_it(tmp_path: Path) -> None:
    database = tmp_path / "hotel.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE bookings AS {BOOKINGS.replace('1000', '200000')}")
    with open_source(str(database)) as source:
        profile = profile_source(source)
        source.connection.execute("SET memory_limit = '1MB'")
        with pytest.raises(SourceUnreadableError, match="memory limit") as raised:
            observe(source, profile)
    assert "FLUID_MEMORY_LIMIT" in (raised.value.hint or "")
