"""``fluid verify --warehouse``: the warehouse is checked as it is, and never changed."""

import hashlib
import json
import shutil
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import FIRST_LOAD, built
from fluid_build.verification import read_folder
from tests.cli.running import STATEMENTS, Fluid, run
from tests.forges import forged
from tests.postgres import PostgresDatabase

TECHNIQUES = ("data_vault_2", "dimensional", "flat")


def load(folder: Path, source: Path, warehouse: Path, *days: datetime) -> None:
    """Load a warehouse on each day with what a folder's plan builds, as dbt would."""
    plan = read_folder(folder).plan
    first, *later = days or (FIRST_LOAD,)
    with open_source(source) as opened, built(opened, plan, load_date=first) as outcome:
        for day in later:
            outcome.load(day)
        outcome.connection.execute(f"ATTACH '{warehouse}' AS warehouse")
        for build in (*plan.published, *plan.quarantines):
            outcome.connection.execute(
                f"CREATE TABLE warehouse.main.{build.name} AS FROM model.{build.name}"
            )
        outcome.connection.execute("DETACH warehouse")


def bytes_of(path: Path) -> str:
    """The digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def loaded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two tables, their three models, and each model's warehouse."""
    place = tmp_path_factory.mktemp("warehouses")
    run(place / "two.duckdb", *STATEMENTS)
    for technique in TECHNIQUES:
        folder = forged(place / "two.duckdb", place / technique, technique)
        load(folder, place / "two.duckdb", place / f"{technique}.duckdb")
    return place


@pytest.fixture
def place(loaded_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(loaded_once, tmp_path / "place"))


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_loaded_warehouse_is_proven_and_left_alone(
    fluid: Fluid, place: Path, technique: str
) -> None:
    """It's green where all of the source is there, and not a byte of it changes."""
    warehouse = place / f"{technique}.duckdb"
    before = bytes_of(warehouse)
    files = {path for path in place.rglob("*") if path.is_file()}
    outcome = fluid("verify", place / technique, "--warehouse", warehouse)
    assert (outcome.code, "✓ Proven." in outcome.out) == (0, True), outcome.out
    assert bytes_of(warehouse) == before
    assert {path for path in place.rglob("*") if path.is_file()} == files


DAMAGES = {
    "a hub's row": ("data_vault_2", "hub_customer", "DELETE FROM {} WHERE customer_id = 107"),
    "a satellite's row": (
        "data_vault_2",
        "sat_customer",
        "DELETE FROM {} WHERE rowid = (SELECT min(rowid) FROM {})",
    ),
    "a value": ("flat", "orders", "UPDATE {} SET total = total + 1 WHERE order_id = 5000"),
    "a fact": ("dimensional", "fct_orders", "DELETE FROM {} WHERE order_id = 5000"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_warehouse_lacks_is_red_and_named(fluid: Fluid, place: Path, damage: str) -> None:
    """The relation is named, nothing is repaired, and a second look is as red as the first."""
    technique, prefix, statement = DAMAGES[damage]
    warehouse = place / f"{technique}.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        (relation,) = connection.execute(
            "SELECT min(table_name) FROM duckdb_tables() WHERE starts_with(table_name, ?)", [prefix]
        ).fetchall()[0]
        connection.execute(statement.replace("{}", relation))
    before = bytes_of(warehouse)
    for _ in range(2):
        outcome = fluid("verify", place / technique, "--warehouse", warehouse)
        assert outcome.code == 1
        assert "✓" not in outcome.out
        assert f"{relation}: 1 row missing\n" in outcome.out
    assert bytes_of(warehouse) == before


def test_what_a_load_derives_is_checked_and_named(fluid: Fluid, place: Path) -> None:
    """No row of the source is lost, and still the warehouse isn't as it was loaded."""
    warehouse = place / "data_vault_2.duckdb"
    run(warehouse, "UPDATE hub_customer SET load_date = NULL WHERE customer_id = 107")
    arguments = ("verify", place / "data_vault_2", "--warehouse", warehouse)
    outcome = fluid(*arguments)
    assert (outcome.code, "✓" in outcome.out) == (1, False)
    assert "hub_customer: 1 row without load_date\n" in outcome.out
    assert "Not as it was loaded." in outcome.out
    assert "Proven." not in outcome.out
    document = json.loads(fluid(*arguments, "--json").out)["warehouse"]
    assert document["contradictions"] == [
        {"relation": "hub_customer", "rows": 1, "what": "without load_date"}
    ]


def test_the_verdict_says_what_was_not_looked_at(fluid: Fluid, place: Path) -> None:
    """When a row came is only what its load date says, so that one that was moved isn't noticed."""
    warehouse = place / "data_vault_2.duckdb"
    moved = "UPDATE hub_customer SET load_date = TIMESTAMP '1999-12-01' WHERE customer_id = 107"
    run(warehouse, moved)
    arguments = ("verify", place / "data_vault_2", "--warehouse", warehouse)
    outcome = fluid(*arguments)
    assert (outcome.code, "Not checked. Which load a row came with" in outcome.out) == (0, True)
    assert len(json.loads(fluid(*arguments, "--json").out)["warehouse"]["unchecked"]) == 2


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_calendar_of_dbt_is_named_as_not_checked(
    fluid: Fluid, place: Path, technique: str
) -> None:
    outcome = fluid("verify", place / technique, "--warehouse", place / f"{technique}.duckdb")
    assert "The days of time_spine_daily" in outcome.out.partition("Not checked.")[2]


def test_a_row_that_is_older_than_what_it_refers_to_is_named(fluid: Fluid, place: Path) -> None:
    warehouse = place / "data_vault_2.duckdb"
    moved = "UPDATE hub_customer SET load_date = TIMESTAMP '2000-02-01' WHERE customer_id = 107"
    run(warehouse, moved)
    outcome = fluid("verify", place / "data_vault_2", "--warehouse", warehouse)
    assert outcome.code == 1
    assert "loaded before what customer_hk leads to\n" in outcome.out


def test_a_key_may_have_arrived_from_a_table_that_is_no_longer_modelled(
    fluid: Fluid, place: Path
) -> None:
    """The relations of that table are still in the warehouse, and tell its record source."""
    warehouse = place / "data_vault_2.duckdb"
    run(
        warehouse,
        "UPDATE hub_customer SET record_source = 'two.visit' WHERE customer_id = 107",
        "CREATE TABLE sat_visit AS SELECT 'x' AS visit_hk, 'two.visit' AS record_source",
    )
    arguments = ("verify", place / "data_vault_2", "--warehouse", warehouse)
    assert fluid(*arguments).code == 0
    run(warehouse, "DROP TABLE sat_visit")
    assert fluid(*arguments).code == 1


ACCOUNTS = (
    "CREATE TABLE account (id INTEGER PRIMARY KEY, owner VARCHAR, branch VARCHAR, purpose VARCHAR,"
    " balance DECIMAL(9, 2))",
    "CREATE TABLE payment (id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account (id),"
    " paid DATE, amount DECIMAL(9, 2))",
    "INSERT INTO account SELECT i, 'owner ' || i, 'branch ' || i % 4, 'purpose ' || i % 3, i * 7.5"
    " FROM range(1, 31) r(i)",
    "INSERT INTO payment SELECT i, 1 + i % 30, DATE '2024-01-01' + i::INTEGER, i * 1.25"
    " FROM range(1, 61) r(i)",
)


@pytest.mark.parametrize("relation", ["fct_payment", "fct_account_snapshot"])
def test_snapshots_of_a_warehouse_are_compared_as_of_its_last_load(
    fluid: Fluid, tmp_path: Path, relation: str
) -> None:
    """Neither the days of its loads nor their years in the calendar are reported as missing."""
    source, warehouse = tmp_path / "bank.duckdb", tmp_path / "warehouse.duckdb"
    run(source, *ACCOUNTS)
    folder = forged(source, tmp_path / "star", "dimensional")
    load(folder, source, warehouse, datetime(2025, 12, 31, 6), datetime(2026, 1, 1, 6))
    assert fluid("verify", folder, "--warehouse", warehouse).code == 0
    run(warehouse, f"DELETE FROM {relation} WHERE id = 5")
    outcome = fluid("verify", folder, "--warehouse", warehouse, "--json")
    lacking = json.loads(outcome.out)["warehouse"]["lacking"]
    assert (outcome.code, lacking) == (1, [{"relation": relation, "rows": 1}])


def test_the_document_names_what_is_lacking(fluid: Fluid, place: Path) -> None:
    """Machines get the verdict, the relation and the figures."""
    warehouse = place / "data_vault_2.duckdb"
    run(warehouse, "DELETE FROM hub_customer WHERE customer_id = 107")
    outcome = fluid("verify", place / "data_vault_2", "--warehouse", warehouse, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["holds"], document["proof"]["verdict"]) == (1, False, "lost")
    assert document["warehouse"]["lacking"] == [{"relation": "hub_customer", "rows": 1}]


def test_a_source_that_has_moved_on_is_reported(fluid: Fluid, place: Path) -> None:
    """A row that was never loaded is missing, and what to do is said."""
    run(place / "two.duckdb", "INSERT INTO orders VALUES (9000, 100, 1.25)")
    outcome = fluid("verify", place / "flat", "--warehouse", place / "flat.duckdb")
    assert outcome.code == 1
    assert "\n\nIf the source has changed since the last load, run `dbt build`" in outcome.out


def test_a_relation_that_is_missing_or_another_is_named(fluid: Fluid, place: Path) -> None:
    """Nothing is compared then, and nothing is called proven."""
    warehouse = place / "data_vault_2.duckdb"
    run(
        warehouse,
        "DROP TABLE hub_customer",
        "ALTER TABLE hub_orders RENAME COLUMN load_date TO loaded",
    )
    outcome = fluid("verify", place / "data_vault_2", "--warehouse", warehouse)
    assert outcome.code == 1
    assert "hub_customer is missing in the schema main." in outcome.out
    assert "hub_orders has no column load_date." in outcome.out
    assert "Not proven." in outcome.out


def test_the_schema_can_be_named(fluid: Fluid, place: Path) -> None:
    """Where the model was built in another schema than the project's own."""
    warehouse = place / "flat.duckdb"
    run(
        warehouse,
        "CREATE SCHEMA marts",
        *(
            f"CREATE TABLE marts.{apart}{name} AS FROM {apart}{name}"
            for name in ("customer", "orders")
            for apart in ("", "quarantine_")
        ),
        "DROP TABLE customer",
    )
    assert fluid("verify", place / "flat", "--warehouse", warehouse).code == 1
    options = ("--warehouse", warehouse, "--warehouse-schema", "marts")
    assert fluid("verify", place / "flat", *options).code == 0


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_warehouse_in_postgresql_is_proven(
    fluid: Fluid, place: Path, postgres: PostgresDatabase, technique: str
) -> None:
    """The schema of the project is read, and a deleted row is red there as well."""
    schema = "two_model"
    uri = copied_to_postgres(place / f"{technique}.duckdb", postgres, schema)
    outcome = fluid("verify", place / technique, "--warehouse", uri)
    assert (outcome.code, "✓ Proven." in outcome.out) == (0, True), outcome.out + outcome.err
    relation = {"data_vault_2": "hub_customer", "dimensional": "fct_orders"}.get(
        technique, "orders"
    )
    postgres.run(
        f"DELETE FROM {schema}.{relation} WHERE ctid = (SELECT min(ctid) FROM {schema}.{relation})"
    )
    outcome = fluid("verify", place / technique, "--warehouse", uri)
    assert outcome.code == 1
    assert f"{relation}: 1 row missing\n" in outcome.out


def copied_to_postgres(warehouse: Path, postgres: PostgresDatabase, schema: str) -> str:
    """Copy the tables of a DuckDB file into a schema of a server; its URI."""
    uri = postgres.uri_of("postgres", "geheim")
    postgres.run(f"CREATE SCHEMA {schema}; CREATE TABLE public.other (id INTEGER)")
    with open_source(uri) as server:
        connection = server.connection
        connection.execute(f"ATTACH '{warehouse}' AS warehouse (READ_ONLY)")
        connection.execute(f"ATTACH '{uri}' AS server (TYPE postgres)")
        for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'warehouse'"
        ).fetchall():
            connection.execute(f"CREATE TABLE server.{schema}.{name} AS FROM warehouse.main.{name}")
    return uri


def test_options_that_exclude_each_other_are_refused(fluid: Fluid, place: Path) -> None:
    """Nothing is built while something is proven as it stands."""
    warehouse = place / "flat.duckdb"
    outcome = fluid("verify", place / "flat", "--dbt", "--trust", "--warehouse", warehouse)
    assert (outcome.code, "run `fluid verify` twice" in outcome.err.lower()) == (2, True)
    outcome = fluid("verify", place / "flat", "--warehouse-schema", "x")
    assert (outcome.code, "--warehouse" in outcome.err) == (2, True)


def test_another_kind_of_place_is_no_warehouse(fluid: Fluid, place: Path) -> None:
    """A folder of files can't be one, and a file that isn't there isn't made."""
    (place / "data").mkdir()
    (place / "data" / "t.csv").write_text("id\n1\n")
    outcome = fluid("verify", place / "flat", "--warehouse", place / "data")
    assert (outcome.code, "A warehouse is a DuckDB file" in outcome.err) == (2, True)
    damaged = place / "damaged.duckdb"
    damaged.write_bytes((place / "flat.duckdb").read_bytes()[:4096] + b"x" * 9000)
    outcome = fluid("verify", place / "flat", "--warehouse", damaged)
    assert (outcome.code, "can't be opened" in outcome.err) == (2, True)
    outcome = fluid("verify", place / "flat", "--warehouse", place / "nowhere.duckdb")
    assert (outcome.code, (place / "nowhere.duckdb").exists()) == (2, False)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_key_that_the_source_broke_is_reported_of_a_warehouse_too(
    fluid: Fluid, place: Path, technique: str
) -> None:
    """As without --warehouse: the key is named, with its rows."""
    run(place / "two.duckdb", "INSERT INTO customer VALUES (107, 'other@example.org', 'Bonn')")
    arguments = ("verify", place / technique, "--warehouse", place / f"{technique}.duckdb")
    outcome = fluid(*arguments)
    assert outcome.code == 1
    assert "the key of customer (customer_id) repeats in 1 row now" in outcome.out
