"""``fluid profile --table``: which table is chosen, and what is said if none matches."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import UsageError
from fluid_build.sources.table_choice import TableName, chosen_table
from tests.cli.running import STATEMENTS, Fluid
from tests.postgres import PostgresDatabase


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """A customer table in each of two schemas, and a table that only one of them has."""
    path = tmp_path / "works.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE SCHEMA sales; CREATE SCHEMA person;"
            'CREATE TABLE sales."Customer" AS SELECT range AS id, 1 AS sold FROM range(50);'
            'CREATE TABLE person."Customer" AS SELECT range AS id, 2 AS born FROM range(50);'
            'CREATE TABLE sales."Orders" AS SELECT range AS id FROM range(50);'
        )
    return path


@pytest.mark.parametrize(
    ("arguments", "column"),
    [
        (("--table", "sales.Customer"), "sold"),
        (("--table", "person.customer"), "born"),
        (("--table", "sales.Customer", "--schema", "sales"), "sold"),
        (("--table", "Customer", "--schema", "sales"), "sold"),
        (("--table", "Orders"), "id"),
        (("--table", "ORDERS"), "id"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_table_is_named_with_its_schema_or_without(
    fluid: Fluid, sales: Path, arguments: tuple[str, ...], column: str
) -> None:
    """Whether ``--schema`` is given or not."""
    outcome = fluid("profile", sales, *arguments)
    assert (outcome.code, f"\n{column}  " in outcome.out) == (0, True), outcome.err


def test_a_table_of_sqlite_is_named_with_its_schema_main(fluid: Fluid, sqlite_shop: Path) -> None:
    """SQLite calls the schema of every table so."""
    outcome = fluid("profile", sqlite_shop, "--table", "main.customer")
    assert (outcome.code, outcome.out.startswith("customer  ")) == (0, True), outcome.err


def test_a_name_of_several_tables_is_refused_with_all_of_them(fluid: Fluid, sales: Path) -> None:
    """It's not for us to choose."""
    outcome = fluid("profile", sales, "--table", "Customer")
    assert outcome.code == 2
    assert "Customer matches 2 tables" in outcome.err
    assert "Choose one: person.Customer, sales.Customer." in outcome.err


def as_sqlite(folder: Path) -> str:
    path = folder / "two.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        for statement in STATEMENTS:
            database.execute(statement)
    return str(path)


def as_duckdb(folder: Path) -> str:
    path = folder / "two.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(";".join(STATEMENTS))
    return str(path)


def as_files(folder: Path) -> str:
    for name in ("customer", "orders"):
        (folder / f"{name}.csv").write_text("id,name\n1,a\n2,b\n")
    return str(folder)


def as_ddl(folder: Path) -> str:
    path = folder / "two.sql"
    path.write_text("CREATE TABLE customer (id INT); CREATE TABLE orders (id INT);")
    return str(path)


@pytest.mark.parametrize("made", [as_sqlite, as_duckdb, as_files, as_ddl])
def test_a_mistyped_table_is_reported_before_anything_is_read(
    fluid: Fluid, tmp_path: Path, made: Callable[[Path], str]
) -> None:
    """Wrong usage, the nearest name, and all names that there are."""
    assert_refused_early(fluid, made(tmp_path))


def test_a_mistyped_table_of_a_server_is_reported_before_anything_is_read(
    fluid: Fluid, postgres: PostgresDatabase
) -> None:
    """Over a network it would take longest."""
    postgres.run(";".join(STATEMENTS))
    assert_refused_early(fluid, postgres.uri)


def assert_refused_early(fluid: Fluid, uri: str) -> None:
    outcome = fluid("profile", uri, "--table", "custmer")
    assert (outcome.code, outcome.out) == (2, "")
    assert "The source has no table custmer." in outcome.err
    assert "Did you mean customer? The tables are customer, orders." in outcome.err
    assert "Reading" not in outcome.err


def test_all_tables_are_listed_and_of_very_many_their_number() -> None:
    """Fourteen are no more than a screen takes; of hundreds it says how many are left."""
    few = [TableName(f"t{i}") for i in range(14)]
    with pytest.raises(UsageError) as caught:
        chosen_table("x", few)
    assert caught.value.hint == f"The tables are {', '.join(name.shown for name in few)}."
    with pytest.raises(UsageError) as caught:
        chosen_table("x", [TableName(f"t{i}") for i in range(34)])
    assert caught.value.hint and caught.value.hint.endswith("t29 and 4 more.")


def test_tables_of_one_name_are_listed_with_their_schemas() -> None:
    names = [TableName("item", schema, "item") for schema in ("crm", "shop")]
    with pytest.raises(UsageError, match="nope") as caught:
        chosen_table("nope", names)
    assert caught.value.hint == "The tables are crm.item, shop.item."


def test_the_very_spelling_goes_before_another_case() -> None:
    """Databases may hold both."""
    twins = [TableName("Orders"), TableName("orders")]
    assert chosen_table("orders", twins) == "orders"
    with pytest.raises(UsageError, match="ORDERS matches 2 tables"):
        chosen_table("ORDERS", twins)


def test_a_table_that_cannot_be_read_is_reported_with_its_reason(
    fluid: Fluid, tmp_path: Path
) -> None:
    """It is there, so that it's not the name that is wrong."""
    (tmp_path / "good.csv").write_text("id,name\n1,a\n2,b\n")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and then nothing")
    outcome = fluid("profile", tmp_path, "--table", "bad")
    assert outcome.code == 2
    assert "bad can't be read: " in outcome.err
