"""Composites on DBOS: real workers, killed wherever they can be, pay for no answer twice."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from fluid_build.copilot import (
    Agent,
    Composite,
    CompositeAgent,
    ScriptedProvider,
    completion,
    forge_tool,
)
from fluid_build.copilot.agents.agent import answer_approval, pending_approvals
from fluid_build.copilot.agents.composite import StepResult, function_step, run_sync
from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from tests.copilot.agents import dbos_worker
from tests.fault_server import LoopbackServer, Reply
from tests.fault_server.server import ReceivedRequest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("dbos") is None,
        reason="dbos isn't installed: `make test-all` installs it",
    ),
]
ROOT = Path(__file__).parents[3]
MOST_LIVES = 60


def answer(request: ReceivedRequest) -> Reply:
    """Answer as the model of each agent; the summary depends on the whole conversation."""
    body = {key: value for key, value in request.body.items() if key != "model"}
    text = json.dumps(body)
    if "You help." in text:
        return Reply("Helped.")
    if "You review." in text:
        return Reply("Nothing is wrong.")
    if "tool_result" not in text:
        calls = [("count", {"table": "orders"}), ("helper", {"prompt": "Help."})]
        return Reply("", [ToolCall(name, name, arguments) for name, arguments in calls])
    if "Sum up." not in text:
        return Reply("Six rows.")
    return Reply(f"Done {hashlib.sha256(text.encode()).hexdigest()}")


class Provider:
    """A paid server: it counts the answers that a living worker got, by what was asked."""

    def __init__(self, *, kills: bool) -> None:
        self.kills = kills
        self.worker: subprocess.Popen[bytes] | None = None
        self.seen: set[str] = set()
        self.answered: Counter[str] = Counter()

    def __call__(self, request: ReceivedRequest) -> Reply:
        body = {key: value for key, value in request.body.items() if key != "model"}
        asked = json.dumps(body, sort_keys=True)
        if self.kills and asked not in self.seen and self.worker is not None:
            self.seen.add(asked)
            self.worker.kill()
            self.worker.wait()
        else:
            self.answered[asked] += 1
        return answer(request)


def start(
    folder: Path, server: LoopbackServer, life: int, database: str
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.copilot.agents.dbos_worker", folder]
    return subprocess.Popen(
        [*command, server.base_url("anthropic"), str(life), database],
        cwd=ROOT,
        env={**os.environ, "ANTHROPIC_API_KEY": server.key},
    )


def without_dbos(folder: Path) -> tuple[object, Counter[str]]:
    """Return what the same composite responds without DBOS, and what it pays for."""
    provider = Provider(kills=False)
    with LoopbackServer(provider) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", server.key)
        dbos_worker.prepare(folder, server.base_url("anthropic"))
        result = run_sync(dbos_worker.Coder(0), {"request": "Count the orders."}, width=1)
    assert result.ok, result.error
    return result.response, provider.answered


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def test_a_worker_that_is_killed_everywhere_responds_alike_and_pays_for_nothing_twice(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Inside each call, after each state that is saved, and before each step of the workflow."""
    database = "" if kind == "sqlite" else request.getfixturevalue("postgres_uri")
    expected, paid = without_dbos(tmp_path)
    (tmp_path / "counts").unlink()
    provider = Provider(kills=True)
    lives = 0
    with LoopbackServer(provider) as server:
        while not (tmp_path / "result.json").exists():
            assert lives < MOST_LIVES
            provider.worker = start(tmp_path, server, lives, database)
            lives += 1
            assert provider.worker.wait(60) in (0, -9)
    ended = json.loads((tmp_path / "result.json").read_text())
    assert ended == {"response": expected, "steps": ["begin", "research", "tests, style", "sum_up"]}
    assert provider.answered == paid
    assert set(paid.values()) == {1}
    assert provider.seen == set(paid)
    assert dbos_worker.Ledger(tmp_path / "counts").lines() == ["orders"]
    deaths = dbos_worker.Ledger(tmp_path / "deaths").lines()
    assert [line for line in deaths if line.startswith("step")] == [
        f"step {n}" for n in (1, 2, 3, 4)
    ]
    assert lives == len(deaths) + len(paid) + 1


def test_the_sample_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "runtime.md").read_text("utf-8")
    sample = page.partition("\n### On DBOS\n")[2].partition("```py\n")[2].partition("```\n")[0]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", sample], cwd=tmp_path, env=environment, check=True)


class Plan(BaseModel):
    tasks: list[str]


class Steps(CompositeAgent):
    """The steps that it is given."""

    def __init__(self, *steps: Any, agent: Any = None) -> None:
        self.steps = steps
        self.agent = agent

    def init(self, args: Mapping[str, Any]) -> Composite:
        return Composite(agent=self.agent, request=args["request"], steps=self.steps)


Launch = Callable[[CompositeAgent], Callable[..., Any]]


@pytest.fixture
def launch(tmp_path: Path, store: SqliteBackend) -> Iterator[Launch]:
    """Register a composite and launch DBOS; return what starts a workflow of a run."""
    from dbos import DBOS

    from fluid_build.copilot.agents.dbos_workflows import composite_workflow

    def register(agent: CompositeAgent) -> Callable[..., Any]:
        database = f"sqlite:///{tmp_path / 'dbos.db'}"
        DBOS(config={"name": "test", "system_database_url": database, "log_level": "CRITICAL"})
        workflow = composite_workflow("steps", agent, store)
        DBOS.launch()
        return lambda run: DBOS.start_workflow(workflow, run, {"request": "Go."})

    yield register
    DBOS.destroy(destroy_registry=True)


def test_a_workflow_waits_for_a_person(launch: Launch, store: SqliteBackend) -> None:
    from dbos import DBOS

    from fluid_build.copilot.agents.dbos_workflows import ANSWERED

    dropped = []

    @forge_tool(requires_approval=True, register=False)
    def drop(table: str) -> str:
        """Drop a table."""
        dropped.append(table)
        return "dropped"

    model = ScriptedProvider([ToolCall("1", "drop", {"table": "orders"}), "It's gone."])
    agent = Agent(model, name="cleaner", tools=[drop])
    handle = launch(Steps(completion("clean", "Clean up."), agent=agent))("run-1")
    give_up_at = time.monotonic() + 30
    while not (waiting := pending_approvals(store)):
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    assert dropped == []
    answer_approval(store, "run-1", waiting[0].call.id, True)
    DBOS.send(handle.get_workflow_id(), None, topic=ANSWERED)
    assert handle.get_result() == "It's gone."
    assert dropped == ["orders"]


def test_a_message_without_an_answer_asks_nobody_and_pays_nothing(
    launch: Launch, store: SqliteBackend
) -> None:
    """The workflow waits again, and follows the answer that comes later."""
    from dbos import DBOS

    from fluid_build.copilot.agents.dbos_workflows import ANSWERED

    @forge_tool(requires_approval=True, register=False)
    def drop() -> str:
        """Drop everything."""
        return "dropped"

    model = ScriptedProvider([ToolCall("1", "drop", {}), "It's gone."])
    agent = Agent(model, name="cleaner", tools=[drop])
    start_run = launch(Steps(completion("clean", "Clean up."), agent=agent))
    handle = start_run("run-1")
    DBOS.send(handle.get_workflow_id(), None, topic=ANSWERED)
    give_up_at = time.monotonic() + 30
    while [s["function_name"] for s in DBOS.list_workflow_steps(handle.get_workflow_id())].count(
        "clean"
    ) < 2:
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    (waiting,) = pending_approvals(store)
    answer_approval(store, "run-1", waiting.call.id, True)
    again = start_run("run-1")
    assert again.get_result() == "It's gone."
    DBOS.send(handle.get_workflow_id(), None, topic=ANSWERED)
    assert handle.get_result() == "It's gone."
    assert len(model.prompts) == 2


def test_a_run_that_stopped_ends_its_workflow_and_another_goes_on(
    launch: Launch, store: SqliteBackend
) -> None:
    """The error has no secret, and what was answered before it isn't asked again."""
    is_down = [True]
    answered = []

    def plan(state: Composite) -> StepResult:
        answered.append("plan")
        return StepResult("A plan.")

    def build(state: Composite) -> StepResult:
        if is_down[0]:
            raise ConnectionError("postgres://me:secret-word@host is down")
        return StepResult(Plan(tasks=["a", "b"]))

    start_run = launch(Steps(function_step("plan", plan), function_step("build", build)))
    with pytest.raises(AgentExecutionError, match=r"steps stopped at ConnectionError") as raised:
        start_run("run-1").get_result()
    assert "secret-word" not in str(raised.value)
    assert "'run-1'" in (raised.value.hint or "")
    is_down[0] = False
    assert start_run("run-1").get_result() == Plan(tasks=["a", "b"])
    assert answered == ["plan"]


def test_two_workflows_of_one_run_share_its_work(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One waits while the other takes an item, and both have the same response."""
    monkeypatch.setattr("fluid_build.copilot.agents.dbos_workflows._OWNED_SECONDS", 0.02)
    taken = []

    def work(state: Composite) -> StepResult:
        taken.append(len(taken))
        time.sleep(0.2)
        return StepResult(f"item {len(taken)}")

    start_run = launch(Steps(*(function_step(name, work) for name in ("a", "b", "c"))))
    first, second = start_run("run-1"), start_run("run-1")
    assert (first.get_result(), second.get_result()) == ("item 3", "item 3")
    assert taken == [0, 1, 2]
