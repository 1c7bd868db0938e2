"""Primary keys that a database is told of: on which models, and what PostgreSQL makes of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.dbt.source_access import source_access
from fluid_build.transform.plan.techniques import transform_plan
from tests.postgres import PostgresDatabase
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import TARGETS, schema_access, written

CODES = "CREATE TABLE sector (code VARCHAR PRIMARY KEY, name VARCHAR)"
SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, sector VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " ordered_at TIMESTAMP, amount DECIMAL(9, 2))",
    "INSERT INTO sector VALUES ('A', 'Arts'), ('B', 'Books')",
    "INSERT INTO customer SELECT i, 'n' || i, CASE i % 2 WHEN 0 THEN 'A' ELSE 'B' END"
    " FROM generate_series(1, 40) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 40, TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour',"
    " i * 1.5 FROM generate_series(1, 200) r(i)",
)
Models = dict[str, dict[str, Any]]


def files(shop: Path, technique: str, target: str) -> dict[str, str]:
    """The project of the shop for a target."""
    with modelled(shop, technique) as source:
        plan = transform_plan(source.model)
        access = schema_access(plan, "raw", {"type": target})
        return dbt_project(plan, source.model, target=target, access=access)


def models(project: Mapping[str, str]) -> Models:
    """The entries of models by their names."""
    documents = (yaml.safe_load(text) for name, text in project.items() if name.endswith(".yml"))
    return {
        entry["name"]: entry
        for document in documents
        for entry in document.get("models", ())
        if isinstance(entry, dict)
    }


def keys(found: Models) -> dict[str, list[str]]:
    """The primary keys by model."""
    return {
        name: constraint["columns"]
        for name, entry in found.items()
        for constraint in entry.get("constraints", ())
        if constraint["type"] == "primary_key"
    }


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("keys") / "shop.duckdb", CODES, *SHOP)


@pytest.mark.parametrize("target", TARGETS)
def test_a_vault_declares_its_keys_of_hashes_and_load_dates(shop: Path, target: str) -> None:
    """A history has the hash key and the load date; a code of the source is no key there."""
    assert keys(models(files(shop, "data_vault_2", target))) == {
        "hub_customer": ["customer_hk"],
        "hub_orders": ["orders_hk"],
        "lnk_orders_customer": ["orders_customer_lk"],
        "eff_sat_orders_customer": ["orders_customer_lk", "load_date"],
        "sat_customer": ["customer_hk", "load_date"],
        "sat_orders": ["orders_hk", "load_date"],
    }


@pytest.mark.parametrize("target", TARGETS)
def test_a_star_declares_surrogate_keys_and_grains(shop: Path, target: str) -> None:
    """Numbers and days identify rows of facts and of the calendar."""
    found = keys(models(files(shop, "dimensional", target)))
    assert found["fct_orders"] == ["id"]
    assert found["dim_customer"] == ["customer_key"]
    assert found["dim_date"] == ["date_key"]
    assert not [name for name in found if name.startswith("stg_")]


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional", "flat"])
@pytest.mark.parametrize("target", TARGETS)
def test_no_column_of_a_declared_key_may_be_null(shop: Path, technique: str, target: str) -> None:
    """Databricks refuses a key otherwise, and BigQuery would take nulls."""
    found = models(files(shop, technique, target))
    for name, key in keys(found).items():
        assert found[name]["config"]["contract"] == {"enforced": True}
        columns = {column["name"]: column for column in found[name]["columns"]}
        assert all({"type": "not_null"} in columns[part]["constraints"] for part in key), name


def test_duckdb_declares_no_primary_key(shop: Path) -> None:
    """Its index costs more than the load itself."""
    project = files(shop, "data_vault_2", "duckdb")
    assert keys(models(project)) == {}
    assert "## Keys in the database" not in project["README.md"]


def test_a_key_with_known_exceptions_is_none_of_the_database(tmp_path: Path) -> None:
    """The load of what the source has must succeed."""
    repeated = "INSERT INTO thing SELECT i, i * 2 FROM range(500) r(i) UNION ALL SELECT 7, 15"
    path = database(
        tmp_path / "a.duckdb", "CREATE TABLE thing (id INTEGER, size INTEGER)", repeated
    )
    for technique in ("flat", "data_vault_2", "dimensional"):
        with modelled(path, technique) as source:
            plan = transform_plan(source.model)
            broken = {
                build.name
                for build in plan.published
                for test in build.tests
                if test.kind == "unique" and test.allowed and set(test.columns) == set(build.key)
            }
        assert not broken & keys(models(files(path, technique, "postgres"))).keys()


def test_only_what_is_not_enforced_is_kept_quiet(shop: Path) -> None:
    """Dbt warns of each key that a database only notes; the README says it once."""
    for target in TARGETS:
        project = files(shop, "data_vault_2", target)
        (constraint,) = models(project)["sat_customer"]["constraints"]
        assert constraint.get("warn_unenforced", True) is (target == "postgres")
        assert ("name" in constraint) is (target == "databricks")
        assert "## Keys in the database" in project["README.md"]


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize(
    ("technique", "history"),
    [("data_vault_2", "sat_customer"), ("dimensional", "dim_customer_history")],
)
def test_postgres_has_the_keys_and_loads_again_with_an_added_column(
    postgres: PostgresDatabase, tmp_path: Path, technique: str, history: str
) -> None:
    """A next load, and one after a column was added to a history, leave the keys as they are."""
    run(postgres, CODES, *SHOP)
    expected = keys(models(built(postgres, technique, tmp_path / "1", day=1)))
    assert history in expected
    assert found_keys(postgres) == expected
    run(
        postgres, "UPDATE customer SET sector = 'B' WHERE id < 9", "DELETE FROM orders WHERE id = 5"
    )
    built(postgres, technique, tmp_path / "2", day=2)
    run(
        postgres,
        "ALTER TABLE customer ADD COLUMN city VARCHAR",
        "UPDATE customer SET city = CASE id % 2 WHEN 0 THEN 'Graz' ELSE 'Linz' END",
        f"ALTER TABLE {postgres.name}_model.{history} ADD COLUMN city TEXT",
    )
    built(postgres, technique, tmp_path / "3", day=3)
    assert found_keys(postgres) == expected


def built(postgres: PostgresDatabase, technique: str, folder: Path, *, day: int) -> dict[str, str]:
    """The project of what the server has now, after dbt has built it without a complaint."""
    with modelled(postgres.uri, technique) as source:
        plan = transform_plan(source.model)
        access = source_access(
            source.source, plan, locate(postgres.uri), project_dir=folder, target="postgres"
        )
        project = dbt_project(plan, source.model, target="postgres", access=access)
    done: DbtResult = run_dbt(
        written(project, folder),
        variables={"load_date": f"2024-01-0{day} 00:00:00"},
        environment={
            "PGHOST": str(postgres.folder),
            "PGUSER": "postgres",
            "PGDATABASE": postgres.name,
        },
    )
    assert done.ok and not done.warned and done.warnings == (), done
    return project


def found_keys(postgres: PostgresDatabase) -> dict[str, list[str]]:
    """The columns of the primary keys of what dbt built, by its tables."""
    found: dict[str, list[str]] = {}
    with psycopg.connect(postgres.uri) as server:
        rows = server.execute(
            "SELECT t.table_name, k.column_name FROM information_schema.table_constraints t"
            " JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name)"
            " WHERE t.constraint_type = 'PRIMARY KEY' AND t.table_schema = %s"
            " AND t.table_name = k.table_name ORDER BY k.ordinal_position",
            [f"{postgres.name}_model"],
        )
        for table, column in rows:
            found.setdefault(table, []).append(column)
    return found


def run(postgres: PostgresDatabase, *statements: str) -> None:
    with psycopg.connect(postgres.uri) as server:
        for statement in statements:
            server.execute(statement.encode())
