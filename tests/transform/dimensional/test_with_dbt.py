"""The same star, built by dbt: twice, with a change of the source in between."""

from datetime import date, datetime
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
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, segment VARCHAR,"
    " balance DOUBLE)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, ordered DATE, paid DOUBLE)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 3, 's' || i % 2, i / 3 "
    "FROM range(1, 31) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 30, DATE '2024-01-01' + i::INTEGER, i / 3 "
    "FROM range(60) r(i)",
)


@pytest.mark.usefixtures("dbt")
def test_dbt_keeps_versions_and_snapshots_and_dates_each_event(tmp_path: Path) -> None:
    """A move adds one version, and a second load that day replaces the balances of the day."""
    shop = database(tmp_path / "shop.duckdb", *_SMALL)
    with open_source(shop) as source:
        profile = profile_source(source)
    references = (reference("orders", "customer_id", "customer", "id"),)
    model = build_model(profile.model_copy(update={"foreign_keys": references}), "dimensional")
    plan = transform_plan(model)
    project = written(dbt_project(plan, model, access=duckdb_access(plan, shop)), tmp_path / "dbt")
    for day, change in (
        (datetime(2024, 1, 1), ""),
        (datetime(2024, 1, 16), "UPDATE customer SET city = 'new' WHERE id = 5"),
        (datetime(2024, 1, 16, 12), "UPDATE customer SET balance = 0"),
    ):
        if change:
            with duckdb.connect(str(shop)) as connection:
                connection.execute(change)
        load(project, day.isoformat(" "))
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "SELECT o.ordered_date_key < 20240116, c.city FROM main.fct_orders o"
            " JOIN main.dim_customer c USING (customer_key) WHERE c.id = 5 ORDER BY o.id"
        ).fetchall()
        versions = connection.execute("SELECT count(*) FROM main.dim_customer_history").fetchone()
        balances = connection.execute(
            "SELECT d.full_date, count(*), round(sum(s.balance), 2)"
            " FROM main.fct_customer_snapshot s"
            " JOIN main.dim_date d ON d.date_key = s.snapshot_date_key GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    assert balances == [(date(2024, 1, 1), 30, 155.0), (date(2024, 1, 16), 30, 0.0)]
    assert found == [(True, "c2"), (False, "new")]
    assert versions == (31,)
