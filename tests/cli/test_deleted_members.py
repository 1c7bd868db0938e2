"""A star loaded by dbt: members go and come back, and an orphan arrives."""

from pathlib import Path

import duckdb
import psycopg
import pytest

from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.transform.dbt.running import run_dbt
from tests.cli.running import Fluid, run
from tests.forges import forged
from tests.postgres import PostgresDatabase

_SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, code VARCHAR, city VARCHAR, segment VARCHAR)",
    "CREATE TABLE product (id INTEGER PRIMARY KEY, label VARCHAR)",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL,"
    " product INTEGER NOT NULL, sold DATE, paid DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'c' || i, ['Rome', 'Oslo', 'Lyon'][1 + i % 3],"
    " ['private', 'firm'][1 + i % 2] FROM range(1, 31) r(i)",
    "INSERT INTO product SELECT i, 'p' || i FROM range(1, 9) r(i)",
    "INSERT INTO sale SELECT i, 1 + i % 30, 1 + i % 8, DATE '2024-01-01' + i::INTEGER, i * 1.5"
    " FROM range(1, 121) r(i)",
)


@pytest.mark.usefixtures("dbt")
def test_a_star_keeps_what_the_source_deletes_and_shows_what_never_was(
    fluid: Fluid, tmp_path: Path
) -> None:
    """Type 1 and type 2 alike; a sale to nobody is loaded, and breaks a promise all the same."""
    source = tmp_path / "shop.duckdb"
    run(source, *_SHOP)
    folder = forged(source, tmp_path / "star", "dimensional")
    warehouse = folder / "dbt" / "shop.duckdb"
    assert run_dbt(folder / "dbt").ok
    run(source, "DELETE FROM customer WHERE id = 5", "DELETE FROM product WHERE id = 3")
    assert run_dbt(folder / "dbt").ok
    assert read(warehouse, "SELECT code, city, is_deleted FROM dim_customer WHERE id = 5") == [
        ("c5", "Lyon", True)
    ]
    assert read(warehouse, "SELECT label, is_deleted FROM dim_product WHERE id = 3") == [
        ("p3", True)
    ]
    assert read(
        warehouse,
        "SELECT count(c.id), count(p.id) FROM fct_sale"
        " JOIN dim_customer AS c USING (customer_key) JOIN dim_product AS p USING (product_key)",
    ) == [(120, 120)]
    contract = folder / "contract.fluid.yaml"
    assert fluid("test", contract, "--uri", warehouse).code == 0
    assert fluid("verify", folder, "--warehouse", warehouse).code == 0

    run(
        source,
        "INSERT INTO customer VALUES (5, 'c5', 'Bern', 'firm')",
        "UPDATE sale SET product = 99 WHERE id = 1",
    )
    assert run_dbt(folder / "dbt").ok
    assert read(
        warehouse,
        "SELECT city, is_current, is_deleted FROM dim_customer WHERE id = 5 ORDER BY valid_from",
    ) == [("Lyon", False, False), ("Bern", True, False)]
    tested = fluid("test", contract, "--uri", warehouse)
    assert tested.code == 1
    assert 'LEFT JOIN "dim_product" AS p' in tested.out


@pytest.mark.usefixtures("dbt")
def test_postgresql_keeps_them_as_well(
    fluid: Fluid, postgres: PostgresDatabase, tmp_path: Path
) -> None:
    """Source and star are in one database: a second load keeps a member, and all is proven."""
    postgres.run(
        "CREATE TABLE product (id INTEGER PRIMARY KEY, label VARCHAR(20));"
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, product INTEGER, paid NUMERIC(9, 2));"
        "INSERT INTO product SELECT i, 'p' || i FROM generate_series(1, 8) i;"
        "INSERT INTO sale SELECT i, 1 + i % 8, i * 1.5 FROM generate_series(1, 60) i"
    )
    with open_source(postgres.uri) as opened:
        forge(
            opened,
            technique="dimensional",
            target="postgres",
            out=tmp_path / "star",
        )
    server = {"PGHOST": str(postgres.folder), "PGUSER": "postgres", "PGDATABASE": postgres.name}
    assert run_dbt(tmp_path / "star" / "dbt", environment=server).ok
    postgres.run("DELETE FROM product WHERE id = 3")
    assert run_dbt(tmp_path / "star" / "dbt", environment=server).ok
    schema = f"{postgres.name}_model"
    with psycopg.connect(postgres.uri) as connection:
        kept = connection.execute(
            f"SELECT label, is_deleted, count(*) FROM {schema}.dim_product"  # type: ignore[arg-type]
            f" JOIN {schema}.fct_sale USING (product_key) WHERE is_deleted GROUP BY 1, 2"
        ).fetchall()
    assert kept == [("p3", True, 8)]
    outcome = fluid(
        "verify", tmp_path / "star", "--uri", postgres.uri, "--warehouse", postgres.uri,
        "--warehouse-schema", schema,
    )  # fmt: skip
    assert outcome.code == 0, outcome.out + outcome.err


def read(warehouse: Path, sql: str) -> list[tuple[object, ...]]:
    """The rows of a query in a DuckDB file."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(sql).fetchall()
