"""What identifies rows that the source only numbers."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.observations.observe import observe
from fluid_build.observations.row_identities import RowIdentity
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_FIGURES = """
    CREATE TABLE account (id INTEGER PRIMARY KEY, name VARCHAR);
    CREATE TABLE branch (id INTEGER PRIMARY KEY, name VARCHAR);
    CREATE TABLE figure (id INTEGER PRIMARY KEY, day DATE NOT NULL,
      account_id INTEGER NOT NULL REFERENCES account, branch_id INTEGER NOT NULL REFERENCES branch,
      amount DOUBLE);
    INSERT INTO account SELECT i, 'a' || i FROM range(20) AS t(i);
    INSERT INTO branch SELECT i, 'b' || i FROM range(6) AS t(i);
    INSERT INTO figure SELECT row_number() OVER (), DATE '2024-01-31' + 30 * m::INTEGER, a, b, m + a
    FROM range(6) AS t(m), range(20) AS u(a), range(6) AS v(b)
"""


def _identities(folder: Path, *more: str) -> tuple[RowIdentity, ...]:
    database = folder / "figures.duckdb"
    with duckdb.connect(str(database)) as connection:
        for statement in (_FIGURES, *more):
            connection.execute(statement)
    with open_source(str(database)) as source:
        return observe(source, profile_source(source)).row_identities


def test_a_day_and_what_the_figures_are_of_identify_a_row(tmp_path: Path) -> None:
    assert _identities(tmp_path) == (RowIdentity("figure", ("day", "account_id", "branch_id")),)


def test_two_rows_of_one_day_and_account_have_no_other_identity(tmp_path: Path) -> None:
    again = "INSERT INTO figure SELECT 9999, day, account_id, branch_id, 0 FROM figure LIMIT 1"
    assert _identities(tmp_path, again) == ()


def test_a_table_of_too_many_rows_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fluid_build.observations.row_identities._MOST_ROWS", 719)
    assert _identities(tmp_path) == ()
