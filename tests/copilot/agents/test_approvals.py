"""A person in the loop: rules, changed arguments, runs inside runs, answers from elsewhere."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot import Agent, Composite, CompositeAgent, ScriptedProvider, forge_tool
from fluid_build.copilot.agents.agent import (
    Approved,
    CallRule,
    Denied,
    allow,
    answer_approval,
    ask,
    deny,
    pending_approvals,
)
from fluid_build.copilot.agents.composite import (
    Checkpoint,
    CompositeResult,
    Retry,
    Skip,
    completion,
    delegate,
    resume_sync,
    run_sync,
)
from fluid_build.copilot.errors import ApprovalRequiredError, RunNotFoundError
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.errors import UsageError
from tests.copilot.agents.agent.models import MODELS, call, calling
from tests.fault_server import (
    LoopbackServer,
    Reply,
    dropped_connection,
    overloaded,
    rate_limit,
    server_error,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def dropping(path: Path) -> Any:
    """A tool that notes what it dropped in a file."""

    @forge_tool(requires_approval=True, register=False)
    def drop(table: str, rows: int = 0) -> str:
        """Drop a table."""
        with path.open("a") as file:
            file.write(f"{table}\n")
        return f"dropped {table}"

    return drop


def dropped(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def once(table: str, end: str = "Done.") -> Callable[[LlmPrompt], Any]:
    """A model that drops a table, and ends once it has a result."""

    def answer(prompt: LlmPrompt) -> Any:
        if any(message["role"] == "tool" for message in prompt.messages):
            return end
        return calling(call("drop", "c1", table=table))

    return answer


def ruled(path: Path, table: str, *rules: CallRule) -> Agent[None, str]:
    return Agent(ScriptedProvider(once(table)), tools=[dropping(path)], rules=rules)


RULES = [allow("drop", {"table": "tmp_*"}), deny("drop", {"table": "orders"}, reason="In use.")]


def test_a_call_that_a_rule_allows_is_made_without_asking(tmp_path: Path) -> None:
    assert ruled(tmp_path / "log", "tmp_1", *RULES).run_sync("Go.").ok
    assert dropped(tmp_path / "log") == ["tmp_1"]


def test_a_call_that_a_rule_denies_is_not_made_and_the_model_is_told_why(tmp_path: Path) -> None:
    def answer(prompt: LlmPrompt) -> Any:
        return calling(call("drop", table="orders")) if len(prompt.messages) == 1 else "Kept."

    agent = Agent(ScriptedProvider(answer), tools=[dropping(tmp_path / "log")], rules=RULES)
    result = agent.run_sync("Go.")
    assert result.ok
    assert result.messages[2]["content"] == '{"error":"CallDenied","message":"In use."}'
    assert "A rule forbids this call" in str(result.messages[3]["content"])
    assert dropped(tmp_path / "log") == []


def test_a_call_that_fits_no_rule_is_as_its_tool_says(tmp_path: Path) -> None:
    assert ruled(tmp_path / "log", "customers", *RULES).run_sync("Go.").status == "needs_approval"


def test_a_rule_asks_about_a_tool_that_requires_nothing() -> None:
    def pay(euros: int) -> str:
        """Pay."""
        return f"paid {euros}"

    rules = [ask("pay", {"euros": lambda euros: int(str(euros)) > 100})]
    model = ScriptedProvider([calling(call("pay", "a", euros=5), call("pay", "b", euros="500"))])
    result = Agent(model, tools=[pay], rules=rules).run_sync("Pay.")
    assert [each.id for each in result.pending] == ["b"]
    assert result.messages[2]["content"] == '"paid 5"'


@given(value=st.one_of(st.integers(), st.booleans(), st.text(max_size=5)))
def test_a_denied_value_never_reaches_the_tool(value: Any) -> None:
    """However the model writes it, the rule sees what the tool would get."""
    made: list[int] = []

    def pay(euros: int = 7) -> str:
        """Pay."""
        made.append(euros)
        return "paid"

    model = ScriptedProvider([calling(call("pay", euros=value), call("pay", "d")), "Done."])
    Agent(model, tools=[pay], rules=[deny("*", {"euros": 7}), deny("p*", {"euros": 1})]).run_sync(
        "Pay."
    )
    assert not {7, 1} & set(made)


def test_a_person_approves_with_other_arguments_and_the_model_is_told(tmp_path: Path) -> None:
    agent = ruled(tmp_path / "log", "orders")
    first = agent.run_sync("Go.")
    result = agent.resume_sync(first, approvals={"c1": Approved({"table": "orders_old"})})
    assert result.output == "Done."
    assert dropped(tmp_path / "log") == ["orders_old"]
    assert '"arguments":{"table":"orders_old"}' in str(result.messages[2]["content"])


@pytest.mark.parametrize(
    ("arguments", "reason"), [({"tabel": "x"}, "extra_forbidden"), ({"table": "orders"}, "In use")]
)
def test_changed_arguments_that_cannot_be_used_are_refused_before_anything_runs(
    tmp_path: Path, arguments: Any, reason: str
) -> None:
    agent = ruled(tmp_path / "log", "customers", *RULES)
    first = agent.run_sync("Go.")
    with pytest.raises(UsageError, match=reason):
        agent.resume_sync(first, approvals={"c1": Approved(arguments)})
    assert dropped(tmp_path / "log") == []
    assert agent.resume_sync(first, approvals={"c1": True}).ok


async def no_wait(_seconds: float) -> None:
    pass


# Runs inside runs.


def asker(path: Path, inner_model: ScriptedProvider) -> Agent[None, str]:
    """An agent that asks another one, which drops a table."""
    cleaner = Agent(inner_model, tools=[dropping(path)], name="cleaner")
    outer = [ToolCall("o1", "cleaner", {"prompt": "Clean up."}), "All clean."]
    return Agent(
        ScriptedProvider(lambda p: outer[len(p.messages) > 1]),
        tools=[cleaner.as_tool(description="Cleans.")],
    )


def test_an_agent_waits_for_the_approval_of_its_sub_agents_call(
    tmp_path: Path, store: SqliteBackend
) -> None:
    path, inner = tmp_path / "log", ScriptedProvider(once("orders"))
    first = asker(path, inner).run_sync("Go.", store=store, run_id="r")
    assert first.status == "needs_approval"
    (waiting,) = first.pending
    assert (waiting.name, waiting.arguments) == ("drop", {"table": "orders"})
    result = asker(path, inner).resume_sync("r", store=store, approvals={waiting.id: True})
    assert result.output == "All clean."
    assert dropped(path) == ["orders"]
    assert len(inner.prompts) == 2, "the sub-agent's turn isn't paid for twice"
    assert store.keys("runs/inside") == []


def test_a_decision_that_cannot_be_followed_leaves_the_sub_agent_waiting(
    tmp_path: Path, store: SqliteBackend
) -> None:
    """Nothing that it did is lost, and nothing is paid for twice."""
    path, inner = tmp_path / "log", ScriptedProvider(once("orders"))
    first = asker(path, inner).run_sync("Go.", store=store, run_id="r")
    (waiting,) = first.pending
    wrong = {waiting.id: Approved({"tabel": "x"})}
    with pytest.raises(UsageError, match="extra_forbidden"):
        asker(path, inner).resume_sync("r", store=store, approvals=wrong)
    asker(path, inner).resume_sync("r", store=store, approvals={waiting.id: True})
    assert dropped(path) == ["orders"]
    assert len(inner.prompts) == 2


def test_a_step_whose_agent_has_no_answer_begins_anew(store: SqliteBackend) -> None:
    """A repeated step has all of its corrections again."""
    model = ScriptedProvider(["no", "no", "no", '{"result": 3}'])

    class Counting(CompositeAgent):
        def init(self, args: Any) -> Composite:
            agent = Agent(model, output=int)
            return Composite(steps=[delegate("count", agent, lambda state: {"prompt": "Go."})])

        def on_error(self, step: Any, error: object, state: Composite) -> Any:
            return Retry(state)

    result = run_sync(Counting, {}, checkpoint=Checkpoint(store, "r"), sleep=no_wait)
    assert (result.ok, result.response) == (True, 3)
    assert len(model.prompts[-1].messages) == 1


def test_without_a_store_a_sub_agents_call_is_an_error_that_the_model_sees(tmp_path: Path) -> None:
    result = asker(tmp_path / "log", ScriptedProvider(once("orders"))).run_sync("Go.")
    assert result.output == "All clean."
    assert "ApprovalRequiredError" in str(result.messages[2]["content"])


class Court(CompositeAgent):
    """Two cleaners side by side, then a completion that drops one more table."""

    def __init__(self, path: Path, models: Sequence[ScriptedProvider]) -> None:
        self.path = path
        self.models = models

    def init(self, args: Any) -> Composite:
        cleaners = [
            delegate(
                f"clean_{name}",
                Agent(model, tools=[dropping(self.path)], name="cleaner"),
                lambda state, name=name: {"prompt": name},  # type: ignore[misc]
            )
            for name, model in zip("ab", self.models, strict=False)
        ]
        agent = Agent(self.models[2], tools=[dropping(self.path)])
        return Composite(agent=agent, steps=[cleaners, completion("sum_up", "Sum up.")])

    def fingerprint(self) -> str:
        return "court"


def court(tmp_path: Path) -> tuple[Court, list[ScriptedProvider]]:
    models = [ScriptedProvider(once(table, f"{table} gone")) for table in ("a", "b", "c")]
    return Court(tmp_path / "log", models), models


def test_a_composite_waits_for_its_branches_and_its_completions(
    tmp_path: Path, store: SqliteBackend
) -> None:
    agent, models = court(tmp_path)
    checkpoint = Checkpoint(store, "r")
    first = run_sync(agent, {}, checkpoint=checkpoint)
    assert [each.arguments["table"] for each in first.pending] == ["a", "b"]
    one, other = first.pending
    second = resume_sync(
        agent, {}, checkpoint=checkpoint, approvals={one.id: True, other.id: Denied("No.")}
    )
    assert [each.arguments["table"] for each in second.pending] == ["c"]
    decisions = {second.pending[0].id: Approved({"table": "d"})}
    last = resume_sync(agent, {}, checkpoint=checkpoint, approvals=decisions)
    assert last.ok
    assert last.response == "c gone"
    assert dropped(tmp_path / "log") == ["a", "d"]
    assert [len(model.prompts) for model in models] == [2, 2, 2]


def test_a_branch_that_fails_leaves_the_waiting_one_waiting(
    tmp_path: Path, store: SqliteBackend
) -> None:
    class Failing:
        def get_response(self, args: Any) -> str:
            raise ValueError

    class Mixed(Court):
        def init(self, args: Any) -> Composite:
            state = super().init(args)
            (waiting, _), _ = state.steps  # type: ignore[misc]
            return Composite(steps=[[delegate("bad", Failing(), lambda state: {}), waiting]])

        def on_error(self, step: Any, error: object, state: Composite) -> Any:
            return Skip(state)

    agent = Mixed(tmp_path / "log", court(tmp_path)[1])
    checkpoint = Checkpoint(store, "r")
    first = run_sync(agent, {}, checkpoint=checkpoint)
    assert len(first.pending) == 1
    result = resume_sync(
        agent, {}, checkpoint=checkpoint, approvals={each.id: True for each in first.pending}
    )
    assert result.ok
    assert dropped(tmp_path / "log") == ["a"]


def test_a_decision_about_no_call_of_a_nested_run_is_refused(
    tmp_path: Path, store: SqliteBackend
) -> None:
    agent, _ = court(tmp_path)
    checkpoint = Checkpoint(store, "r")
    run_sync(agent, {}, checkpoint=checkpoint)
    with pytest.raises(UsageError, match="No call of this run waits"):
        resume_sync(agent, {}, checkpoint=checkpoint, approvals={"clean_a-000000/c1": True})


def test_a_composite_that_is_not_saved_cannot_wait(tmp_path: Path) -> None:
    result = run_sync(court(tmp_path)[0], {})
    assert isinstance(result.error, ApprovalRequiredError)


class Outer(CompositeAgent):
    """A composite that delegates to a composite."""

    def __init__(self, inner: Court) -> None:
        self.inner = inner

    def init(self, args: Any) -> Composite:
        return Composite(steps=[delegate("court", self.inner, lambda state: {"case": 1})])

    def fingerprint(self) -> str:
        return "outer"


def test_the_approvals_of_a_composite_in_a_composite_find_their_call(
    tmp_path: Path, store: SqliteBackend
) -> None:
    agent, models = court(tmp_path)
    checkpoint = Checkpoint(store, "r")
    result: CompositeResult = run_sync(Outer(agent), {}, checkpoint=checkpoint)
    while result.pending:
        decisions = {each.id: True for each in result.pending}
        result = resume_sync(Outer(agent), {}, checkpoint=checkpoint, approvals=decisions)
    assert result.response == "c gone"
    *branches, last = dropped(tmp_path / "log")
    assert (sorted(branches), last) == (["a", "b"], "c")
    assert [len(model.prompts) for model in models] == [2, 2, 2]
    assert store.keys("runs/inside") == []


# Answers from elsewhere.


def _wait_elsewhere(folder: Path) -> None:
    store = SqliteBackend(folder / "store.db")
    agent = asker(folder / "log", ScriptedProvider(once("orders")))
    assert agent.run_sync("Go.", store=store, run_id="r").status == "needs_approval"


def test_a_run_is_answered_and_resumed_in_other_processes(tmp_path: Path) -> None:
    child = multiprocessing.get_context("fork").Process(target=_wait_elsewhere, args=(tmp_path,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    desk = SqliteBackend(tmp_path / "store.db")
    (waiting,) = pending_approvals(desk)
    assert (waiting.run_id, waiting.agent, waiting.call.name) == ("r", "agent", "drop")
    answer_approval(desk, "r", waiting.call.id, Approved({"table": "old"}))
    assert pending_approvals(desk)[0].answer == Approved({"table": "old"})
    agent = asker(tmp_path / "log", ScriptedProvider(once("orders")))
    assert agent.resume_sync("r", store=SqliteBackend(tmp_path / "store.db")).ok
    assert dropped(tmp_path / "log") == ["old"]
    assert pending_approvals(desk) == []


def test_an_answer_is_for_the_calls_as_they_were_shown(
    tmp_path: Path, store: SqliteBackend
) -> None:
    """A later call with the same id isn't approved with it."""

    def answer(prompt: LlmPrompt) -> Any:
        turns = sum(message["role"] == "assistant" for message in prompt.messages)
        return calling(call("drop", "c1", table=f"t{turns}"))

    agent = Agent(ScriptedProvider(answer), tools=[dropping(tmp_path / "log")])
    agent.run_sync("Go.", store=store, run_id="r")
    answer_approval(store, "r", "c1", True)
    assert agent.resume_sync("r", store=store).status == "needs_approval"
    assert agent.resume_sync("r", store=store).status == "needs_approval"
    assert dropped(tmp_path / "log") == ["t0"]
    (waiting,) = pending_approvals(store)
    assert (waiting.call.arguments, waiting.answer) == ({"table": "t1"}, None)


def test_the_first_answer_counts(tmp_path: Path, store: SqliteBackend) -> None:
    ruled(tmp_path / "log", "a").run_sync("Go.", store=store, run_id="r")
    answer_approval(store, "r", "c1", Denied("No."))
    with pytest.raises(UsageError, match="decided already"):
        answer_approval(store, "r", "c1", True)
    result = ruled(tmp_path / "log", "a").resume_sync("r", store=store)
    assert '"message":"No."' in str(result.messages[2]["content"])


@pytest.mark.parametrize(("run", "error"), [("x", RunNotFoundError), ("r", UsageError)])
def test_an_answer_to_nothing_is_refused(
    tmp_path: Path, store: SqliteBackend, run: str, error: type[Exception]
) -> None:
    ruled(tmp_path / "log", "a").run_sync("Go.", store=store, run_id="r")
    with pytest.raises(error):
        answer_approval(store, run, "zz", True)


def test_a_nested_approval_survives_the_faults_of_a_provider(
    tmp_path: Path, store: SqliteBackend
) -> None:
    """Over real sockets: both agents meet faults, and each answer is asked for once."""
    script = [
        rate_limit(retry_after=0),
        Reply("", [call("cleaner", "o1", prompt="Clean up.")]),
        overloaded(),
        Reply("", [call("drop", "c1", table="orders")]),
        dropped_connection(),
        Reply("Gone."),
        server_error(),
        Reply("All clean."),
    ]

    with LoopbackServer(script) as server:
        wire = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(wire, api_key=server.key, sleep=no_wait) as client:
            model = f"anthropic:{MODELS['anthropic']}"
            tools = [dropping(tmp_path / "log")]
            cleaner = Agent(model, client=client, tools=tools, name="cleaner")
            outer = Agent(model, client=client, tools=[cleaner.as_tool(description="Cleans.")])
            first = outer.run_sync("Go.", store=store, run_id="r")
            answer_approval(store, "r", first.pending[0].id, True)
            result = outer.resume_sync("r", store=store)
    assert result.output == "All clean."
    assert dropped(tmp_path / "log") == ["orders"]
    assert len(server.requests) == len(script)


def test_a_killed_sub_agent_goes_on_where_it_was(tmp_path: Path, store: SqliteBackend) -> None:
    """What it was told is saved with the outer run, and not paid for again."""

    class Stopped(BaseException):
        pass

    def stop_at_the_second_turn(prompt: LlmPrompt) -> Any:
        if len(prompt.messages) > 1:
            raise Stopped
        return once("tmp_a")(prompt)

    def outer(model: ScriptedProvider) -> Agent[None, str]:
        inner = Agent(model, tools=[dropping(tmp_path / "log")], rules=RULES, name="cleaner")
        script = [ToolCall("o1", "cleaner", {"prompt": "Clean up."}), "All clean."]
        tools = [inner.as_tool(description="Cleans.")]
        return Agent(ScriptedProvider(lambda p: script[len(p.messages) > 1]), tools=tools)

    with pytest.raises(Stopped):
        outer(ScriptedProvider(stop_at_the_second_turn)).run_sync("Go.", store=store, run_id="r")
    model = ScriptedProvider(once("tmp_a"))
    assert outer(model).resume_sync("r", store=store).ok
    assert dropped(tmp_path / "log") == ["tmp_a"]
    assert len(model.prompts) == 1
