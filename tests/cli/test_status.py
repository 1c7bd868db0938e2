"""``fluid status``, and what plans keep and tell for it."""

import json
import shlex
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fluid_build.cli.deploying.watching import folder_history
from fluid_build.copilot.store.configured import open_store
from fluid_build.evolution.locations import warehouse_location
from fluid_build.forging import PROFILE_FILE
from fluid_build.monitoring.figures import figures_of
from fluid_build.monitoring.history import Night, keep_night
from fluid_build.report.profile_json import read_profile
from fluid_build.verification import read_folder_head
from tests.cli.running import Fluid, run
from tests.forges import forged

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, city VARCHAR(20))",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER, paid DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'Town ' || i % 5 FROM generate_series(1, 200) s(i)",
    "INSERT INTO sale SELECT i, 1 + i % 200, i * 1.5 FROM generate_series(1, 900) s(i)",
)


@pytest.fixture
def star(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A star of the shop, of which eight quiet nights are known."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    run(tmp_path / "shop.duckdb", *SHOP)
    star = forged(tmp_path / "shop.duckdb", tmp_path / "model", "dimensional")
    head = read_folder_head(star)
    path = star / PROFILE_FILE
    profile = read_profile(path.read_text(), path)
    history = folder_history(head, warehouse_location(star / "dbt"))
    today = datetime.now(UTC).replace(tzinfo=None)
    with closing(open_store()) as store:
        for before in range(8, 0, -1):
            moment = today - timedelta(days=before)
            night = Night(moment=moment, figures=figures_of(profile, moment))
            keep_night(store, history, night)
    return star


def into(path: Path) -> str:
    """Return a command that writes what it's told to a file."""
    code = f"import sys; open({str(path)!r}, 'w').write(sys.stdin.read())"
    return shlex.join([sys.executable, "-c", code])


def test_a_folder_that_was_never_applied_says_so(fluid: Fluid, star: Path) -> None:
    outcome = fluid("status", star)
    assert outcome.code == 1
    assert "Deployed: never" in outcome.out
    assert outcome.out.rstrip().endswith(f"fluid apply {star}")


def test_an_unusual_night_is_told_and_shown(fluid: Fluid, star: Path, tmp_path: Path) -> None:
    """By the plan, by the command that is to be told, and by the status, until it's over."""
    notify = into(tmp_path / "told")
    run(tmp_path / "shop.duckdb", "UPDATE sale SET customer = NULL WHERE id > 300")
    outcome = fluid("plan", star, "--notify", notify)
    sentence = "sale.customer: 66.7% of the rows are null, expected 0 to 0.444%."
    assert f"Unusual: {sentence}" in outcome.err
    told = json.loads((tmp_path / "told").read_text())
    assert (told["event"], sentence in told["text"]) == ("alarm", True)
    assert sentence in fluid("status", star).out
    run(tmp_path / "shop.duckdb", "UPDATE sale SET customer = 1 + id % 200")
    fluid("plan", star, "--notify", notify)
    assert json.loads((tmp_path / "told").read_text())["event"] == "recovery"
    document = json.loads(fluid("status", star, "--json").out)
    assert (document["troubles"], document["nights"]) == ([], 9)


def test_an_apply_that_waits_for_a_decision_is_a_failure(
    fluid: Fluid, star: Path, tmp_path: Path
) -> None:
    notify = into(tmp_path / "told")
    run(tmp_path / "shop.duckdb", "ALTER TABLE customer RENAME COLUMN city TO town")
    outcome = fluid("apply", star, "--yes", "--notify", notify)
    assert outcome.code == 4
    told = json.loads((tmp_path / "told").read_text())
    assert told["event"] == "failure"
    assert "nobody has decided" in told["text"]
    assert "nobody has decided" in fluid("status", star).out


def test_a_notice_that_cannot_be_sent_changes_nothing_else(
    fluid: Fluid, star: Path, tmp_path: Path
) -> None:
    run(tmp_path / "shop.duckdb", "UPDATE sale SET customer = NULL WHERE id > 300")
    outcome = fluid("plan", star, "--notify", "/nowhere/notify")
    assert outcome.code == fluid("plan", star).code
    assert "The notice wasn't sent to /nowhere/notify" in outcome.err
