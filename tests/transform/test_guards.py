"""What the staging of each table is compared with, so that a delivery in part isn't loaded."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import jinja2
import pytest
import sqlglot

from fluid_build.transform.dbt.guard_macros import MACROS
from fluid_build.transform.plan.elements import Guard
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled

_TABLES = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id),"
    " ordered DATE, paid DECIMAL(8,2))",
    "CREATE TABLE note (said VARCHAR, at_hour INTEGER)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 4 FROM range(1, 31) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 30, DATE '2024-01-01' + i::INTEGER % 28, i + 0.5"
    " FROM range(1, 60) r(i)",
    "INSERT INTO note SELECT 'same', i % 3 FROM range(40) r(i)",
)


def _guards(place: Path, technique: str) -> dict[str, Guard]:
    with modelled(database(place / "shop.duckdb", *_TABLES), technique) as shop:
        builds = transform_plan(shop.model).builds
    return {build.guard.table: build.guard for build in builds if build.guard is not None}


@pytest.mark.parametrize(
    ("technique", "held"),
    [
        ("flat", {"customer": "customer", "orders": "orders"}),
        ("data_vault_2", {"customer": "sat_customer", "orders": "sat_orders"}),
        ("dimensional", {"customer": "dim_customer", "orders": "fct_orders"}),
    ],
)
def test_each_table_is_compared_by_its_key(
    tmp_path: Path, technique: str, held: dict[str, str]
) -> None:
    guards = _guards(tmp_path, technique)
    assert {table: guards[table].relation for table in held} == held
    assert all(guards[table].exact and guards[table].keys for table in held)


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_rows_without_a_key_are_only_counted(tmp_path: Path, technique: str) -> None:
    assert not _guards(tmp_path, technique)["note"].exact


def _asked(keys: Sequence[str], *, is_history: bool, exact: bool, where: str = "") -> str:
    """The query of the macro on the tables ``held`` and ``arrived``."""
    module = jinja2.Environment().from_string(MACROS).make_module({"this": "arrived"})
    arriving = [f"own_{key}" for key in keys]
    return str(module.held_and_missing("held", keys, arriving, is_history, where, exact))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("keys", "is_history", "exact", "found"),
    [
        # Of five keys, one is deleted; two and a new one arrive, the one of them twice.
        (["k"], True, True, (4, 2)),
        (["k"], True, False, (4, 1)),
        ([], False, False, (6, 2)),
    ],
)
def test_what_is_missing_is_counted(
    keys: list[str], is_history: bool, exact: bool, found: tuple[int, int]
) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE held AS SELECT i AS k, DATE '2024-01-01' AS load_date,"
            " FALSE AS is_deleted FROM range(1, 6) r(i)"
            " UNION ALL SELECT 5, DATE '2024-01-02', TRUE"
        )
        connection.execute("CREATE TABLE arrived AS SELECT unnest([1, 1, 2, 9]) AS own_k")
        sql = _asked(keys, is_history=is_history, exact=exact)
        assert connection.execute(sql).fetchone() == found


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "databricks"])
def test_every_target_can_be_asked(dialect: str) -> None:
    sql = _asked(["a", "b"], is_history=True, exact=True, where="NOT is_deleted")
    assert sqlglot.parse_one(sql, dialect=dialect).find(sqlglot.exp.Having)
