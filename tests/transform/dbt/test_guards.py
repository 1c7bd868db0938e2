"""A delivery that lacks much of what the warehouse holds is not loaded, and everything else is."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.transform.dbt.running import DbtResult, run_dbt
from tests.transform.dbt.evolving import (
    Life,
    Warehouse,
    duckdb_warehouse,
    in_raw,
    model_of,
    postgres_warehouse,
)

pytestmark = pytest.mark.usefixtures("dbt")
_TABLES = (
    "CREATE TABLE city (code VARCHAR(9) PRIMARY KEY, name VARCHAR(40), mayor VARCHAR(40))",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40),"
    " city_code VARCHAR(9) REFERENCES city (code))",
    "CREATE TABLE payment (id INTEGER PRIMARY KEY,"
    " customer_id INTEGER REFERENCES customer (id), paid_on DATE, amount DECIMAL(8,2))",
    *(f"INSERT INTO city VALUES ('c{i}', 'n{i}', 'm{i}')" for i in range(1, 9)),
    *(f"INSERT INTO customer VALUES ({i}, 'n{i}', 'c{1 + i % 8}')" for i in range(1, 61)),
    *(
        f"INSERT INTO payment VALUES ({i}, {1 + i % 60}, DATE '2024-01-{1 + i % 28:02}', {i}.5)"
        for i in range(1, 101)
    ),
)
_PAYMENTS = {
    "data_vault_2": ("sat_payment", "SELECT COUNT(*) FROM main.sat_payment WHERE is_deleted"),
    "dimensional": ("fct_payment", "SELECT 100 - COUNT(*) FROM main.fct_payment"),
}


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    """An empty one of each kind."""
    if request.param == "duckdb":
        yield duckdb_warehouse(tmp_path)
    else:
        yield postgres_warehouse(request.getfixturevalue("postgres"))


def _load(life: Life, day: int, *allowed: str) -> DbtResult:
    variables: dict[str, object] = {"load_date": f"2024-01-{day:02} 00:00:00"}
    return run_dbt(
        life.project, variables=variables | ({"allow_loss": [*allowed]} if allowed else {})
    )


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_a_delivery_without_a_fifth_of_the_keys_is_stopped(
    warehouse: Warehouse, tmp_path: Path, technique: str
) -> None:
    """Payments arrive empty: none is marked as deleted, and the change of a customer is loaded."""
    warehouse.run("CREATE SCHEMA raw", *map(in_raw, _TABLES))
    life = Life(warehouse, tmp_path / "dbt")
    life.become(model_of(tmp_path / "model", _TABLES, technique))
    life.build(1)
    relation, gone = _PAYMENTS[technique]
    warehouse.run(
        "CREATE TABLE raw.held AS SELECT * FROM raw.payment",
        "DELETE FROM raw.payment",
        "UPDATE raw.customer SET name = 'new' WHERE id = 5",
        # A list of few rows may lose any of them.
        "DELETE FROM raw.city WHERE code = 'c8'",
        "DELETE FROM raw.customer WHERE city_code = 'c8'",
    )
    stopped = _load(life, 2)
    (failed,) = stopped.failed
    assert failed.name == "stg_payment"
    assert (
        f"The delivery of payment lacks 100 of the 100 keys that {relation} holds, so it is not"
        " loaded: if the source has only what changed, say so with `fluid decide DIR delivery"
        " payment delta`; if they are gone, build with --vars 'allow_loss: [payment]'."
    ) in " ".join(failed.message.split()), failed.message
    assert warehouse.execute(gone) == [(0,)]
    known = "sat_customer" if technique == "data_vault_2" else "dim_customer_history"
    assert warehouse.rows(known, ["name"], "name = 'new'").total() == 1

    # A fifth may go at once.
    warehouse.run("INSERT INTO raw.payment SELECT * FROM raw.held WHERE id > 20")
    assert _load(life, 3).ok
    assert warehouse.execute(gone) == [(20,)]
    # Other keys instead of them are no less of a loss.
    warehouse.run("UPDATE raw.payment SET id = id + 1000")
    assert [node.name for node in _load(life, 4).failed] == ["stg_payment"]
    warehouse.run("UPDATE raw.payment SET id = id - 1000", "DELETE FROM raw.payment WHERE id > 30")
    assert _load(life, 5, "payment").ok
    assert warehouse.execute(gone) == [(90,)]


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_keys_whose_rows_are_in_quarantine_were_delivered(
    warehouse: Warehouse, tmp_path: Path, technique: str
) -> None:
    """A third of the payments come twice, differently: they're set apart, and nothing stops."""
    tables = [table.replace("INTEGER PRIMARY KEY", "INTEGER") for table in _TABLES]
    tables = [re.sub(r" REFERENCES customer \(id\)", "", table) for table in tables]
    warehouse.run("CREATE SCHEMA raw", *map(in_raw, tables))
    life = Life(warehouse, tmp_path / "dbt")
    life.become(model_of(tmp_path / "model", tables, technique))
    life.build(1)
    warehouse.run(
        "INSERT INTO raw.payment"
        " SELECT id, customer_id, paid_on, amount + 1 FROM raw.payment WHERE id <= 33"
    )
    assert not _load(life, 2).failed
    assert warehouse.execute(
        "SELECT COUNT(*) FROM main.quarantine WHERE broken_rule = 'repeated id'"
    ) == [(66,)]
    warehouse.run("DELETE FROM raw.payment WHERE id > 66")
    (failed,) = _load(life, 3).failed
    assert "lacks 34 of the" in failed.message, failed.message
