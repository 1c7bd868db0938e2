"""The same vault, loaded by dbt: twice, with a change of the source in between."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.data_vault.business_queries import AS_OF
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import reference
from tests.transform.databases import database
from tests.transform.dbt.projects import duckdb_access, load, written

_SMALL = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, street VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, ordered DATE)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c', 's' FROM range(1, 9) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 8, DATE '2024-01-01' FROM range(20) r(i)",
)
_CHANGES = (
    "UPDATE customer SET name = 'other' WHERE id = 1",
    "UPDATE orders SET customer_id = 9 WHERE id = 1",
    "DELETE FROM orders WHERE id = 2",
)


@pytest.mark.usefixtures("dbt")
def test_dbt_adds_what_changed_and_nothing_else(tmp_path: Path) -> None:
    """A change, an orphan and deletions come out as they do in the direct run."""
    shop = database(tmp_path / "shop.duckdb", *_SMALL)
    with open_source(shop) as source:
        profile = profile_source(source)
    references = (reference("orders", "customer_id", "customer", "id"),)
    model = build_model(profile.model_copy(update={"foreign_keys": references}), "data_vault_2")
    plan = transform_plan(model)
    project = written(dbt_project(plan, model, access=duckdb_access(plan, shop)), tmp_path / "dbt")
    load(project, "2024-01-01 00:00:00")
    with duckdb.connect(str(shop)) as connection:
        for change in _CHANGES:
            connection.execute(change)
    load(project, "2024-01-02 00:00:00")
    names = [one.name for one in plan.published]
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        added = {name: _added(connection, name) for name in names}
    assert {name: count for name, count in added.items() if count} == {
        "hub_customer": 1,
        "sat_customer": 1,
        "lnk_orders_customer": 1,
        "sat_orders": 1,
        "eff_sat_orders_customer": 3,
    }


_DETAIL = (
    *_SMALL,
    "CREATE TABLE detail (customer_id INTEGER PRIMARY KEY, hobby VARCHAR)",
    "CREATE TABLE claim (id INTEGER PRIMARY KEY, order_id INTEGER, amount DECIMAL(8, 2))",
    "INSERT INTO detail SELECT i, 'h' || i FROM range(1, 5) r(i)",
    "INSERT INTO claim SELECT i, 1 + i % 12, i * 1.5 FROM range(1, 31) r(i)",
)


_DETAIL_CHANGES = (
    "UPDATE customer SET name = 'other' WHERE id = 1",
    "UPDATE detail SET hobby = 'other' WHERE customer_id = 2",
    "UPDATE orders SET customer_id = 3 WHERE id = 1",
    "DELETE FROM claim WHERE id = 2",
)


@pytest.mark.usefixtures("dbt")
def test_dbt_adds_a_snapshot_to_a_business_vault(tmp_path: Path) -> None:
    """Every test holds after each load, and one of the same adds nothing.

    The queries on it return what those on the raw vault do, before the changes and after them.
    """
    shop = database(tmp_path / "shop.duckdb", *_DETAIL)
    with open_source(shop) as source:
        profile = profile_source(source)
    references = (
        reference("orders", "customer_id", "customer", "id"),
        reference("detail", "customer_id", "customer", "id"),
        reference("claim", "order_id", "orders", "id"),
    )
    profile = profile.model_copy(update={"foreign_keys": references})
    model = build_model(profile, "data_vault_2", business_vault=True)
    plan = transform_plan(model)
    project = written(dbt_project(plan, model, access=duckdb_access(plan, shop)), tmp_path / "dbt")
    sizes = []
    for day in (1, 2, 3):
        if day == 3:
            with duckdb.connect(str(shop)) as connection:
                for change in _DETAIL_CHANGES:
                    connection.execute(change)
        result = run_dbt(project, variables={"load_date": f"2024-01-0{day} 00:00:00"})
        assert result.ok and not result.warned, result
        with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
            sizes.append({build.name: _rows(connection, build.name) for build in plan.published})
    assert sizes[0] == sizes[1]
    grown = {name: sizes[2][name] - sizes[1][name] for name in sizes[2]}
    assert grown["snapshot_dates"] == 1
    assert grown["pit_customer"] == 9 and grown["bridge_claim"] == 29
    business = model.dv2.business_vault if model.dv2 else None
    assert business is not None
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        for table in (*business.point_in_time_tables, *business.bridges):
            for moment in (AS_OF, "TIMESTAMP '2024-01-02 12:00:00'"):
                queries = (q.replace(AS_OF, moment) for q in (table.query, table.raw_query))
                rows, expected = (Counter(connection.execute(q).fetchall()) for q in queries)
                assert rows and rows == expected


def _rows(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM main.{name}").fetchone()
    assert row is not None
    return int(row[0])


def _added(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    query = f"SELECT count(*) FROM main.{name} WHERE load_date > TIMESTAMP '2024-01-01'"
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])
