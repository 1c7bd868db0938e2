"""Four nights of deltas, loaded by dbt: everybody is there as the last delivery has them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.logical import PartialDelivery
from fluid_build.transform.dbt.running import run_dbt
from tests.transform.dbt.evolving import (
    Life,
    Warehouse,
    duckdb_warehouse,
    in_raw,
    model_of,
    postgres_warehouse,
)
from tests.transform.test_deliveries import DELIVERIES, TABLES

pytestmark = pytest.mark.usefixtures("dbt")
_NAMES = {
    "flat": "SELECT id, full_name FROM main.customer",
    "data_vault_2": "SELECT id, full_name FROM main.hub_customer JOIN (SELECT *, RANK() OVER"
    " (PARTITION BY customer_hk ORDER BY load_date DESC) AS place FROM main.sat_customer) AS s"
    " USING (customer_hk) WHERE place = 1 AND NOT is_deleted",
    "dimensional": "SELECT id, full_name FROM main.dim_customer WHERE NOT is_deleted"
    " AND is_current AND id IS NOT NULL",
}
_PAYMENTS = {
    "flat": "SELECT id, amount FROM main.payment",
    "data_vault_2": "SELECT id, amount FROM main.tl_payment JOIN main.sat_payment"
    " USING (payment_lk) WHERE NOT is_deleted",
    "dimensional": "SELECT id, amount FROM main.fct_payment",
}


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    """An empty one of each kind."""
    if request.param == "duckdb":
        yield duckdb_warehouse(tmp_path)
    else:
        yield postgres_warehouse(request.getfixturevalue("postgres"))


def _life(warehouse: Warehouse, folder: Path, technique: str, *deliveries: PartialDelivery) -> Life:
    # Rows of a delivery refer to some of earlier ones, so that the source checks nothing.
    unchecked = [re.sub(r" REFERENCES \w+ \(\w+\)", "", statement) for statement in TABLES]
    warehouse.run("CREATE SCHEMA raw", *map(in_raw, unchecked))
    life = Life(warehouse, folder / "dbt")
    model = model_of(folder / "model", TABLES, technique)
    life.become(model.model_copy(update={"deliveries": deliveries or None}))
    return life


def _sizes(life: Life) -> dict[str, object]:
    """How many rows each relation has."""
    return {
        build.name: life.warehouse.execute(f"SELECT COUNT(*) FROM main.{build.name}")
        for build in life.plan.lasting
    }


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_four_nights_of_deltas(warehouse: Warehouse, tmp_path: Path, technique: str) -> None:
    """Customers change and come, payments come, and nobody is deleted for being left out."""
    life = _life(warehouse, tmp_path, technique, *DELIVERIES)
    life.build(1)
    names = {i: f"n{i}" for i in range(1, 31)}
    payments = {i: i + 0.5 for i in range(1, 61)}
    for night in range(2, 6):
        changed = {night: f"x{night}", 7: f"y{night}", 100 + night: "new"}
        names |= changed
        payments[100 + night] = 1.5
        warehouse.run(
            "DELETE FROM raw.city",
            "DELETE FROM raw.customer",
            "DELETE FROM raw.payment",
            *(f"INSERT INTO raw.customer VALUES ({i}, '{n}', 'c1')" for i, n in changed.items()),
            # Of the payments, one is delivered once more.
            "INSERT INTO raw.payment VALUES (1, 2, DATE '2024-01-02', 1.5),"
            f" ({100 + night}, {100 + night}, DATE '2024-01-03', 1.5)",
        )
        life.build(night)
        assert dict(warehouse.execute(_NAMES[technique])) == names
        found = warehouse.execute(_PAYMENTS[technique])
        assert {identity: float(amount) for identity, amount in found} == payments
        assert len(found) == len(payments)
    sizes = _sizes(life)
    life.build(night + 1)
    assert _sizes(life) == sizes


def test_the_first_delivery_that_is_kept_has_to_be_whole(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    """What the warehouse held before the decision isn't deleted by a first delta."""
    life = _life(warehouse, tmp_path, "data_vault_2")
    life.build(1)
    life.become(
        model_of(tmp_path / "later", TABLES, "data_vault_2").model_copy(
            update={"deliveries": DELIVERIES}
        )
    )
    warehouse.run(
        "CREATE TABLE raw.held AS SELECT * FROM raw.customer",
        "DELETE FROM raw.customer WHERE id > 28",
    )
    stopped = run_dbt(life.project, variables={"load_date": "2024-01-02 00:00:00"})
    (failed,) = stopped.failed
    assert failed.name == "stg_customer"
    assert "lacks 2 of the 30 keys" in " ".join(failed.message.split()), failed.message
    assert "deliver the whole table once" in " ".join(failed.message.split())
    assert warehouse.execute("SELECT COUNT(*) FROM main.sat_customer WHERE is_deleted") == [(0,)]
    warehouse.run("DELETE FROM raw.customer", "INSERT INTO raw.customer SELECT * FROM raw.held")
    life.build(3)
    assert warehouse.execute("SELECT COUNT(*) FROM main.sat_customer WHERE is_deleted") == [(0,)]
