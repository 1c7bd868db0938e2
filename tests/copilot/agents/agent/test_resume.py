"""Agents whose run was stopped: it goes on at its step, and nothing is done or paid for twice."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.agents.agent import (
    Agent,
    AgentResult,
    ApprovalRequiredError,
    Denied,
    TurnLimitError,
)
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.agents.composite import (
    Checkpoint,
    RunExistsError,
    RunNotFoundError,
    StaleCheckpointError,
)
from fluid_build.copilot.cost import CostLimitExceeded
from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.tools.definition import LegacyTool
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.errors import UsageError
from tests.copilot.agents.agent.models import call, calling

# Later Pythons warn of a fork beside threads; the children here need nothing that a thread holds.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def answer(prompt: LlmPrompt) -> Any:
    """Two calls, then one more, then the end: by the length of the conversation."""
    turns = sum(message["role"] == "assistant" for message in prompt.messages)
    if turns == 0:
        return calling(call("log", "a", line="one"), call("log", "b", line="two"))
    return calling(call("log", "c", line="three")) if turns == 1 else "done"


def logging_agent(
    path: Path, model: Any, interrupt: Callable[[str], object] = lambda line: None
) -> Agent[None, str]:
    """An agent whose tool appends a line to a file, and may be interrupted before it does."""

    def log(line: str) -> str:
        """Append a line."""
        interrupt(line)
        with path.open("a") as file:
            file.write(f"{line}\n")
        return line

    return Agent(model, tools=[log])


def _run_and_die(folder: Path, line: str) -> None:
    def die(logged: str) -> None:
        if logged == line:
            os.kill(os.getpid(), signal.SIGKILL)

    agent = logging_agent(folder / "log", ScriptedProvider(answer), die)
    agent.run_sync("Log.", store=SqliteBackend(folder / "store.db"), run_id="r")


@pytest.mark.parametrize("line", ["one", "two", "three"])
def test_a_killed_run_resumes_at_the_call_that_it_was_in(tmp_path: Path, line: str) -> None:
    child = multiprocessing.get_context("fork").Process(target=_run_and_die, args=(tmp_path, line))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    model = ScriptedProvider(answer)
    agent = logging_agent(tmp_path / "log", model)
    result = agent.resume_sync("r", store=SqliteBackend(tmp_path / "store.db"))
    assert result.output == "done"
    assert (tmp_path / "log").read_text().split() == ["one", "two", "three"]
    turns_left = {"one": 2, "two": 2, "three": 1}[line]
    assert len(model.prompts) == turns_left
    assert (result.turns, result.usage.input_tokens) == (3, 21)


def test_an_answer_that_was_paid_for_is_not_asked_for_again(tmp_path: Path) -> None:
    """With a session, answers are cached by their content, whatever the run."""
    session = StageSession(SqliteBackend(tmp_path / "s.db"), LlmConfig("anthropic", "m"))
    model = ScriptedProvider(answer)
    for _ in range(2):
        agent = logging_agent(tmp_path / "log", session)
        agent = Agent(session, client=model, tools=agent.toolbox)
        result = agent.run_sync("Log.")
        assert result.output == "done"
    assert len(model.prompts) == 3
    assert (result.turns, result.usage.input_tokens, result.cost_usd) == (3, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"instructions": "other"},
        {"tools": ()},
        {"output": int},
        {"temperature": 0.5},
        {"extra": {"effort": "low"}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_another_question_is_not_answered_from_the_cache(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    session = StageSession(SqliteBackend(tmp_path / "s.db"), LlmConfig("anthropic", "m"))
    model = ScriptedProvider(lambda prompt: {"result": 1})
    tools = logging_agent(tmp_path / "log", model).toolbox
    Agent(session, client=model, tools=tools).run_sync("Go.")
    Agent(session, client=model, **{"tools": tools, **changes}).run_sync("Go.")
    assert len(model.prompts) == 2


def test_no_cache_asks_each_time(tmp_path: Path) -> None:
    store = SqliteBackend(tmp_path / "s.db")
    session = StageSession(store, LlmConfig("anthropic", "m"), no_cache=True)
    model = ScriptedProvider(["a", "b"])
    agent = Agent(session, client=model)
    assert [agent.run_sync("Go.").output for _ in range(2)] == ["a", "b"]


def test_a_cost_limit_stops_the_run_and_keeps_its_state(
    tmp_path: Path, store: SqliteBackend
) -> None:
    answers: list[Any] = [calling(call("log", line="one")), CostLimitExceeded(2, 1), "done"]  # type: ignore[arg-type]
    agent = logging_agent(tmp_path / "log", ScriptedProvider(answers))
    checkpoint = Checkpoint(store, "r")
    with pytest.raises(CostLimitExceeded):
        agent.run_sync("Log.", checkpoint=checkpoint)
    assert agent.resume_sync(checkpoint).output == "done"
    assert (tmp_path / "log").read_text() == "one\n"


def test_without_a_store_the_error_has_what_was_reached(tmp_path: Path) -> None:
    answers: list[Any] = [
        calling(call("log", line="one")),
        CostLimitExceeded(2, 1),  # type: ignore[arg-type]
        ProviderServerError("busy"),
        "done",
    ]
    agent = logging_agent(tmp_path / "log", ScriptedProvider(answers))
    with pytest.raises(CostLimitExceeded) as first:
        agent.run_sync("Log.")
    assert isinstance(first.value.result, AgentResult)
    with pytest.raises(ProviderServerError) as second:
        agent.resume_sync(first.value.result)
    assert isinstance(second.value.result, AgentResult)
    assert agent.resume_sync(second.value.result).output == "done"
    assert (tmp_path / "log").read_text() == "one\n"


def test_more_turns_go_on_where_the_limit_was(tmp_path: Path) -> None:
    model = ScriptedProvider(answer)
    small = Agent(model, tools=logging_agent(tmp_path / "log", model).toolbox, max_turns=2)
    with pytest.raises(TurnLimitError) as raised:
        small.run_sync("Log.")
    reached = raised.value.result
    assert isinstance(reached, AgentResult)
    large = Agent(model, tools=small.toolbox)
    assert large.resume_sync(reached).output == "done"
    assert (tmp_path / "log").read_text().split() == ["one", "two", "three"]


def test_a_run_id_is_used_once(store: SqliteBackend) -> None:
    agent = Agent(ScriptedProvider(["a", "b"]))
    result = agent.run_sync("Go.", store=store, run_id="r")
    assert result.run_id == "r"
    with pytest.raises(RunExistsError):
        agent.run_sync("Go.", store=store, run_id="r")
    assert agent.resume_sync("r", store=store).output == "a"
    with pytest.raises(RunNotFoundError):
        agent.resume_sync("s", store=store)


def test_a_store_without_an_id_makes_one_up(store: SqliteBackend) -> None:
    agent = Agent(ScriptedProvider(["a"]))
    result = agent.run_sync("Go.", store=store)
    assert result.run_id is not None
    assert agent.resume_sync(result.run_id, store=store).output == "a"


def test_an_id_without_a_store_is_refused(store: SqliteBackend) -> None:
    agent = Agent(ScriptedProvider(["a"]))
    with pytest.raises(UsageError, match="no store"):
        agent.run_sync("Go.", run_id="r")
    with pytest.raises(UsageError, match="own store"):
        agent.run_sync("Go.", checkpoint=Checkpoint(store, "r"), store=store)


def test_a_changed_agent_is_refused(store: SqliteBackend) -> None:
    def look() -> None:
        """Look."""
        raise KeyboardInterrupt

    model = ScriptedProvider([calling(call("look")), "done"])
    with pytest.raises(KeyboardInterrupt):
        Agent(model, tools=[look]).run_sync("Go.", store=store, run_id="r")

    @forge_tool(name="look", register=False)
    def other() -> str:
        """Look."""
        return "seen"

    changed = Agent(model, tools=[other])
    with pytest.raises(StaleCheckpointError):
        changed.resume_sync("r", store=store)
    assert changed.resume_sync("r", store=store, accept_changed_code=True).output == "done"


# Approval


def test_a_changed_function_of_a_legacy_tool_is_refused(store: SqliteBackend) -> None:
    """Its code counts, as that of any other tool."""

    def stop() -> None:
        raise KeyboardInterrupt

    entry: Any = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    model = ScriptedProvider([calling(call("look")), "done"])
    with pytest.raises(KeyboardInterrupt):
        legacy: Any = LegacyTool({**entry, "impl": stop})
        Agent(model, tools=[legacy]).run_sync("Go.", store=store, run_id="r")
    changed: Any = LegacyTool({**entry, "impl": lambda: "seen"})
    with pytest.raises(StaleCheckpointError):
        Agent(model, tools=[changed]).resume_sync("r", store=store)


class Files:
    """A folder of files that only a person may delete from."""

    def __init__(self) -> None:
        self.names = {"a", "b"}

        @forge_tool(requires_approval=True, register=False)
        def delete(name: str) -> str:
            """Delete a file."""
            self.names.remove(name)
            return name

        @forge_tool(read_only=True, register=False)
        def list_files() -> list[str]:
            """List the files."""
            return sorted(self.names)

        self.tools = [delete, list_files]


def deleting(*names: str) -> list[Any]:
    calls = [call("list_files", "0"), *(call("delete", name, name=name) for name in names)]
    return [calling(*calls), "done"]


@pytest.mark.parametrize("is_saved", [True, False])
def test_a_call_that_needs_approval_waits_for_a_person(
    is_saved: bool, store: SqliteBackend
) -> None:
    """The model isn't asked again for the turn that waits."""
    files, model = Files(), ScriptedProvider(deleting("a"))
    agent = Agent(model, tools=files.tools)
    saved: dict[str, Any] = {"store": store, "run_id": "r"} if is_saved else {}
    result = agent.run_sync("Delete a.", **saved)
    assert (result.ok, result.status, files.names) == (False, "needs_approval", {"a", "b"})
    assert [(c.id, c.name, c.arguments) for c in result.pending] == [("a", "delete", {"name": "a"})]
    if is_saved:  # as another process would
        agent = Agent(ScriptedProvider(["done"]), tools=files.tools)
        end = agent.resume_sync("r", store=store, approvals={"a": True})
    else:
        end = agent.resume_sync(result, approvals={"a": True})
        assert len(model.prompts) == 2
    assert (end.output, end.turns, files.names) == ("done", 2, {"b"})


@pytest.mark.parametrize("decision", [Denied("Keep it."), False])
def test_a_declined_call_does_not_run_and_the_model_learns_it(decision: Any) -> None:
    files, model = Files(), ScriptedProvider(deleting("a"))
    agent = Agent(model, tools=files.tools)
    end = agent.resume_sync(agent.run_sync("Delete."), approvals={"a": decision})
    assert files.names == {"a", "b"}
    message = json.loads(str(end.messages[3]["content"]))
    reason = "Keep it." if decision else "A person declined this call."
    assert message == {"error": "ApprovalDenied", "message": reason}
    assert "error class ``ApprovalDenied``. A person declined" in str(end.messages[4]["content"])


def test_each_pending_call_has_its_own_decision() -> None:
    files = Files()
    agent = Agent(ScriptedProvider(deleting("a", "b")), tools=files.tools)
    first = agent.run_sync("Delete.")
    assert [pending.id for pending in first.pending] == ["a", "b"]
    second = agent.resume_sync(first, approvals={"a": True})
    assert ([pending.id for pending in second.pending], files.names) == (["b"], {"b"})
    assert agent.resume_sync(second, approvals={"b": Denied()}).output == "done"
    assert files.names == {"b"}


def test_an_approval_is_for_one_turn() -> None:
    """A later call isn't approved because it has the id of an earlier one."""
    files = Files()
    model = ScriptedProvider([calling(call("delete", "x", name=n)) for n in "ab"])
    agent = Agent(model, tools=files.tools)
    second = agent.resume_sync(agent.run_sync("Delete."), approvals={"x": True})
    assert (second.status, files.names) == ("needs_approval", {"b"})


def test_nothing_is_approved_before_anyone_saw_it() -> None:
    """A run that waits for its model has no call to decide about, whatever ids will come."""
    files = Files()
    model = ScriptedProvider(
        [calling(call("list_files")), calling(call("delete", "x", name="a")), "done"]
    )
    with pytest.raises(TurnLimitError) as raised:
        Agent(model, tools=files.tools, max_turns=1).run_sync("Delete.")
    reached = raised.value.result
    assert isinstance(reached, AgentResult)
    with pytest.raises(UsageError, match="No call of this run waits"):
        Agent(model, tools=files.tools).resume_sync(reached, approvals={"x": True})
    assert files.names == {"a", "b"}


def test_a_decision_about_no_call_is_refused() -> None:
    agent = Agent(ScriptedProvider(deleting("a")), tools=Files().tools)
    with pytest.raises(UsageError, match="has the id 'zz'"):
        agent.resume_sync(agent.run_sync("Delete."), approvals={"zz": True})


@pytest.mark.parametrize("approvals", [True, ["a"], {"a": "yes"}, {"a": 1}])
def test_approvals_are_decisions_by_the_ids_of_calls(approvals: Any) -> None:
    """Anything else isn't taken for a refusal."""
    agent = Agent(ScriptedProvider(deleting("a")), tools=Files().tools)
    with pytest.raises(UsageError, match="aren't decisions"):
        agent.resume_sync(agent.run_sync("Delete."), approvals=approvals)


def test_without_a_decision_the_run_still_waits() -> None:
    agent = Agent(ScriptedProvider(deleting("a")), tools=Files().tools)
    first = agent.run_sync("Delete.")
    assert agent.resume_sync(first).pending == first.pending


def test_a_delegated_agent_cannot_wait_for_a_person() -> None:
    agent = Agent(ScriptedProvider(deleting("a")), tools=Files().tools)
    with pytest.raises(ApprovalRequiredError):
        asyncio.run(agent.get_response({"prompt": "Delete."}))


def test_a_call_that_needs_no_approval_may_be_declined_too() -> None:
    """A person who looks at a turn may stop more than it asks about, parallel calls included."""
    files = Files()
    calls = [call("list_files", "0"), call("list_files", "1"), call("delete", "a", name="a")]
    first, end = calling(call("delete", "x", name="zz"), *calls), "done"
    agent = Agent(ScriptedProvider([first, end]), tools=files.tools)
    decisions = {"x": False, "0": False, "a": True}
    result = agent.resume_sync(agent.run_sync("Go."), approvals=decisions)
    errors = [message.get("is_error", False) for message in result.messages[2:6]]
    assert errors == [True, True, False, False]
