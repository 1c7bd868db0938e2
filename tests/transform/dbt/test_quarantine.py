"""Bad rows, met by ``dbt build``: they're set apart and reported, and nothing is stopped."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psycopg
import pytest

from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources import open_source
from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.dbt.source_access import source_access
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import Proof
from fluid_build.transform.proof.warehouse import prove_warehouse
from tests.postgres import PostgresDatabase
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import duckdb_access, written

_SHOP = (
    "CREATE TABLE customer (id INTEGER, name VARCHAR(40), city VARCHAR(40))",
    "CREATE TABLE orders (id INTEGER, customer_id INTEGER, placed DATE, total DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'name ' || i, 'city ' || i % 7"
    " FROM generate_series(1, 40) AS r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 40, DATE '2024-01-01' + CAST(i % 90 AS INTEGER), i * 1.5"
    " FROM generate_series(1, 200) AS r(i)",
)
"""No key is declared, so that any row may come."""
_BAD = (
    "INSERT INTO customer VALUES (NULL, 'nobody', 'x'), (7, 'another', 'y'), (41, 'new', 'z')",
    "INSERT INTO orders SELECT * FROM orders WHERE id = 3",
    "INSERT INTO orders VALUES (201, 99, DATE '2024-04-01', 10)",
)
"""A null key, two rows of one key, a row that is there twice, and an order before its customer."""
_REPAIRED = (
    "DELETE FROM customer WHERE id IS NULL OR name = 'another'",
    "DELETE FROM orders WHERE id = 3",
    "INSERT INTO orders VALUES (3, 4, DATE '2024-01-04', 4.5)",
    "INSERT INTO customer VALUES (99, 'late', 'z')",
)
_SET_APART = {
    ("customer", "NULL id"): 1,
    ("customer", "repeated id"): 2,
    ("orders", "the same row again"): 1,
}


@dataclass
class _Shop:
    """A project on a database that is its source, and the source of its rows."""

    plan: TransformPlan
    model: LogicalModel
    source: str | Path
    warehouse: str
    schema: str
    project: Path
    environment: dict[str, str]
    change: Callable[[Sequence[str]], None]
    query: Callable[[str], list[tuple[object, ...]]]
    day: int = 0

    def load(self, changes: Sequence[str] = ()) -> DbtResult:
        self.change(changes)
        self.day += 1
        moment = {"load_date": f"2024-05-0{self.day} 00:00:00"}
        return run_dbt(self.project, variables=moment, environment=self.environment)

    def proof(self) -> Proof:
        schemas = ["public"] if isinstance(self.source, str) else []
        with open_source(self.source, schemas=schemas) as source:
            result = prove_warehouse(
                source, self.plan, self.model, self.warehouse, schema=self.schema
            )
        assert result.proof is not None, result.faults
        assert result.contradictions == ()
        return result.proof


@contextmanager
def _on_duckdb(folder: Path, technique: str, tables: Sequence[str] = _SHOP) -> Iterator[_Shop]:
    file = database(folder / "shop.duckdb", *tables)
    with modelled(file, technique) as shop:
        model = shop.model
    plan = transform_plan(model)
    project = written(dbt_project(plan, model, access=duckdb_access(plan, file)), folder / "dbt")
    built = project / f"{plan.name}.duckdb"

    def change(statements: Sequence[str]) -> None:
        with duckdb.connect(str(file)) as connection:
            for statement in statements:
                connection.execute(statement)

    def query(sql: str) -> list[tuple[object, ...]]:
        with duckdb.connect(str(built), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    yield _Shop(plan, model, file, str(built), "main", project, {}, change, query)


@contextmanager
def _on_postgres(
    postgres: PostgresDatabase, folder: Path, technique: str, tables: Sequence[str] = _SHOP
) -> Iterator[_Shop]:
    def change(statements: Sequence[str]) -> None:
        with psycopg.connect(postgres.uri) as connection:
            for statement in statements:
                connection.execute(statement)

    change(tables)
    with modelled(postgres.uri, technique) as shop:
        model, plan = shop.model, transform_plan(shop.model)
        access = source_access(
            shop.source, plan, locate(postgres.uri), project_dir=folder, target="postgres"
        )
        written(dbt_project(plan, model, target="postgres", access=access), folder)
    environment = {
        "PGHOST": str(postgres.folder),
        "PGUSER": "postgres",
        "PGDATABASE": postgres.name,
    }

    def query(sql: str) -> list[tuple[object, ...]]:
        with psycopg.connect(postgres.uri) as connection:
            connection.execute(f"SET search_path TO {access.schema}")
            return connection.execute(sql).fetchall()

    schema = str(access.schema)
    yield _Shop(plan, model, postgres.uri, postgres.uri, schema, folder, environment, change, query)


_EARLY: dict[str, list[tuple[object, ...]]] = {
    "data_vault_2": [(99,)],
    "dimensional": [(None,)],
    "flat": [(99,)],
}
"""Which customer the early order leads to before that one comes: null is the unknown member."""
_EARLY_MEMBER = {
    "data_vault_2": (
        "SELECT c.id FROM lnk_orders_customer AS l JOIN hub_orders AS o USING (orders_hk)"
        " JOIN hub_customer AS c USING (customer_hk) WHERE o.id = 201",
        "SELECT s.name FROM sat_customer AS s JOIN hub_customer AS c USING (customer_hk)"
        " WHERE c.id = 99",
    ),
    "dimensional": (
        "SELECT d.id FROM fct_orders AS f JOIN dim_customer AS d USING (customer_key)"
        " WHERE f.id = 201",
        "SELECT name FROM dim_customer WHERE id = 99",
    ),
    "flat": (
        "SELECT customer_id FROM orders WHERE id = 201",
        "SELECT name FROM customer WHERE id = 99",
    ),
}


def _early_member(shop: _Shop) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Which customer an order leads to that came before it, and what is known of that one."""
    leads_to, described = _EARLY_MEMBER[shop.model.technique]
    return shop.query(leads_to), shop.query(described)


def _three_days(shop: _Shop) -> None:
    """Load sound rows, bad ones, and repaired ones; each day says what it must."""
    first = shop.load()
    assert first.ok and not first.warned, [*first.failed, *first.warned]
    second = shop.load(_BAD)
    assert second.ok, [*second.failed, *second.skipped]
    assert "quarantine_is_empty" in {node.name for node in second.warned}
    found = shop.query(
        "SELECT source_table, broken_rule, COUNT(*) FROM quarantine GROUP BY 1, 2 ORDER BY 1, 2"
    )
    assert {(table, rule): rows for table, rule, rows in found} == _SET_APART
    assert _early_member(shop) == (_EARLY[shop.model.technique], [])
    proof = shop.proof()
    assert proof.verdict == "proven", proof.reason
    assert {(t.table, q.rule): q.rows for t in proof.tables for q in t.quarantined} == _SET_APART
    third = shop.load(_REPAIRED)
    assert third.ok and not third.warned, [*third.failed, *third.warned]
    early, described = _early_member(shop)
    assert (early, described) == (_EARLY["data_vault_2"], [("late",)])
    proof = shop.proof()
    assert proof.verdict == "proven", proof.reason
    assert not any(table.quarantined for table in proof.tables)


_STATES = {
    "data_vault_2": (
        "SELECT COUNT(*) FROM sat_customer AS s JOIN hub_customer AS h USING (customer_hk)"
        " WHERE h.id = 7"
    ),
    "dimensional": (
        "SELECT COUNT(*) FROM fct_orders AS f JOIN dim_customer AS d USING (customer_key)"
        " WHERE f.id = 201 AND d.id = 99"
    ),
    "flat": "SELECT COUNT(*) FROM customer WHERE id = 7",
}
"""What is there once at the end: the one state of a held key, the member of the early order."""


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", _STATES)
def test_bad_rows_stop_nothing_on_duckdb(tmp_path: Path, technique: str) -> None:
    """They're reported on their day, and gone when they're repaired."""
    with _on_duckdb(tmp_path, technique) as shop:
        _three_days(shop)
        assert shop.query(_STATES[technique]) == [(1,)]


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", _STATES)
def test_bad_rows_stop_nothing_on_postgres(
    postgres: PostgresDatabase, tmp_path: Path, technique: str
) -> None:
    """As on DuckDB, where rows are written otherwise as JSON."""
    with _on_postgres(postgres, tmp_path, technique) as shop:
        _three_days(shop)
        assert shop.query(_STATES[technique]) == [(1,)]


_WITH_SALES = (
    *_SHOP,
    "CREATE TABLE product (id INTEGER, name VARCHAR(40), price DECIMAL(9, 2))",
    "INSERT INTO product SELECT i, 'thing ' || i, i / 4.0 FROM generate_series(1, 20) AS r(i)",
    "CREATE TABLE sale (id INTEGER, customer_id INTEGER, product_id INTEGER, sold_at TIMESTAMP,"
    " amount DECIMAL(9, 2))",
    "INSERT INTO sale SELECT i, 1 + i % 40, 1 + i % 20,"
    " TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour', i * 1.5 FROM generate_series(1, 300) AS r(i)",
)
"""Sales become a link of a customer and a product, which every sale has."""
_ZERO = "0" * 32
_SALES = (
    "SELECT l.id, c.id, p.id FROM tl_sale AS l JOIN hub_customer AS c USING (customer_hk)"
    " JOIN hub_product AS p USING (product_hk) WHERE l.id > 300 ORDER BY l.id, c.id"
)
"""What the sales of the second night refer to, by inner joins."""


def _missing_keys(shop: _Shop) -> None:
    """Load sales with their customers, some without, and none without; all are in the vault."""
    first = shop.load()
    assert first.ok and not first.warned, [*first.failed, *first.warned]
    assert shop.query("SELECT count(*) FROM hub_customer") == [(40,)]
    second = shop.load(
        [
            "INSERT INTO sale VALUES (301, NULL, 3, TIMESTAMP '2024-05-01 00:00:00', 9)",
            "INSERT INTO sale VALUES (302, NULL, NULL, TIMESTAMP '2024-05-01 00:00:00', 9)",
        ]
    )
    assert second.ok, [*second.failed, *second.skipped]
    assert {node.name for node in second.warned} == {"tl_sale_expectations"}
    assert shop.query(_SALES) == [(301, None, 3), (302, None, None)]
    proof = shop.proof()
    assert proof.verdict == "proven", proof.reason
    third = shop.load(["UPDATE sale SET customer_id = 7, product_id = 3 WHERE id > 300"])
    assert third.ok, [*third.failed, *third.skipped]
    assert shop.query(f"{_SALES}, l.load_date") == [
        *((301, 7, 3), (301, None, 3)),
        *((302, 7, 3), (302, None, None)),
    ]
    assert shop.query(
        f"SELECT id, record_source FROM hub_customer WHERE customer_hk = '{_ZERO}'"
    ) == [(None, "ghost record")]
    proof = shop.proof()
    assert proof.verdict == "proven", proof.reason


@pytest.mark.usefixtures("dbt")
def test_a_missing_business_key_stops_nothing_on_duckdb(tmp_path: Path) -> None:
    """It leads to the zero key, and the test of the reference says how many rows lack it."""
    with _on_duckdb(tmp_path, "data_vault_2", _WITH_SALES) as shop:
        _missing_keys(shop)


@pytest.mark.usefixtures("dbt")
def test_a_missing_business_key_stops_nothing_on_postgres(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    """As on DuckDB; there a link's keys are also constraints of its table."""
    with _on_postgres(postgres, tmp_path, "data_vault_2", _WITH_SALES) as shop:
        _missing_keys(shop)
