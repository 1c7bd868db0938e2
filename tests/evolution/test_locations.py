"""Where a folder's warehouse is: its profile is read as dbt reads it, and --warehouse leads dbt."""

from pathlib import Path

import pytest

from fluid_build.errors import UsageError, WarehouseError
from fluid_build.evolution.locations import warehouse_location
from fluid_build.transform.dbt.profiles_yml import duckdb_profile, warehouse_profile

_POSTGRES_VARIABLES = ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in (*_POSTGRES_VARIABLES, "FLUID_DATABASE_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def write(project: Path, text: str) -> None:
    (project / "profiles.yml").write_text(text)


def test_a_duckdb_profile_leads_to_the_file_in_the_project(project: Path) -> None:
    write(project, duckdb_profile("shop", "shop", [], []).text)
    location = warehouse_location(project)
    assert (location.engine, location.schema) == ("duckdb", "main")
    assert location.place == str(project / "shop.duckdb")


def test_another_file_is_given_to_dbt_in_the_environment(project: Path) -> None:
    write(project, duckdb_profile("shop", "shop", [], []).text)
    other = project / "other.duckdb"
    location = warehouse_location(project, str(other))
    assert location.place == str(other)
    assert location.environment == {"FLUID_DATABASE_PATH": str(other)}


def test_a_postgres_profile_takes_the_variables_of_its_tools(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, warehouse_profile("shop", "postgres", "shop_model").text)
    monkeypatch.setenv("PGHOST", "/run/pg")
    monkeypatch.setenv("PGPASSWORD", "p@ss/word")
    location = warehouse_location(project)
    assert (location.engine, location.schema) == ("postgres", "shop_model")
    assert location.place == (
        "postgresql://postgres:p%40ss%2Fword@/postgres?host=%2Frun%2Fpg&port=5432"
    )


def test_a_place_is_shown_as_people_write_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, warehouse_profile("shop", "postgres", "shop_model").text)
    monkeypatch.setenv("PGHOST", "/run/pg")
    monkeypatch.setenv("PGDATABASE", "sales & co")
    monkeypatch.setenv("PGPASSWORD", "p@ss/word")
    shown = warehouse_location(project).shown
    assert shown == "postgresql://postgres@/sales & co?host=/run/pg&port=5432"


def test_another_database_is_given_to_dbt_in_the_environment(project: Path) -> None:
    write(project, warehouse_profile("shop", "postgres", "shop_model").text)
    location = warehouse_location(project, "postgresql://ada:secret@db.example:5433/sales")
    assert location.place == "postgresql://ada:secret@/sales?host=db.example&port=5433"
    assert location.environment == {
        "PGHOST": "db.example",
        "PGPORT": "5433",
        "PGUSER": "ada",
        "PGPASSWORD": "secret",
        "PGDATABASE": "sales",
    }


def test_a_profile_of_ones_own_keeps_its_database(project: Path) -> None:
    """Dbt would build in that one, so another one is refused and not pretended."""
    write(project, "shop: {target: dev, outputs: {dev: {type: duckdb, path: mine.duckdb}}}")
    mine = str(project / "mine.duckdb")
    assert warehouse_location(project).place == mine
    assert warehouse_location(project, mine).place == mine
    with pytest.raises(UsageError, match="wouldn't build in"):
        warehouse_location(project, str(project / "other.duckdb"))


def test_a_database_of_another_engine_than_the_profiles_is_refused(project: Path) -> None:
    write(project, duckdb_profile("shop", "shop", [], []).text)
    with pytest.raises(UsageError, match="wouldn't build in"):
        warehouse_location(project, "postgresql://ada:xyzzy@host/shop")


def test_another_target_is_refused(project: Path) -> None:
    write(project, "shop: {target: dev, outputs: {dev: {type: bigquery}}}")
    with pytest.raises(UsageError, match="only DuckDB and PostgreSQL"):
        warehouse_location(project)


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "shop: {}",
        "shop: {target: prod, outputs: {dev: {type: duckdb}}}",
        "shop: {target: dev, outputs: {dev: {type: duckdb, path: \"{{ env_var('NOT_SET') }}\"}}}",
        "shop: {target: dev, outputs: {dev: {type: duckdb, path: \"{{ ''.__class__ }}\"}}}",
        'shop: {target: dev, outputs: {dev: {type: duckdb, path: "{% for %}"}}}',
    ],
)
def test_a_profile_that_does_not_say_it_is_an_error(project: Path, text: str) -> None:
    write(project, text)
    with pytest.raises(WarehouseError, match="doesn't say where the warehouse is"):
        warehouse_location(project)
