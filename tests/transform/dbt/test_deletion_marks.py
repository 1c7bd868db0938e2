"""Four nights of a delta whose rows say that they're deleted, loaded by dbt."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.transform.dbt.running import run_dbt
from tests.transform.dbt.evolving import (
    Life,
    Warehouse,
    duckdb_warehouse,
    in_raw,
    model_of,
    postgres_warehouse,
)
from tests.transform.test_deletion_marks import MARKED, TABLES, THERE, VERSIONS

pytestmark = pytest.mark.usefixtures("dbt")


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    """An empty one of each kind."""
    if request.param == "duckdb":
        yield duckdb_warehouse(tmp_path)
    else:
        yield postgres_warehouse(request.getfixturevalue("postgres"))


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_four_nights_of_marked_rows(warehouse: Warehouse, tmp_path: Path, technique: str) -> None:
    """The table was delivered whole at first; the decision comes with a whole delivery."""
    unchecked = [re.sub(r" REFERENCES \w+ \(\w+\)", "", statement) for statement in TABLES]
    warehouse.run("CREATE SCHEMA raw", *map(in_raw, unchecked))
    life = Life(warehouse, tmp_path / "dbt")
    model = model_of(tmp_path / "model", TABLES, technique)
    life.become(model)
    life.build(1)
    life.become(model.model_copy(update={"deliveries": (MARKED,)}))
    warehouse.run("CREATE TABLE raw.held AS SELECT * FROM raw.customer")
    _deliver(warehouse, "3, NULL, NULL, 'D'")
    stopped = run_dbt(life.project, variables={"load_date": "2024-01-02 00:00:00"})
    (failed,) = stopped.failed
    assert "deliver the whole table once" in " ".join(failed.message.split())
    assert len(warehouse.execute(THERE[technique].format("main"))) == 30
    warehouse.run("DELETE FROM raw.customer", "INSERT INTO raw.customer SELECT * FROM raw.held")
    warehouse.run("UPDATE raw.customer SET op = 'D' WHERE id = 3")
    names = {i: f"n{i}" for i in range(1, 31) if i != 3}
    life.build(3)
    assert dict(warehouse.execute(THERE[technique].format("main"))) == names
    _deliver(warehouse, "4, NULL, NULL, 'X'", "5, 'y', 'c1', 'U'", "99, NULL, NULL, 'D'")
    life.build(4)
    names |= {5: "y"}
    del names[4]
    assert dict(warehouse.execute(THERE[technique].format("main"))) == names
    _deliver(warehouse, "3, 'back', 'c6', 'U'", "4, NULL, NULL, 'X'")
    life.build(5)
    names |= {3: "back"}
    assert dict(warehouse.execute(THERE[technique].format("main"))) == names
    found = warehouse.execute(VERSIONS[technique].format("main"))
    assert [gone for gone, _ in found] == [False, True, False]


def _deliver(warehouse: Warehouse, *rows: str) -> None:
    warehouse.run("DELETE FROM raw.customer")
    warehouse.run(*(f"INSERT INTO raw.customer VALUES ({row})" for row in rows))
