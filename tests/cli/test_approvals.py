"""`fluid runs approvals` and `answer`: a person decides about a call of somebody else's agent."""

import json
from pathlib import Path

import pytest

from fluid_build.copilot import Agent, ScriptedProvider, forge_tool
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.timelines import record_timelines
from fluid_build.report.page.page_file import is_page
from tests.cli.running import Fluid


def cleaner() -> Agent[None, str]:
    @forge_tool(requires_approval=True, register=False)
    def drop(table: str) -> str:
        """Drop a table."""
        return f"dropped {table}"

    script = [ToolCall("c1", "drop", {"table": "ord\x1b[2Jers"}), "Done."]
    return Agent(ScriptedProvider(lambda p: script[len(p.messages) > 1]), tools=[drop])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteBackend:
    monkeypatch.setenv("FLUID_HOME", str(tmp_path))
    return SqliteBackend(tmp_path / "fluid.db")


def test_calls_that_wait_are_listed_and_answered(fluid: Fluid, store: SqliteBackend) -> None:
    agent = cleaner()
    agent.run_sync("Go.", store=store, run_id="tidy")
    shown = fluid("runs", "approvals").out
    assert "\x1b" not in shown
    assert "fluid runs answer tidy c1 --approve" in shown
    (listed,) = json.loads(fluid("runs", "approvals", "--json").out)["approvals"]
    assert (listed["run"], listed["tool"], listed["answer"]) == ("tidy", "drop", None)
    answered = fluid("runs", "answer", "tidy", "c1", "--arguments", '{"table": "old"}')
    assert answered.code == 0, answered.err
    assert "Answered: approved" in fluid("runs", "approvals").out
    result = agent.resume_sync("tidy", store=store)
    assert '"dropped old"' in str(result.messages[2]["content"])
    assert "No call waits" in fluid("runs", "approvals").out


@pytest.mark.parametrize(
    "options", [(), ("--approve", "--deny", "No."), ("--arguments", "[1]"), ("--arguments", "x")]
)
def test_an_answer_that_is_none_is_refused(
    fluid: Fluid, store: SqliteBackend, options: tuple[str, ...]
) -> None:
    cleaner().run_sync("Go.", store=store, run_id="tidy")
    assert fluid("runs", "answer", "tidy", "c1", *options).code == 2


def test_the_timeline_of_an_agents_run_is_a_page(
    fluid: Fluid, store: SqliteBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = record_timelines(store)
    cleaner().run_sync("Go.", store=store, run_id="tidy")
    stop()
    monkeypatch.chdir(tmp_path)
    outcome = fluid("runs", "show", "tidy", "--html")
    assert (outcome.code, is_page(tmp_path / "run-tidy.html")) == (0, True)
    assert "ApprovalRequiredError" in (tmp_path / "run-tidy.html").read_text("utf-8")
    assert fluid("runs", "show", "other", "--html").code == 2
