"""A warehouse beside its source: it's no source, and a forge again doesn't end its model."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from fluid_build.sources import open_source
from tests.cli.running import STATEMENTS, Fluid, Outcome
from tests.postgres import PostgresDatabase

WAREHOUSE = (
    "CREATE SCHEMA shop_model",
    "CREATE TABLE shop_model.fluid_deployments (deployment BIGINT NOT NULL)",
    "CREATE TABLE shop_model.dim_customer (customer_key VARCHAR(32), city VARCHAR(40))",
    "INSERT INTO shop_model.dim_customer VALUES ('a', 'Town 1'), ('b', 'Town 2')",
)
"""A warehouse in the database of its source, as an apply leaves it."""
NOTE = (
    "The schema shop_model isn't read: a warehouse that Fluid Forge loads is in it. Add --schema"
    " shop_model to read it."
)


@pytest.fixture(params=["duckdb", "postgres"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Callable[..., object]]:
    """Two tables of a shop, where they are, and how statements run there."""
    if request.param == "postgres":
        database: PostgresDatabase = request.getfixturevalue("postgres")
        database.run(";".join(STATEMENTS))
        return database.uri, lambda *statements: database.run(";".join(statements))
    file = str(tmp_path / "shop.duckdb")

    def run(*statements: str) -> None:
        with duckdb.connect(file) as connection:
            for statement in statements:
                connection.execute(statement)

    run(*STATEMENTS)
    return file, run


Shop = tuple[str, Callable[..., object]]


def forge(fluid: Fluid, uri: str, out: Path, *options: str) -> Outcome:
    words = ("forge", "data-model", "from-source", "--uri", uri, "-o", out, *options)
    return fluid(*words, "--technique", "dimensional")


def tables_of(folder: Path) -> set[str]:
    """The tables that a folder's model is of."""
    profile = json.loads((folder / "design.json").read_text())["profile"]
    return {table["name"] for table in profile["tables"]}


@pytest.mark.parametrize("record", ["fluid_deployments", "fluid_migrations", "FLUID_DEPLOYMENTS"])
def test_a_schema_that_a_warehouse_is_in_is_no_source(shop: Shop, record: str) -> None:
    """What is left out is said, and how it's read all the same."""
    uri, run = shop
    run(*(each.replace("fluid_deployments", f'"{record}"') for each in WAREHOUSE))
    with open_source(uri) as source:
        assert {table.name for table in source.tables} == {"customer", "orders"}
        assert NOTE in source.notes


def test_a_warehouse_is_a_source_by_the_name_of_its_schema(shop: Shop) -> None:
    """A glob that other schemas match as well doesn't name it."""
    uri, run = shop
    run(*WAREHOUSE)
    with open_source(uri, schemas=["shop_model"]) as source:
        assert "dim_customer" in {table.name for table in source.tables}
        assert NOTE not in source.notes
    with open_source(uri, schemas=["*"]) as source:
        assert {table.name for table in source.tables} == {"customer", "orders"}
        assert NOTE in source.notes


def test_a_database_with_nothing_but_a_warehouse_is_read(shop: Shop) -> None:
    """As ``fluid test`` and ``fluid profile`` are pointed at a warehouse in a file of its own."""
    uri, run = shop
    run("DROP TABLE orders", "DROP TABLE customer", *WAREHOUSE)
    with open_source(uri) as source:
        assert "fluid_deployments" in {table.name.rpartition(".")[2] for table in source.tables}
        assert not any("isn't read" in note for note in source.notes)


def test_a_forge_again_goes_on_beside_its_warehouse(
    fluid: Fluid, shop: Shop, tmp_path: Path
) -> None:
    """Whether a part is designed anew or not: the rest of the model stays, and its tables."""
    uri, run = shop
    out = tmp_path / "model"
    assert forge(fluid, uri, out).code == 0
    run(*WAREHOUSE)
    for redesign in ((), ("--redesign", "customer")):
        outcome = forge(fluid, uri, out, *redesign)
        assert outcome.code == 0, outcome.err
        assert "designed anew and" not in " ".join(outcome.out.split())
        assert tables_of(out) == {"customer", "orders"}


def test_a_schema_that_is_new_is_read_where_it_is_said(
    fluid: Fluid, postgres: PostgresDatabase, tmp_path: Path
) -> None:
    """A server's schemas are chosen by the first forge, so that dbt may build in another one."""
    postgres.run(";".join(STATEMENTS))
    out = tmp_path / "model"
    assert forge(fluid, postgres.uri, out).code == 0
    postgres.run("CREATE SCHEMA other; CREATE TABLE other.thing (id INTEGER)")
    assert forge(fluid, postgres.uri, out).code == 0
    assert tables_of(out) == {"customer", "orders"}
    refused = forge(fluid, postgres.uri, out, "--schema", "*")
    assert refused.code == 2
    assert "reads --schema '*'" in " ".join(refused.err.split())


def test_a_forge_again_reads_the_tables_that_were_chosen(
    fluid: Fluid, shop: Shop, tmp_path: Path
) -> None:
    """What isn't said is as in the folder."""
    uri, _ = shop
    out = tmp_path / "model"
    assert forge(fluid, uri, out, "--include", "customer").code == 0
    assert forge(fluid, uri, out).code == 0
    assert tables_of(out) == {"customer"}


def test_another_choice_of_tables_does_not_end_a_model_silently(
    fluid: Fluid, shop: Shop, tmp_path: Path
) -> None:
    """It's refused with both ways out, and nothing is written; asked for, it's done."""
    uri, _ = shop
    out = tmp_path / "model"
    assert forge(fluid, uri, out, "--include", "customer").code == 0
    before = (out / "model.json").read_bytes()
    refused = forge(fluid, uri, out, "--include", "customer", "--include", "orders")
    assert refused.code == 2
    words = " ".join(refused.err.split())
    assert "--include customer, and this forge reads " in words
    assert "--include customer --include orders. That would end the model" in words
    assert "Measuring" not in words
    assert "--redesign all" in words and "another folder" in words
    assert (out / "model.json").read_bytes() == before
    everything = ("--include", "*", "--redesign", "all")
    assert forge(fluid, uri, out, *everything).code == 0
    assert tables_of(out) == {"customer", "orders"}
