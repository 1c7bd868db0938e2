"""What a load of the whole project leaves as it was: what dbt has parsed, and the history."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from fluid_build.transform.dbt.loading_macros import LOAD_DATE_VARIABLE
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import duckdb_access, written

CUSTOMERS = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR)",
    "INSERT INTO customer SELECT i + 100, 'Name ' || i, 'Town ' || (i % 5) FROM range(40) AS t(i)",
)
ONE_IS_GONE = "DELETE FROM customer WHERE id = 107"


@pytest.fixture(scope="module")
def project(dbt: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of a table, loaded on the first of January, of which a row is gone since then."""
    folder = tmp_path_factory.mktemp("loads")
    path = database(folder / "shop.duckdb", *CUSTOMERS)
    with modelled(path, "data_vault_2") as source:
        plan = transform_plan(source.model)
        files = dbt_project(plan, source.model, access=duckdb_access(plan, path))
    made = written(files, folder / "dbt")
    build(made, "2024-01-01")
    with duckdb.connect(str(path)) as connection:
        connection.execute(ONE_IS_GONE)
    return made


def build(project: Path, load_date: str, *options: str) -> str:
    """What dbt says in a build as of a day; it parses only what it has to."""
    done = subprocess.run(
        [*(sys.executable, "-m", "dbt.cli.main", "--debug", "build"), *options],
        cwd=project,
        env={LOAD_DATE_VARIABLE: f"{load_date} 00:00:00"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def loads(project: Path) -> list[tuple[str, int]]:
    """The load dates of the satellite's rows, and how many each has."""
    (database_file,) = project.glob("*.duckdb")
    with duckdb.connect(str(database_file), read_only=True) as connection:
        query = "SELECT load_date::DATE::VARCHAR, count(*) FROM sat_customer GROUP BY 1 ORDER BY 1"
        return connection.execute(query).fetchall()


def test_another_load_date_does_not_make_dbt_parse_again(project: Path) -> None:
    """And a full refresh keeps what the source no longer has, unless it's told not to."""
    assert "skipping parsing" in build(project, "2024-01-02", "--full-refresh")
    assert loads(project) == [("2024-01-01", 40), ("2024-01-02", 1)]
    build(project, "2024-01-03", "--full-refresh", "--vars", "{refresh_history: true}")
    assert loads(project) == [("2024-01-03", 39)]
