"""Levels that another column changes from row to row."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.observations.observe import observe
from fluid_build.observations.running_levels import RunningLevel
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_ACCOUNTS = "CREATE TABLE account AS SELECT i AS id, 'A' || i AS name FROM range(8) AS t(i)"
_ENTRIES = """
CREATE TABLE entry AS
WITH moves AS (
  SELECT i AS id, i % 8 AS account_id, DATE '2024-01-01' + CAST(i AS INTEGER) AS booked,
    CAST((i * 37 % 101) - 50 + 0.5 AS DECIMAL(9,2)) AS moved
  FROM range(160) AS t(i)
)
SELECT id, account_id, booked, {columns} FROM moves
"""
_BALANCE = "sum(moved) OVER (PARTITION BY account_id ORDER BY id)"


def _levels(folder: Path, columns: str) -> list[RunningLevel]:
    database = folder / "bank.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(_ACCOUNTS)
        connection.execute("ALTER TABLE account ADD PRIMARY KEY (id)")
        connection.execute(_ENTRIES.format(columns=columns))
    with open_source(str(database)) as source:
        return list(observe(source, profile_source(source)).running_levels)


@pytest.mark.parametrize("movement", ["moved", "abs(moved)"], ids=["signed", "unsigned"])
def test_a_balance_changes_by_the_movement_of_its_row(tmp_path: Path, movement: str) -> None:
    """Each account has a balance of its own; a payment may be written without its sign."""
    columns = f"CAST({movement} AS DECIMAL(9,2)) AS paid, CAST({_BALANCE} AS DECIMAL(9,2)) AS after"
    (level,) = _levels(tmp_path, columns)
    assert (level.level, level.movement, level.member) == ("after", "paid", "account_id")
    assert (level.rows, level.matches) == (152, 152)


def test_numbers_that_dont_move_each_other_are_no_levels(tmp_path: Path) -> None:
    assert _levels(tmp_path, "moved, CAST(id * 53 % 97 + 0.25 AS DECIMAL(9,2)) AS other") == []
