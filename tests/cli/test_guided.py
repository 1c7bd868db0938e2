"""``fluid forge`` without a command: it looks at the folder, proposes, and asks little."""

import io
import json
import shutil
from pathlib import Path

import pytest

from fluid_build.cli.forging.nearby_sources import nearby_sources
from fluid_build.copilot.messages import ToolCall
from tests.cli.running import Fluid
from tests.fault_server import LoopbackServer, Reply, unauthorized


class Terminal(io.StringIO):
    """Standard input with answers, which says that it's a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path, sqlite_shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database and a folder of files; it's the current one."""
    place = tmp_path / "project"
    (place / "exports").mkdir(parents=True)
    shutil.copy(sqlite_shop, place / "shop.sqlite")
    (place / "exports" / "a.csv").write_text("id,name\n1,x\n2,y\n")
    (place / "exports" / "b.csv").write_text("id,a_id\n1,1\n2,2\n")
    (place / "notes.txt").write_text("nothing\n")
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(place)
    return place


def test_databases_come_before_files(folder: Path) -> None:
    assert [source.path for source in nearby_sources(folder)] == ["shop.sqlite", "exports"]


def test_forged_folders_are_no_sources(fluid: Fluid, folder: Path) -> None:
    fluid("forge", "--yes", "-o", "model")
    assert [source.path for source in nearby_sources(folder)] == ["shop.sqlite", "exports"]


def test_yes_does_what_is_proposed(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge", "--yes", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["technique"] == "flat"
    assert (folder / "shop-model" / "contract.fluid.yaml").exists()


def test_options_replace_questions_and_proposals(
    fluid: Fluid, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--technique", "dv2", "--domain", "Sales", "--receipt", "receipt.json")
    monkeypatch.setattr("sys.stdin", Terminal("2\nvault\n"))
    outcome = fluid("forge", *options, "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["technique"] == "data_vault_2"
    assert "domain: Sales" in (folder / "vault" / "contract.fluid.yaml").read_text()
    receipt = json.loads((folder / "receipt.json").read_text())
    assert receipt == json.loads(outcome.out)["receipt"]


def test_a_dry_run_of_what_is_proposed_writes_nothing(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge", "--yes", "--dry-run", "--tiered", "--no-cache", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["dry_run"] is True
    assert not (folder / "shop-model").exists()


def test_a_dry_run_of_an_agent_is_wrong_usage(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge", "--agent-loop", "--dry-run")
    assert outcome.code == 2
    assert "--dry-run sends nothing" in outcome.err


def test_answers_choose_source_purpose_and_folder(
    fluid: Fluid, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("2\n9\n3\nvault\n"))
    outcome = fluid("forge", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["technique"] == "data_vault_2"
    assert (folder / "vault" / "model.json").exists()
    assert "Answer with a number from 1 to 3." in outcome.err
    assert outcome.err.count("]: ") == 4  # one of them twice


def test_without_a_terminal_nothing_is_asked_or_done(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge")
    assert outcome.code == 2
    assert "--yes" in outcome.err
    assert not list(folder.glob("*-model"))


def test_an_empty_folder_is_an_error_that_says_what_to_do(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    outcome = fluid("forge", "--yes")
    assert outcome.code == 2
    assert "from-source --uri" in outcome.err


ANSWER = {
    "source": "shop.sqlite",
    "technique": "dimensional",
    "summary": "A shop.",
    "decisions": [
        {
            "decision": "describe",
            "table": "orders",
            "value": "An order that a customer placed.",
            "reason": "Its columns say so.",
        },
        {
            "decision": "set_key",
            "table": "orders",
            "columns": ["total"],
            "reason": "A guess.",
        },
    ],
}


def test_what_an_agent_proposes_is_measured_and_forged(
    fluid: Fluid, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [
        Reply("", [ToolCall("1", "discover_workspace", {})]),
        Reply("", [ToolCall("2", "profile_source", {"source": "shop.sqlite"})]),
        Reply(json.dumps(ANSWER)),
    ]
    with LoopbackServer(script) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        model = ("--llm-provider", "openai", "--llm-model", "gpt-4.1")
        address = ("--llm-endpoint", server.base_url("openai"))
        goal = ("--agent-loop", "--goal", "Sales by customer.")
        outcome = fluid("forge", *goal, *model, *address, "--json")
    assert outcome.code == 0, outcome.err
    assert "discover_workspace" in outcome.err
    document = json.loads(outcome.out)
    assert document["technique"] == "dimensional"
    decisions = document["receipt"]["decisions"]
    verdicts = {entry["decision"]["decision"]: entry["status"] for entry in decisions}
    assert verdicts == {"describe": "accepted", "set_key": "refused"}
    recorded = (folder / "shop-model" / "decisions.yaml").read_text()
    assert "An order that a customer placed." in recorded
    assert "total" not in recorded
    assert len(server.requests) == 3


def test_an_agent_that_fails_is_no_success(
    fluid: Fluid, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer([unauthorized()]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        model = ("--llm-provider", "openai", "--llm-model", "gpt-4.1")
        address = ("--llm-endpoint", server.base_url("openai"))
        outcome = fluid("forge", "--agent-loop", *model, *address)
    assert outcome.code == 1
    assert not list(folder.glob("*-model"))


def test_the_agent_loop_needs_a_model(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge", "--agent-loop")
    assert outcome.code == 2
    assert "fluid ai setup" in outcome.err
