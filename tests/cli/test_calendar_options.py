"""The calendar's options on the command line."""

import json
from pathlib import Path

from tests.cli.running import Fluid

FROM_SOURCE = ("forge", "data-model", "from-source", "--uri")


def test_the_calendar_is_as_the_user_asks(fluid: Fluid, duckdb_shop: Path, tmp_path: Path) -> None:
    """The choice is in the model, so verifying needs no options."""
    choice = ("--technique", "star", "--fiscal-year-start", "July", "--locale", "de")
    csv = tmp_path / "sale.csv"
    csv.write_text(
        "id,sold,amount\n" + "".join(f"{i},2024-03-{i:02},{i}.5\n" for i in range(1, 29))
    )
    assert fluid(*FROM_SOURCE, csv, *choice, "-o", tmp_path / "out").code == 0
    dimensions = json.loads((tmp_path / "out" / "model.json").read_text())["dimensional"][
        "dimensions"
    ]
    (calendar,) = (d["calendar"] for d in dimensions if d["name"] == "dim_date")
    assert (calendar["fiscal_year_start"], calendar["month_names"][2]) == (7, "März")
    assert fluid("verify", tmp_path / "out").code == 0


def test_what_no_calendar_can_have_is_refused_with_a_suggestion(
    fluid: Fluid, duckdb_shop: Path
) -> None:
    for option, value, hint in (
        ("--fiscal-year-start", "Jully", "'July'"),
        ("--locale", "german", "de?"),
    ):
        outcome = fluid(*FROM_SOURCE, duckdb_shop, "--technique", "star", option, value)
        assert outcome.code == 2 and hint in outcome.err
    outcome = fluid(*FROM_SOURCE, duckdb_shop, "--locale", "de")
    assert outcome.code == 2 and "--technique dimensional" in outcome.err
