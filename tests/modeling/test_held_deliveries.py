"""A delivery that isn't loaded weakens no claim of a model."""

from pathlib import Path

import pytest

from fluid_build.modeling.evolution import Evolution
from fluid_build.verification.held_deliveries import held_tables, with_earlier_figures
from fluid_build.verification.present_source import news
from tests.modeling.evolved import SHOP, designed, designed_of, measured, run

LOST = {
    "all rows": "DELETE FROM customers",
    "half of the rows": "DELETE FROM customers WHERE customer_id > 60",
}


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
@pytest.mark.parametrize("lost", LOST)
def test_a_table_that_lost_many_rows_keeps_its_claims(
    tmp_path: Path, technique: str, lost: str
) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    before = designed(database, technique)
    run(database, [LOST[lost]])
    present, observations = measured(database)
    changes = news(before.profile, Evolution(), present)
    assert [change.table for change in changes] == ["customers"]
    held = held_tables(changes, before.model)
    assert held == {"customers"}
    assert held_tables(changes, before.model, {"customers"}) == set()
    today = with_earlier_figures(present, before.profile, held, before.model)
    after = designed_of(today, observations, technique, before.basis)
    assert after.model.conceptual == before.model.conceptual
    assert after.plan == before.plan
    assert after.model.evolution is None


def test_a_flat_model_holds_no_delivery(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    before = designed(database, "flat")
    run(database, [LOST["all rows"]])
    present, _ = measured(database)
    assert held_tables(news(before.profile, Evolution(), present), before.model) == set()
