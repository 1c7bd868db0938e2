"""What is recorded of saved runs: when each thing began and ended, and what it used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot import Agent, Composite, CompositeAgent, ScriptedProvider, delegate
from fluid_build.copilot.agents.composite import Checkpoint, Retry, run_sync
from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.timelines import forget_timeline, record_timelines, timeline_of
from tests.copilot.agents.agent.models import call, calling
from tests.fault_server import (
    LoopbackServer,
    Reply,
    overloaded,
    server_error,
)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def no_wait(_seconds: float) -> None:
    pass


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteBackend]:
    backend = SqliteBackend(tmp_path / "store.db")
    stop = record_timelines(backend)
    yield backend
    stop()
    backend.close()


def test_a_run_over_a_failing_server_is_recorded_with_attempts_tokens_and_money(
    store: SqliteBackend,
) -> None:
    script = [
        overloaded(),
        server_error(),
        Reply("", [call("add", a=1, b=2)], Usage(1000, 100)),
        Reply("Three.", usage=Usage(2000, 100)),
    ]
    with LoopbackServer(script) as server, use_cost_tracker(RunCostTracker(prices={"m": (2, 10)})):
        wire = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(wire, api_key=server.key, sleep=no_wait) as client:
            agent = Agent("anthropic:m", client=client, tools=[add], max_output_tokens=100)
            agent.run_sync("Add.", store=store, run_id="r")
    timeline = timeline_of(store, "r")
    calls = [each for each in timeline if each.kind == "llm.call"]
    assert [each.facts["attempts"] for each in calls] == [3, 1]
    assert [each.facts["cost_usd"] for each in calls] == ["0.003", "0.005"]
    assert Counter(each.kind for each in timeline)["tool.call"] == 1
    (root,) = [each for each in timeline if each.parent_id is None]
    assert root.seconds is not None
    for each in timeline:
        assert each.seconds is not None
        assert root.started <= each.started


def test_branches_and_attempts_of_steps_are_recorded_and_texts_are_not(
    store: SqliteBackend,
) -> None:
    models = [
        ScriptedProvider([ProviderServerError("secret text"), "one"]),
        ScriptedProvider(["two"]),
    ]

    class Court(CompositeAgent):
        def init(self, args: Any) -> Composite:
            steps = [
                delegate(f"judge_{number}", Agent(model), lambda state: {"prompt": "secret text"})
                for number, model in enumerate(models)
            ]
            return Composite(steps=[steps])

        def on_error(self, step: Any, error: object, state: Composite) -> Any:
            return Retry(state)

    assert run_sync(Court, {}, checkpoint=Checkpoint(store, "r"), sleep=no_wait).ok
    timeline = timeline_of(store, "r")
    steps = [each for each in timeline if str(each.facts.get("step_name")).startswith("judge")]
    assert Counter(each.facts["step_name"] for each in steps) == {"judge_0": 2, "judge_1": 1}
    assert [each.error for each in steps if each.facts["step_name"] == "judge_0"] == [
        "ProviderServerError",
        None,
    ]
    assert "secret text" not in str(timeline)


def test_a_run_that_stops_keeps_what_it_did_and_goes_on(store: SqliteBackend) -> None:
    """Each process has its own outermost operation, also one that never ended."""

    class Killed(BaseException):
        pass

    def answer(prompt: Any) -> Any:
        if len(prompt.messages) > 1:
            raise Killed
        return calling(call("add", a=1, b=2))

    with pytest.raises(Killed):
        Agent(ScriptedProvider(answer), tools=[add]).run_sync("Add.", store=store, run_id="r")
    Agent(ScriptedProvider(["Three."]), tools=[add]).resume_sync("r", store=store)
    roots = [each for each in timeline_of(store, "r") if each.parent_id is None]
    assert [each.error for each in roots] == ["Killed", None]
    forget_timeline(store, "r")
    assert timeline_of(store, "r") == []


def test_runs_that_are_not_saved_are_not_recorded(store: SqliteBackend) -> None:
    Agent(ScriptedProvider(["Hi."])).run_sync("Hi.")
    assert store.keys("runs/timelines") == []
