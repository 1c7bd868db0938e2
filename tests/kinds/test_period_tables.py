"""Tables of a database for one period each, read and built by dbt as one."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from fluid_build.transform.dbt.running import run_dbt
from tests.postgres import PostgresDatabase
from tests.transform.dbt.opened_projects import Project, project_of

STATEMENTS = """
CREATE TABLE sales_2023 (id INTEGER, item VARCHAR(9), amount NUMERIC(5,1));
INSERT INTO sales_2023 VALUES (1, 'a', 1.5), (2, NULL, 2);
CREATE TABLE sales_2024 (id INTEGER, amount NUMERIC(9,2), item VARCHAR(9), channel VARCHAR(9));
INSERT INTO sales_2024 VALUES (1, 1.25, 'b', 'web'), (3, 7, 'c', NULL);
CREATE TABLE items (item VARCHAR(9));
INSERT INTO items VALUES ('a'), ('b'), ('c');
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a dbt project, which the process is in."""
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def _in_duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute(STATEMENTS)
    return str(folder / "shop.duckdb")


def _in_sqlite(folder: Path) -> str:
    with sqlite3.connect(folder / "shop.sqlite") as connection:
        connection.executescript(STATEMENTS)
    connection.close()
    return str(folder / "shop.sqlite")


def _in_a_dump(folder: Path) -> str:
    (folder / "shop.sql").write_text(STATEMENTS)
    return str(folder / "shop.sql")


def read_alike(made: Project) -> None:
    """Both tables are one for dbt, with the same rows as for the forge."""
    assert [source.table for source in made.plan.sources] == ["items", "sales"]
    assert made.differing("sales") == 0
    assert any("a new period isn't read before" in note for note in made.access.notes)


@pytest.mark.parametrize("write", [_in_duckdb, _in_sqlite])
def test_dbt_reads_tables_of_periods_as_one(
    tmp_path: Path, project: Path, write: Callable[[Path], str]
) -> None:
    """What they are read as is the same query."""
    with project_of(write(tmp_path), project) as made:
        read_alike(made)


def test_postgres_is_read_alike(postgres: PostgresDatabase, project: Path) -> None:
    """Through DuckDB's scanner."""
    postgres.run(STATEMENTS)
    with project_of(postgres.uri, project) as made:
        read_alike(made)


def test_tables_of_a_dump_are_one_copy(tmp_path: Path, project: Path) -> None:
    """Nothing else can read them."""
    with project_of(_in_a_dump(tmp_path), project) as made:
        assert sorted(copy.table.name for copy in made.access.copies) == ["items", "sales"]


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_in_the_postgres_that_has_the_tables(
    postgres: PostgresDatabase, project: Path
) -> None:
    """A model puts the tables together, since the database has no such table."""
    postgres.run(STATEMENTS)
    with project_of(postgres.uri, project, target="postgres") as made:
        assert (project / "models/staging/base/base_sales.sql").exists()
        assert any("sales_2023, sales_2024, one table" in note for note in made.access.notes)
        environment = {"PGHOST": str(postgres.folder), "PGDATABASE": postgres.name}
        result = run_dbt(project, environment=environment)
        assert result.ok and result.warnings == ()
        found = f"SELECT count(*), sum(amount) FROM {made.access.schema}.sales"
    assert postgres.run(found) == "4|11.75"
