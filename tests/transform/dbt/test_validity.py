"""Four nights of changes with stamps, loaded by dbt: versions hold from when they were made."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.evolution import Evolution
from tests.transform.dbt.evolving import (
    Life,
    Warehouse,
    duckdb_warehouse,
    in_raw,
    model_of,
    postgres_warehouse,
)
from tests.transform.test_validity import TABLES, VALIDITY

pytestmark = pytest.mark.usefixtures("dbt")
_VERSIONS = {
    "data_vault_2": "SELECT CAST(applied_date AS VARCHAR), city, is_deleted FROM main.sat_customer"
    " JOIN main.hub_customer USING (customer_hk) WHERE id = 3 ORDER BY main.sat_customer.load_date",
    "dimensional": "SELECT CAST(applied_date AS VARCHAR), city, is_deleted"
    " FROM main.dim_customer_history WHERE id = 3 ORDER BY load_date",
}
_UPDATE = "UPDATE raw.customer SET city = '{}', updated_at = {} WHERE id = 3"


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    """An empty one of each kind."""
    if request.param == "duckdb":
        yield duckdb_warehouse(tmp_path)
    else:
        yield postgres_warehouse(request.getfixturevalue("postgres"))


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_nights_of_stamps_on_a_warehouse_that_was_loaded_before(
    warehouse: Warehouse, tmp_path: Path, technique: str
) -> None:
    """The decision comes on the second night; what was loaded before keeps its dates and keys."""
    warehouse.run(
        "CREATE SCHEMA raw", *map(in_raw, (each.replace("1999-", "2023-") for each in TABLES))
    )
    life = Life(warehouse, tmp_path / "dbt")
    model = model_of(tmp_path / "model", TABLES, technique)
    life.become(model)
    life.build(1)
    warehouse.run(_UPDATE.format("two", "TIMESTAMP '2024-01-01 08:00:00'"))
    life.build(2)
    known = life.known()
    decided = {"validities": (VALIDITY,), "evolution": Evolution(dated_tables=("customer",))}
    life.become(model.model_copy(update=decided))
    assert "dbt run-operation migrate" in life.refusal()
    life.migrate()
    warehouse.run(_UPDATE.format("three", "TIMESTAMP '2024-01-02 08:00:00'"))
    life.build(3)
    warehouse.run(_UPDATE.format("four", "TIMESTAMP '2024-01-09 08:00:00'"))
    life.build(4)
    warehouse.run("CREATE TABLE raw.away AS SELECT * FROM raw.customer WHERE id = 3")
    warehouse.run("DELETE FROM raw.customer WHERE id = 3")
    life.build(5)
    warehouse.run("INSERT INTO raw.customer SELECT * FROM raw.away")
    warehouse.run(_UPDATE.format("five", "TIMESTAMP '2024-01-05 11:30:00'"))
    life.build(6)
    assert warehouse.execute(_VERSIONS[technique]) == [
        ("2024-01-01 00:00:00", "c3", False),
        ("2024-01-02 00:00:00", "two", False),
        ("2024-01-02 08:00:00", "three", False),
        ("2024-01-04 00:00:00", "four", False),
        ("2024-01-05 00:00:00", "four", True),
        ("2024-01-05 11:30:00", "five", False),
    ]
    assert life.known(known, before=3) == known
    if technique == "dimensional":
        valid = warehouse.execute(
            "SELECT CAST(valid_to AS VARCHAR) FROM main.dim_customer WHERE id = 3"
            " ORDER BY valid_from"
        )
        assert [moment for (moment,) in valid] == [
            "2024-01-02 00:00:00",
            "2024-01-02 08:00:00",
            "2024-01-04 00:00:00",
            "2024-01-05 00:00:00",
            "9999-12-31 00:00:00",
        ]
