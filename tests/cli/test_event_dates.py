"""The date of a fact's event, chosen on the command line."""

import json
from pathlib import Path

from tests.cli.running import Fluid

FROM_SOURCE = ("forge", "data-model", "from-source", "--uri")


def _orders(folder: Path) -> Path:
    path = folder / "orders.csv"
    rows = "".join(f"{i},2024-03-{i:02},2024-04-{i:02},{i}.5\n" for i in range(1, 29))
    path.write_text(f"id,ordered,shipped,amount\n{rows}")
    return path


def test_the_date_that_the_user_chose_is_in_the_model(fluid: Fluid, tmp_path: Path) -> None:
    """Verifying needs no option, and the document says what else could be chosen."""
    choice = ("--technique", "star", "--event-date", "orders=shipped", "-o", tmp_path / "out")
    assert fluid(*FROM_SOURCE, _orders(tmp_path), *choice).code == 0
    model = json.loads((tmp_path / "out" / "model.json").read_text())
    (fact,) = model["dimensional"]["facts"]
    assert fact["dated_by"]["attribute"] == "shipped"
    assert "--event-date orders=DATE with ordered" in (tmp_path / "out" / "MODEL.md").read_text()
    assert fluid("verify", tmp_path / "out").code == 0


def test_what_is_no_date_of_an_event_is_refused_with_the_dates_that_are(
    fluid: Fluid, tmp_path: Path
) -> None:
    for value, hint in (
        ("orders", "TABLE=DATE"),
        ("orders=shiped", "'shipped'"),
        ("order=shipped", "'orders'"),
    ):
        choice = ("--technique", "star", "--event-date", value)
        outcome = fluid(*FROM_SOURCE, _orders(tmp_path), *choice)
        assert outcome.code == 2 and hint in outcome.err
    outcome = fluid(*FROM_SOURCE, _orders(tmp_path), "--event-date", "orders=shipped")
    assert outcome.code == 2 and "--technique dimensional" in outcome.err
