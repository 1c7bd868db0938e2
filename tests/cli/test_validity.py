"""Decisions about loads are made for a warehouse that is loaded already, and taken back."""

from pathlib import Path

import pytest

from tests.cli.running import STATEMENTS, Fluid, run
from tests.cli.test_apply import Applying, duckdb_shop
from tests.forges import forged

_HISTORY = {"data_vault_2": "sat_customer", "dimensional": "dim_customer_history"}


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_versions_go_by_stamps_from_a_decision_on_until_it_is_taken_back(
    fluid: Fluid, tmp_path: Path, technique: str
) -> None:
    """A rollback leads to before the decision, and each apply is proven."""
    source = tmp_path / "shop.duckdb"
    run(source, *STATEMENTS)
    run(
        source,
        "ALTER TABLE customer ADD COLUMN updated_at TIMESTAMP",
        "UPDATE customer SET updated_at = TIMESTAMP '2020-01-01'",
    )
    folder = forged(source, tmp_path / "model", technique)
    shop = Applying(folder, lambda changes: run(source, *changes), None, fluid)
    first = shop.apply()
    assert first.code == 0, first.out + first.err
    before = shop.rows()

    def night(city: str) -> None:
        shop.change(
            (f"UPDATE customer SET city = '{city}', updated_at = now() WHERE customer_id = 107",)
        )
        applied = shop.apply()
        assert applied.code == 0, applied.out + applied.err

    decided = fluid("decide", folder, "validity", "customer", "stamp")
    assert decided.code == 0, decided.err
    planned = fluid("plan", folder)
    assert f"{_HISTORY[technique]}.applied_date" in " ".join(planned.out.split()), planned.out
    night("Bern")
    taken_back = fluid("decide", folder, "validity", "customer", "load")
    assert taken_back.code == 0, taken_back.err
    night("Basel")
    dates = shop.query(
        f"SELECT applied_date = load_date, count(*) FROM {{}}.{_HISTORY[technique]}"
        " WHERE city IN ('Bern', 'Basel') GROUP BY ALL ORDER BY 1"
    )
    assert [is_of_load for is_of_load, _ in dates] == [False, True]
    back = shop.rollback("--to", "1", "--yes", "--force")
    assert back.code == 0, back.out + back.err
    history = _HISTORY[technique]
    assert shop.rows()[history] == before[history]


@pytest.mark.usefixtures("dbt")
def test_a_plan_says_that_the_first_delta_has_to_be_whole(fluid: Fluid, tmp_path: Path) -> None:
    """With a part of the table, the load stops it, and what the warehouse held stays."""
    shop = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert shop.apply().code == 0
    before = shop.rows()["sat_customer"]
    assert fluid("decide", shop.folder, "delivery", "customer", "delta").code == 0
    shop.change(
        (
            "UPDATE customer SET city = 'Bern' WHERE customer_id = 107",
            "DELETE FROM customer WHERE customer_id > 107",
        )
    )
    planned = fluid("plan", shop.folder)
    said = " ".join(planned.out.split())
    assert "create kept_customer: customer has to be delivered whole once" in said, planned.out
    stopped = shop.apply("--accept-lost")
    assert stopped.code != 0
    assert "deliver the whole table once" in " ".join((stopped.out + stopped.err).split())
    assert shop.rows()["sat_customer"] == before
