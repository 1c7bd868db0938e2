"""`fluid runs`, and the options of `fluid forge` that are about its run."""

import json
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.pipeline.runs import RunLog
from fluid_build.report.page.page_file import is_page
from tests.cli.running import COMMAND, Fluid
from tests.fault_server import LoopbackServer, Reply, unauthorized
from tests.folders import artifacts_of
from tests.pipeline.test_repair import complain

ANSWER = {
    "decisions": [
        {"decision": "describe", "table": "orders", "value": "An order.", "reason": "Its name."}
    ]
}
FORGE = ("forge", "data-model", "from-source", "--uri")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("FLUID_HOME", str(home))
    return home


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    with LoopbackServer(lambda _: Reply(json.dumps(ANSWER))) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        yield server


def model_options(server: LoopbackServer) -> tuple[str, ...]:
    return (
        *("--llm-provider", "openai", "--llm-model", "gpt-4.1-mini"),
        *("--llm-endpoint", server.base_url("openai")),
    )


def test_a_forge_is_listed_and_shown_with_its_receipt_and_its_timeline(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = json.loads(fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", "--json").out)
    assert document["fallback_used"] is False
    (listed,) = json.loads(fluid("runs", "list", "--json").out)["runs"]
    assert listed["run"] == document["run"] == document["receipt"]["run"]
    assert listed["state"] == "finished"
    assert "finished" in fluid("runs", "list").out
    shown = json.loads(fluid("runs", "show", document["run"], "--json").out)
    assert shown["receipt"] == document["receipt"]
    screen = fluid("runs", "show", document["run"]).out
    assert "Proof: proven (2 proven)" in screen
    assert "validator" in screen
    monkeypatch.chdir(tmp_path)
    assert fluid("runs", "show", document["run"], "--html").code == 0
    page = (tmp_path / f"run-{document['run']}.html").read_text("utf-8")
    assert all(f"<bdi>{stage['name']}</bdi>" in page for stage in document["receipt"]["stages"])


def test_a_run_that_is_not_there_is_an_error_with_a_hint(fluid: Fluid, home: Path) -> None:
    for command in ("show", "resume", "rm"):
        outcome = fluid("runs", command, "nothing")
        assert outcome.code == 2
        assert "There is no run 'nothing'." in outcome.err
        assert "fluid runs list" in outcome.err


def test_a_removed_run_leaves_its_files(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    run = json.loads(fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", "--json").out)["run"]
    removal = fluid("runs", "rm", run, "--json")
    assert (removal.code, json.loads(removal.out)) == (0, {"removed": run})
    assert json.loads(fluid("runs", "list", "--json").out) == {"runs": []}
    assert (tmp_path / "out" / "MODEL.md").exists()


def test_a_killed_command_is_resumed_to_the_same_files(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    command = [*COMMAND, *FORGE, str(sqlite_shop), "-o", "out", "--json-lines"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if (event["stage"], event["state"]) == ("builder", "started"):
                break
        process.send_signal(signal.SIGKILL)
    assert not (folder / "out").exists()
    (listed,) = json.loads(fluid("runs", "list", "--json").out)["runs"]
    assert listed["state"] == "interrupted"
    resumed = fluid("runs", "resume", listed["run"])
    assert resumed.code == 0, resumed.err
    assert fluid(*FORGE, sqlite_shop, "-o", tmp_path / "work" / "plain").code == 0
    assert artifacts_of(folder / "out") == artifacts_of(folder / "plain")
    assert is_page(folder / "out" / REPORT_FILE)
    again = fluid("runs", "resume", listed["run"])
    assert again.code == 0
    assert "is finished" in again.err


def test_a_cost_limit_stops_with_code_1_and_names_the_command_that_goes_on(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    options = (*model_options(server), "--max-cost", "0.00001")
    stopped = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", *options)
    assert stopped.code == 1
    assert server.requests == []
    (record,) = RunLog(SqliteBackend(home / "fluid.db")).records()
    assert f"runs resume {record.id} --max-cost" in stopped.err
    assert "stopped at its cost limit. It could come to $0.0" in stopped.err
    assert "and the limit is $0.00001." in stopped.err
    assert "Stopped: CostLimitExceeded" in fluid("runs", "show", record.id).out
    resumed = fluid("runs", "resume", record.id, "--max-cost", "1", "--json")
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["receipt"]["cost"]["limit_usd"] == "1"


def test_a_failing_model_is_announced_and_fails_only_where_it_is_required(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    with LoopbackServer([unauthorized()] * 20, key=server.key) as failing:
        options = model_options(failing)
        outcome = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", *options, "--json")
        required = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "no", *options, "--require-llm")
    assert outcome.code == 0
    assert "WARNING: the model failed" in outcome.err
    assert json.loads(outcome.out)["fallback_used"] is True
    assert required.code == 1
    assert "fluid runs resume" in required.err
    assert not (tmp_path / "no").exists()


def test_a_required_model_that_nobody_configured_is_wrong_usage(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    outcome = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", "--require-llm")
    assert outcome.code == 2
    assert "fluid ai setup" in outcome.err
    assert "Reading" not in outcome.err


def test_json_lines_are_stages_and_at_last_the_document(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    out = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", "--json-lines").out
    *events, document = map(json.loads, out.splitlines())
    assert {event["event"] for event in events} == {"stage"}
    assert events[0]["stage"] == "profile"
    assert document["proof"] == "proven"


def test_a_receipt_is_written_where_it_is_asked_for_and_not_into_the_folder(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    receipt, out = tmp_path / "receipts" / "r.json", tmp_path / "out"
    document = json.loads(fluid(*FORGE, sqlite_shop, "-o", out, "--receipt", receipt, "--json").out)
    assert json.loads(receipt.read_text()) == document["receipt"]
    assert document["run"].encode() not in b"".join(artifacts_of(out).values())


def test_a_domain_is_a_decision_by_a_person_and_asking_twice_changes_nothing(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = (*FORGE, sqlite_shop, "-o", out, "--domain", "Sales")
    assert fluid(*command).code == 0
    first = artifacts_of(out)
    assert b"domain: Sales" in first["decisions.yaml"]
    assert fluid(*command).code == 0
    assert artifacts_of(out) == first


def test_a_dry_run_sends_and_writes_nothing(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    options = (*model_options(server), "--dry-run", "--json")
    document = json.loads(fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", *options).out)
    (question,) = document["questions"]
    assert question["input_tokens"] > 100
    assert float(document["most_cost_usd"]) > 0
    assert {"file": "MODEL.md", "change": "create", "owner": "forge"} in document["changes"]
    assert server.requests == []
    assert not (tmp_path / "out").exists()
    assert not (home / "fluid.db").exists()


def test_a_store_that_cannot_be_used_is_a_note_for_a_forge_without_a_model(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    (home / "fluid.db").mkdir(parents=True)
    outcome = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "isn't recorded" in outcome.err
    with_model = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out2", *model_options(server))
    assert with_model.code == 2
    assert "can't be used" in with_model.err


def test_an_error_that_no_repair_removed_is_said_and_ends_with_code_1(
    fluid: Fluid,
    home: Path,
    sqlite_shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    complain(monkeypatch, None)
    outcome = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", "--json")
    assert outcome.code == 1
    assert "FAILED: the results have 1 error: the description is nonsense." in outcome.err
    document = json.loads(outcome.out)
    assert [finding["severity"] for finding in document["receipt"]["findings"]].count("error") == 1


def test_a_forge_says_which_decisions_of_a_person_it_does_not_follow(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for decision in (("set-key", "orderz", "id"), ("domain", "Sales")):
        assert fluid("decide", out, *decision).code == 0
    outcome = fluid(*FORGE, sqlite_shop, "-o", out)
    assert "Decisions  1 accepted, 1 refused\n" in outcome.out
    assert "Refused set_key orderz (id): There's no table `orderz`." in outcome.out
    run = json.loads(fluid("runs", "list", "--json").out)["runs"][0]["run"]
    assert "Refused set_key orderz (id)" in fluid("runs", "show", run).out


def test_a_run_whose_model_failed_is_not_listed_as_merely_finished(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    with LoopbackServer([unauthorized()] * 20, key=server.key) as failing:
        options = model_options(failing)
        outcome = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", *options)
    assert "logical: went on without the model" in outcome.err
    assert "logical: finished" not in outcome.err
    assert "finished, model failed" in fluid("runs", "list").out


def test_a_run_resumed_in_another_folder_says_where_it_works_and_leaves_its_receipt_here(
    fluid: Fluid,
    home: Path,
    sqlite_shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: LoopbackServer,
) -> None:
    work, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    work.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(work)
    options = (*model_options(server), "--max-cost", "0")
    assert fluid(*FORGE, sqlite_shop, "-o", "out", *options).code == 1
    (listed,) = json.loads(fluid("runs", "list", "--json").out)["runs"]
    monkeypatch.chdir(elsewhere)
    resumed = fluid("runs", "resume", listed["run"], "--max-cost", "1", "--receipt", "r.json")
    assert resumed.code == 0, resumed.err
    assert f"Working in {work}" in resumed.err
    assert [path.name for path in elsewhere.iterdir()] == ["r.json"]
    assert [path.name for path in work.iterdir()] == ["out"]


def test_resuming_a_finished_run_reports_how_it_ended(
    fluid: Fluid,
    home: Path,
    sqlite_shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    complain(monkeypatch, None)
    run = json.loads(fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out", "--json").out)["run"]
    again = fluid("runs", "resume", run, "--json")
    assert again.code == 1
    document = json.loads(again.out)
    assert (document["run"], document["folder"]) == (run, str(tmp_path / "out"))


def test_a_store_of_a_newer_version_is_left_alone(
    fluid: Fluid, home: Path, sqlite_shop: Path, tmp_path: Path
) -> None:
    assert fluid("runs", "list").code == 0
    with closing(sqlite3.connect(home / "fluid.db")) as database:
        database.execute("PRAGMA user_version = 2")
    listed = fluid("runs", "list")
    assert listed.code == 2
    assert "written by a newer version of Fluid Forge" in listed.err
    forged = fluid(*FORGE, sqlite_shop, "-o", tmp_path / "out")
    assert forged.code == 0
    assert "isn't recorded" in forged.err
