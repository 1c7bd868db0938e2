"""When dbt calls a source table stale: by which column, and after how many days."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import yaml

from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.freshness import Freshness, source_freshness
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.source_access import source_access
from fluid_build.transform.plan.techniques import transform_plan
from tests.postgres import PostgresDatabase
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import duckdb_access, written

_WEEKDAYS = (
    "SELECT i AS id, d AS {column}, d AS due_at, i % 3 AS size FROM (SELECT d,"
    " row_number() OVER (ORDER BY d) AS i FROM range(TIMESTAMP '{start} 09:30', TIMESTAMP '{end}',"
    " INTERVAL 1 DAY) r(d) WHERE isodow(d) < 6)"
)


def weekdays(table: str, column: str, *, start: str = "2024-01-01", end: str = "2024-06-01") -> str:
    """A table with a row for each weekday."""
    rows = _WEEKDAYS.format(column=column, start=start, end=end)
    return f"CREATE TABLE {table} AS {rows}"


def freshness(folder: Path, *statements: str) -> dict[str, Freshness]:
    """What is found in a database of these statements."""
    with modelled(database(folder / "source.duckdb", *statements), "flat") as found:
        return source_freshness(found.source, found.model)


def test_a_change_stamp_says_when_a_table_was_loaded(tmp_path: Path) -> None:
    """A weekend is a usual pause: three days, and the day of the next row."""
    found = freshness(tmp_path, weekdays("thing", "updated_at"))["thing"]
    assert found.loaded_at == 'CAST("updated_at" AS TIMESTAMP)'
    assert found.days == 4
    assert "updated_at has 110 days" in found.reason


def test_the_date_of_an_event_counts_where_it_rises_with_the_key(tmp_path: Path) -> None:
    """What is due isn't when a row was written, though it rises too."""
    found = freshness(tmp_path, weekdays("visit", "visited_at"))["visit"]
    assert found.loaded_at == 'CAST("visited_at" AS TIMESTAMP)'


def test_a_date_in_no_order_says_nothing(tmp_path: Path) -> None:
    """A birthday isn't the day that a row was written on."""
    people = (
        "CREATE TABLE person AS SELECT i AS id, DATE '1960-01-01' + CAST(i * 7919 % 9000 AS"
        " INTEGER) AS joined FROM range(500) r(i)"
    )
    found = freshness(tmp_path, people)["person"]
    assert found.loaded_at == ""
    assert "No column says when a row was written" in found.reason


def test_a_few_days_show_no_habit(tmp_path: Path) -> None:
    """All rows of a dump may be stamped in a day."""
    found = freshness(tmp_path, weekdays("thing", "updated_at", end="2024-01-20"))["thing"]
    assert found.loaded_at == ""


def test_a_table_that_rested_before_the_forge_has_no_age(tmp_path: Path) -> None:
    """It would be stale on the first day, or never; the column stays for whoever knows better."""
    found = freshness(
        tmp_path,
        weekdays("old_thing", "updated_at", end="2024-03-02"),
        weekdays("thing", "updated_at"),
    )["old_thing"]
    assert found.days == 0
    assert found.loaded_at
    assert "The newest is 2024-03-01, 91 days before that of most tables" in found.reason


def test_a_rest_like_an_earlier_one_is_no_fault(tmp_path: Path) -> None:
    """A month in summer passed without rows before, and one does when it's forged."""
    summer = "DELETE FROM slow_thing WHERE updated_at BETWEEN '2024-07-01' AND '2024-07-31'"
    found = freshness(
        tmp_path,
        weekdays("slow_thing", "updated_at", end="2025-05-10"),
        summer,
        weekdays("thing", "updated_at", end="2025-06-01"),
    )["slow_thing"]
    assert found.days == 33 + 1


def test_a_table_with_a_date_ahead_makes_no_other_late(tmp_path: Path) -> None:
    """Each of the others has the age that its own habit says."""
    found = freshness(
        tmp_path,
        weekdays("ahead", "updated_at"),
        "UPDATE ahead SET updated_at = '2024-12-22' WHERE id = 109",
        weekdays("thing", "updated_at"),
        weekdays("other_thing", "updated_at"),
    )
    assert {name: each.days for name, each in found.items()} == {
        "ahead": 4,
        "thing": 4,
        "other_thing": 4,
    }


def test_a_date_in_text_is_read_as_it_is_staged(tmp_path: Path) -> None:
    """Dbt compares moments."""
    texts = (
        "CREATE TABLE thing AS SELECT i AS id, strftime(DATE '2024-01-01' + CAST(i AS INTEGER),"
        " '%d.%m.%Y') AS created_on FROM range(60) r(i)"
    )
    found = freshness(tmp_path, texts)["thing"]
    assert "strptime" in found.loaded_at
    assert found.loaded_at.endswith("AS TIMESTAMP)")


def test_a_table_without_a_date_says_so_in_the_project(tmp_path: Path) -> None:
    """With the reason beside it."""
    file = database(tmp_path / "source.duckdb", "CREATE TABLE thing AS SELECT 1 AS id")
    with modelled(file, "flat") as shop:
        plan = transform_plan(shop.model)
        found = source_freshness(shop.source, shop.model)
        files = dbt_project(plan, shop.model, access=duckdb_access(plan, file), freshness=found)
    (source,) = yaml.safe_load(files["models/staging/_sources.yml"])["sources"]
    config = source["tables"][0]["config"]
    assert config["freshness"] is None
    assert config["meta"]["freshness"].startswith("No column")


@pytest.mark.usefixtures("dbt")
def test_dbt_warns_of_a_stale_table_on_duckdb(tmp_path: Path) -> None:
    """Of the one that nothing was written to for long."""
    file = database(
        tmp_path / "source.duckdb",
        weekdays("old_thing", "updated_at"),
        weekdays("thing", '"Updated {{ ""At"" }}"'),
        'UPDATE thing SET "Updated {{ ""At"" }}" = now() WHERE id = 109',
    )
    with modelled(file, "flat") as shop:
        plan = transform_plan(shop.model)
        found = source_freshness(shop.source, shop.model)
        found = {**found, "old_thing": Freshness("", found["old_thing"].loaded_at, 4)}
        files = dbt_project(plan, shop.model, access=duckdb_access(plan, file), freshness=found)
    assert freshness_in_dbt(written(files, tmp_path / "dbt")) == {
        "old_thing": "warn",
        "thing": "pass",
    }


@pytest.mark.usefixtures("dbt")
def test_dbt_warns_of_a_stale_table_on_postgres(
    postgres: PostgresDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same column, in PostgreSQL's own words."""
    with psycopg.connect(postgres.uri) as server:
        server.execute(
            "CREATE TABLE old_thing AS SELECT i AS id, TIMESTAMP '2024-01-01'"
            " + i * INTERVAL '1 day' AS updated_at FROM generate_series(1, 60) i"
        )
        server.execute(
            "CREATE TABLE thing AS SELECT i AS id, now() - (60 - i) * INTERVAL '1 day'"
            " AS created_at FROM generate_series(1, 60) i"
        )
    with modelled(postgres.uri, "flat") as shop:
        plan = transform_plan(shop.model)
        found = source_freshness(shop.source, shop.model)
        found = {**found, "old_thing": Freshness("", found["old_thing"].loaded_at, 4)}
        access = source_access(
            shop.source, plan, locate(postgres.uri), project_dir=tmp_path, target="postgres"
        )
        files = dbt_project(plan, shop.model, target="postgres", access=access, freshness=found)
    monkeypatch.setenv("PGHOST", str(postgres.folder))
    monkeypatch.setenv("PGUSER", "postgres")
    monkeypatch.setenv("PGDATABASE", postgres.name)
    assert freshness_in_dbt(written(files, tmp_path)) == {"old_thing": "warn", "thing": "pass"}


def freshness_in_dbt(project: Path) -> dict[str, str]:
    """What dbt makes of each source table, of those with a column that tells it."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "source", "freshness"),
            *("--project-dir", str(project), "--profiles-dir", str(project)),
            *("--output", str(project / "sources.json")),
        ],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    results = yaml.safe_load((project / "sources.json").read_text("utf-8"))["results"]
    return {each["unique_id"].rpartition(".")[2]: each["status"] for each in results}
