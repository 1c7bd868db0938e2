"""The same vault, loaded by dbt: twice, with a change of the source in between."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.dbt.project import dbt_project
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


def _added(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    query = f"SELECT count(*) FROM main.{name} WHERE load_date > TIMESTAMP '2024-01-01'"
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])
