"""Dates in whole numbers, from a forge to what dbt builds."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.techniques import TECHNIQUES
from tests.cli.running import Fluid
from tests.profiling.calendars import CALENDAR, SALES


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_nothing_is_lost_on_the_way_to_dates_and_back(
    fluid: Fluid, tmp_path: Path, technique: str
) -> None:
    """The numbers are spelled again from the dates, in every technique, by us and by dbt."""
    shop, out = tmp_path / "shop.duckdb", tmp_path / "model"
    with duckdb.connect(str(shop)) as database:
        database.execute(CALENDAR)
        database.execute(SALES)
    outcome = fluid(
        *("forge", "data-model", "from-source", "--uri", shop),
        *("--technique", technique, "-o", out),
    )
    assert (outcome.code, "✓ Proven" in outcome.out) == (0, True), outcome.out
    assert "%Y%m%d" in (out / "plan.json").read_text()
    if technique == "flat":
        tested = fluid("test", out / "contract.fluid.yaml", "--uri", shop)
        assert (tested.code, " 0 failed" in tested.out) == (0, True), tested.out
    if technique == "dimensional":
        assert "dim_date_2" not in (out / "plan.json").read_text()
    proven = fluid("verify", out, "--dbt", "--trust")
    assert proven.code == 0, proven.out + proven.err
