"""Composite agents: what each step does to the state, and in which order the callbacks come."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.composite import (
    Composite,
    CompositeAgent,
    CompositeResult,
    Halt,
    Retry,
    Skip,
    append_steps,
    completion,
    delegate,
    engine,
    get_state,
    push_steps,
    put_state,
    run,
    run_sync,
)

SYSTEM = {"role": "system", "content": "You are a reviewer."}


@pytest.fixture(autouse=True)
def _without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat items at once."""
    monkeypatch.setattr(engine, "_wait", lambda _error, _retries: 0.0)


class Talker:
    """Answers each completion with ``did <prompt>``, or does what ``answers`` says."""

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers = dict(answers or {})
        self.seen: list[dict[str, Any]] = []

    async def get_completion(
        self, *, model: Any, toolbox: Any, messages: Any, response_format: Any
    ) -> Any:
        prompt = messages[-1]["content"]
        self.seen.append(
            {
                "model": model,
                "toolbox": toolbox,
                "messages": list(messages),
                "response_format": response_format,
            }
        )
        answer = self.answers.get(prompt, f"did {prompt}")
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        answer_text = [*messages, {"role": "assistant", "content": answer}]
        return SimpleNamespace(response=answer, messages=answer_text)


class Agent(CompositeAgent):
    """A queue of steps, and callbacks that write down that they were called."""

    def __init__(self, steps: Sequence[Any], talker: Any = None, **state: Any) -> None:
        self.steps = steps
        self.talker = talker or Talker()
        self.state = state
        self.log: list[str] = []
        self.next_steps: dict[str, list[Any]] = {}
        self.decide: Callable[[Any, Any, Composite], Any] = lambda step, error, state: Halt(state)
        self.complete: Callable[[Any, Composite], Composite] = lambda step, state: state

    def init(self, args: Mapping[str, Any]) -> Composite:
        fields = {"messages": [SYSTEM], **self.state, **args}
        return Composite(agent=self.talker, steps=self.steps, **fields)

    def on_step_start(self, step: Any, state: Composite) -> Composite:
        self.log.append(f"start {step.name}")
        return state

    def on_step_complete(self, step: Any, state: Composite) -> Composite:
        self.log.append(f"complete {step.name}: {state.response}")
        return self.complete(step, state)

    def get_next_steps(self, step: Any, state: Composite) -> Sequence[Any]:
        self.log.append(f"next {step.name}")
        return self.next_steps.pop(step.name, [])

    def on_error(self, step: Any, error: Any, state: Composite) -> Any:
        assert state.error is error
        self.log.append(f"error {step.name}: {type(error).__name__}")
        return self.decide(step, error, state)


def contents(result: CompositeResult) -> list[str]:
    return [message["content"] for message in result.state.messages]


def replies(text: str) -> Any:
    """A sub-agent that always says the same."""

    async def get_response(args: Any) -> Any:
        return text

    return SimpleNamespace(get_response=get_response)


def fails(error: BaseException) -> Any:
    async def get_response(args: Any) -> Any:
        raise error

    return SimpleNamespace(get_response=get_response)


# The queue as state


def test_documented_queues_hold_steps_and_groups() -> None:
    """A queue is a list of steps, and a list inside it a group."""
    formulate, incorporate = completion("formulate", "f"), completion("incorporate", "i")
    specialists = [
        delegate(name, replies(name), lambda state: {"prompt": "...", "scope": state.request})
        for name in ("pedantic", "acceptance", "state_flow")
    ]
    result = run_sync(Agent([formulate, specialists, incorporate]), {"request": "review"})
    assert result.ok
    assert contents(result) == [
        "You are a reviewer.",
        "did f",
        "## Pedantic\n\npedantic",
        "## Acceptance\n\nacceptance",
        "## State Flow\n\nstate_flow",
        "did i",
    ]


def test_state_is_never_changed() -> None:
    """Pushing, appending and putting give a new state and leave the old one as it was."""
    first, second = completion("a", "a"), completion("b", "b")
    state = Composite(steps=[first], internal={"x": {"y": 1}})
    assert push_steps(state, [second]).steps == [second, first]
    assert append_steps(state, [[second, first]]).steps == [first, [second, first]]
    assert put_state(state, ["x", "y"], 2).internal == {"x": {"y": 2}}
    assert put_state(state, "z", 3).internal == {"x": {"y": 1}, "z": 3}
    assert state == Composite(steps=[first], internal={"x": {"y": 1}})
    with pytest.raises(AttributeError):
        state.error = "x"  # type: ignore[misc]


def test_get_state_by_key_and_path() -> None:
    """A value is found by its key or its path; a missing key on the way is a KeyError."""
    state = Composite(internal={"a": {"b": None, "c": 1}})
    assert get_state(state, "a") == {"b": None, "c": 1}
    assert get_state(state, ["a", "b"]) is None
    for missing in ("z", ["a", "z"], ["z", "a"], ["a", "c", "d"], []):
        with pytest.raises(KeyError):
            get_state(state, missing)
    with pytest.raises(KeyError):
        put_state(state, ["z", "a"], 1)
    with pytest.raises(KeyError):
        put_state(state, ["a", "c", "d"], 1)


# Sequential steps


def test_order_of_callbacks() -> None:
    """Start, step, complete, next: then the next item."""
    agent = Agent([completion("a", "A"), completion("b", "B")])
    result = run_sync(agent, {})
    assert agent.log == [
        "start a",
        "complete a: did A",
        "next a",
        "start b",
        "complete b: did B",
        "next b",
    ]
    assert (result.ok, result.response, result.error) == (True, "did B", None)


def test_a_prompt_leaves_the_conversation_unless_keep_prompt_is_set() -> None:
    """The prompt is a system message at the end, and stays only if it is to be kept."""
    talker = Talker()
    agent = Agent([completion("a", "A"), completion("b", "B", keep_prompt=True)], talker)
    result = run_sync(agent, {})
    assert talker.seen[0]["messages"][-1] == {"role": "system", "content": "A"}
    assert contents(result) == ["You are a reviewer.", "did A", "B", "did B"]


def test_step_overrides_model_and_toolbox() -> None:
    """A step's own model, toolbox and response format override the agent's."""
    talker = Talker()
    agent = Agent(
        [
            completion("a", "A"),
            completion("b", "B", model="big", toolbox={}, response_format={"type": "object"}),
        ],
        talker,
        model="small",
        toolbox={"t": 1},
    )
    run_sync(agent, {})
    first, second = talker.seen
    assert (first["model"], first["toolbox"], first["response_format"]) == ("small", {"t": 1}, None)
    assert (second["model"], second["toolbox"]) == ("big", {})
    assert second["response_format"] == {"type": "object"}


@pytest.mark.parametrize("is_async", [True, False])
def test_agents_may_be_plain_functions(is_async: bool) -> None:
    """Completion and delegate may be plain functions or coroutines, run either way."""

    def get_completion(*, messages: Any, **_: Any) -> Any:
        return SimpleNamespace(response="yes", messages=[*messages, {"content": "yes"}])

    def get_response(args: Any) -> Any:
        return f"got {args['n']}"

    plain = SimpleNamespace(get_completion=get_completion, get_response=get_response)
    agent = Agent([completion("a", "A"), delegate("b", plain, lambda state: {"n": 1})], plain)
    result = asyncio.run(run(agent, {})) if is_async else run_sync(agent, {})
    assert contents(result)[1:] == ["yes", "## B\n\ngot 1"]


def test_tool_messages_of_a_completion_stay() -> None:
    """All messages that a completion made stay in the conversation, tool calls included."""
    added = [{"role": "assistant", "tool_calls": []}, {"role": "tool"}, {"content": "done"}]

    async def get_completion(*, messages: Any, **_: Any) -> Any:
        return SimpleNamespace(response="done", messages=[*messages, *added])

    agent = Agent([completion("a", "A")], SimpleNamespace(get_completion=get_completion))
    assert run_sync(agent, {}).state.messages == [SYSTEM, *added]


@pytest.mark.parametrize(
    ("answer_messages", "expected"),
    [
        pytest.param(lambda sent: sent, ["You are a reviewer.", "hi"], id="nothing added"),
        pytest.param(
            lambda sent: [{"role": "assistant", "content": "hi"}],
            ["You are a reviewer.", "hi"],
            id="its own alone",
        ),
        pytest.param(
            lambda sent: [SYSTEM, {"content": "summary"}, sent[-1], {"content": "hi"}],
            ["You are a reviewer.", "summary", "hi"],
            id="compacted",
        ),
        pytest.param(
            lambda sent: [dict(m) for m in sent] + [{"content": "hi"}],
            ["You are a reviewer.", "hi"],
            id="copied",
        ),
    ],
)
def test_what_agents_answer_with(
    answer_messages: Callable[[Any], Any], expected: list[str]
) -> None:
    """An agent answers with the conversation, with its own messages, or with a shorter history."""

    async def get_completion(*, messages: Any, **_: Any) -> Any:
        return SimpleNamespace(response="hi", messages=answer_messages(messages))

    agent = Agent([completion("a", "A")], SimpleNamespace(get_completion=get_completion))
    assert contents(run_sync(agent, {})) == expected


def test_next_steps_come_first() -> None:
    """What get_next_steps returns is done before the rest of the queue."""
    agent = Agent([completion("plan", "P"), completion("validate", "V")])
    agent.next_steps = {"plan": [completion("t1", "1"), completion("t2", "2")]}
    assert contents(run_sync(agent, {}))[1:] == ["did P", "did 1", "did 2", "did V"]


def test_a_loop_that_validates() -> None:
    """Returning the same step again is a retry by the agent's own judgement."""
    validate = completion("validate", "V")
    agent = Agent([validate], Talker({"V": ["bad", "bad", "good"]}))

    class Loop(Agent):
        def get_next_steps(self, step: Any, state: Composite) -> Sequence[Any]:
            return [] if state.response == "good" else [step]

    loop = Loop([validate], agent.talker)
    assert contents(run_sync(loop, {}))[1:] == ["bad", "bad", "good"]


# Errors


def test_a_failed_step_halts_by_default() -> None:
    """Without an on_error of its own, an agent stops with the error; run never raises it."""
    boom = RuntimeError("boom")

    class Plain(CompositeAgent):
        def init(self, args: Mapping[str, Any]) -> Composite:
            return Composite(agent=Talker({"A": boom}), steps=[completion("a", "A")])

    result = run_sync(Plain, {})
    assert (result.ok, result.error, result.state.error) == (False, boom, boom)


def test_retry_clears_the_error_and_does_the_step_again() -> None:
    """Retry does the same step again, with the error cleared, and it may yet succeed."""
    agent = Agent([completion("a", "A")], Talker({"A": [OSError(), OSError(), "fine"]}))
    agent.decide = lambda step, error, state: Retry(put_state(state, "seen", True))
    errors: list[Any] = []
    start = agent.on_step_start
    agent.on_step_start = lambda step, state: errors.append(state.error) or start(step, state)  # type: ignore[method-assign]
    result = run_sync(agent, {})
    assert (result.ok, contents(result)) == (True, ["You are a reviewer.", "fine"])
    assert errors == [None, None, None]
    assert result.state.internal == {"seen": True}


def test_retries_can_be_capped() -> None:
    """With a cap the step is tried once and then so many times more; then its error halts."""
    agent = Agent([completion("a", "A")], Talker({"A": [OSError(n) for n in range(9)]}))
    agent.decide = lambda step, error, state: Retry(state)
    result = run_sync(agent, {}, max_retries=2)
    assert len(agent.talker.seen) == 3
    assert (result.ok, result.error.args) == (False, (2,))


def test_the_cap_counts_from_zero_for_each_item() -> None:
    """Retries of one item do not count against the next."""
    answers = {"A": [OSError(), "a"], "B": [OSError(), "b"]}
    agent = Agent([completion("a", "A"), completion("b", "B")], Talker(answers))
    agent.decide = lambda step, error, state: Retry(state)
    assert run_sync(agent, {}, max_retries=1).ok


def test_skip_goes_on_with_a_clear_error() -> None:
    """Skip clears the error, completes nothing, and goes on."""
    agent = Agent([completion("a", "A"), completion("b", "B")], Talker({"A": OSError()}))
    agent.decide = lambda step, error, state: Skip(state)
    result = run_sync(agent, {})
    assert result.ok
    assert result.state.error is None
    assert agent.log == ["start a", "error a: OSError", "start b", "complete b: did B", "next b"]


def test_a_state_with_an_error_fails_the_step() -> None:
    """A step whose on_step_complete sets an error has failed."""
    agent = Agent([completion("a", "A"), completion("b", "B")])
    agent.complete = lambda step, state: (
        replace(state, error="not good") if step.name == "a" else state
    )
    result = run_sync(agent, {})
    assert (result.ok, result.error) == (False, "not good")
    assert agent.log[-1] == "error a: str"


def test_args_builder_and_unfit_answers_fail_the_step() -> None:
    """A step that raises anywhere is a failed step: building its arguments, or a bad answer."""
    bad = delegate("a", replies("x"), lambda state: {}["missing"])
    assert isinstance(run_sync(Agent([bad]), {}).error, KeyError)
    nothing = SimpleNamespace(get_completion=lambda **_: None)
    assert isinstance(run_sync(Agent([completion("a", "A")], nothing), {}).error, AttributeError)
    assert isinstance(
        run_sync(Agent([delegate("a", object(), lambda state: {})]), {}).error, AttributeError
    )


@pytest.mark.parametrize("callback", ["on_step_start", "on_step_complete", "get_next_steps"])
def test_a_bug_in_a_callback_is_raised(callback: str) -> None:
    """An exception in a callback ends the run."""
    agent = Agent([completion("a", "A")])

    def broken(*args: Any) -> Any:
        raise ZeroDivisionError

    setattr(agent, callback, broken)
    with pytest.raises(ZeroDivisionError):
        run_sync(agent, {})


@pytest.mark.parametrize(
    ("callback", "answer_text"),
    [("on_step_start", "on_step_start returned NoneType"), ("on_error", "not Retry, Skip or Halt")],
)
def test_a_callback_must_return_what_it_should(callback: str, answer_text: str) -> None:
    """The error names a callback that doesn't return a state or a decision."""
    agent = Agent([completion("a", "A")], Talker({"A": OSError()}))
    setattr(agent, callback, lambda *args: None)
    with pytest.raises(TypeError, match=answer_text):
        run_sync(agent, {})


def test_init_can_decline() -> None:
    """An init that returns Halt gives a result with its error, and nothing is run."""

    class No(CompositeAgent):
        def init(self, args: Mapping[str, Any]) -> Halt:
            return Halt(Composite(error="no such thing"))

    result = run_sync(No, {})
    assert (result.ok, result.error) == (False, "no such thing")


def test_cancelled_from_inside_is_a_failed_step() -> None:
    """A step whose own awaitable was cancelled has failed; the run has not been cancelled."""
    agent = Agent([completion("a", "A")], Talker({"A": asyncio.CancelledError()}))
    result = run_sync(agent, {})
    assert isinstance(result.error, RuntimeError)
    group = Agent([[completion("a", "A"), completion("b", "B")]], agent.talker)
    assert isinstance(run_sync(group, {}).error, RuntimeError)


# Groups


def test_branches_see_the_same_messages_and_run_at_once() -> None:
    """Branches start together, from the conversation before the group."""
    barrier = asyncio.Barrier(3)
    seen = []

    async def get_completion(*, messages: Any, **_: Any) -> Any:
        seen.append(messages[:-1])
        async with asyncio.timeout(5):
            await barrier.wait()
        answer_text = messages[-1]["content"]
        return SimpleNamespace(response=answer_text, messages=[*messages, {"content": answer_text}])

    agent = Agent(
        [[completion(n, n) for n in "abc"]], SimpleNamespace(get_completion=get_completion)
    )
    result = run_sync(agent, {})
    assert seen == [[SYSTEM]] * 3
    assert contents(result)[1:] == ["a", "b", "c"]


def test_join_is_in_list_order() -> None:
    """The join and the callbacks are in list order, whichever branch ends first."""

    def after(seconds: float, text: str) -> Any:
        async def get_response(args: Any) -> Any:
            await asyncio.sleep(seconds)
            return text

        return SimpleNamespace(get_response=get_response)

    steps = [
        delegate("slow_one", after(0.02, "S"), lambda state: {}),
        delegate("quick", after(0, "Q"), lambda state: {}),
    ]
    agent = Agent([steps])
    result = run_sync(agent, {})
    assert contents(result)[1:] == ["## Slow One\n\nS", "## Quick\n\nQ"]
    assert agent.log == [
        "start slow_one",
        "start quick",
        "complete slow_one: S",
        "next slow_one",
        "complete quick: Q",
        "next quick",
    ]


def test_plain_functions_in_a_group_run_in_parallel() -> None:
    """Blocking branches do not wait for each other."""
    barrier = threading.Barrier(3)

    def get_response(args: Any) -> Any:
        barrier.wait(5)
        return "ok"

    blocking = SimpleNamespace(get_response=get_response)
    group = [delegate(n, blocking, lambda state: {}) for n in "abc"]
    assert run_sync(Agent([group]), {}).ok


def test_next_steps_of_a_group_are_put_in_front_together() -> None:
    """All branches' next steps come before the rest of the queue, in list order."""
    agent = Agent([[completion("a", "A"), completion("b", "B")], completion("end", "E")])
    agent.next_steps = {"a": [completion("a2", "A2")], "b": [completion("b2", "B2")]}
    assert contents(run_sync(agent, {}))[1:] == ["did A", "did B", "did A2", "did B2", "did E"]


def test_failed_branches_are_reported_and_on_error_gets_the_first() -> None:
    """Siblings of a failed branch finish; the conversation says what failed, not how."""
    secret = "/home/alice/.aws/credentials"
    group = [
        delegate("good", replies("fine"), lambda state: {}),
        delegate("bad_one", fails(FileNotFoundError(secret)), lambda state: {}),
        delegate("worse", fails(OSError("x")), lambda state: {}),
    ]
    agent = Agent([group, completion("end", "E")])
    agent.decide = lambda step, error, state: Skip(state)
    result = run_sync(agent, {})
    assert contents(result)[1:] == [
        "## Good\n\nfine",
        "## Bad One\n\n**FAILED**: FileNotFoundError",
        "## Worse\n\n**FAILED**: OSError",
        "did E",
    ]
    assert [line for line in agent.log if line.startswith("error")] == [
        "error bad_one: FileNotFoundError"
    ]
    assert secret not in str(contents(result))


def test_retry_of_a_group_runs_only_what_failed() -> None:
    """Branches that succeeded are not paid for twice; next steps wait until the group is done."""
    answers = {"A": "a", "B": [OSError(), "b"], "C": [OSError(), OSError(), "c"]}
    talker = Talker(answers)
    agent = Agent([[completion(n.lower(), n) for n in "ABC"], completion("end", "E")], talker)
    agent.next_steps = {"a": [completion("a2", "A2")]}
    agent.decide = lambda step, error, state: Retry(state)
    result = run_sync(agent, {})
    prompts = [seen["messages"][-1]["content"] for seen in talker.seen]
    assert sorted(prompts[:3]) == ["A", "B", "C"]
    assert sorted(prompts[3:5]) == ["B", "C"]
    assert prompts[5:] == ["C", "A2", "E"]
    assert result.ok


def test_a_branch_that_completes_with_an_error_has_failed() -> None:
    """An error set while completing one branch is its own, and no other's."""
    agent = Agent([[completion("a", "A"), completion("b", "B")]])
    agent.complete = lambda step, state: replace(state, error="no") if step.name == "a" else state
    agent.decide = lambda step, error, state: Skip(state)
    assert run_sync(agent, {}).ok
    assert "next b" in agent.log
    assert "next a" not in agent.log


def test_width_limits_a_group() -> None:
    """No more branches than the width run at the same time."""
    running = 0
    most = 0

    async def get_response(args: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return ""

    counted = SimpleNamespace(get_response=get_response)
    group = [delegate(f"n{n}", counted, lambda state: {}) for n in range(12)]
    assert run_sync(Agent([group]), {}, width=4).ok
    assert most == 4


def test_odd_groups() -> None:
    """An empty group is done at once; a group in a group is a bug."""
    assert run_sync(Agent([[], completion("a", "A")]), {}).response == "did A"
    with pytest.raises(TypeError, match="a group must hold steps, not list"):
        run_sync(Agent([[[completion("a", "A")]]]), {})


def test_a_rewritten_conversation_in_a_group_is_the_branches_own() -> None:
    """A branch that compacted its copy of the conversation adds its answer only."""

    async def get_completion(*, messages: Any, **_: Any) -> Any:
        return SimpleNamespace(response="hi", messages=[messages[0], {"content": "hi"}])

    agent = Agent([[completion("a", "A")]], SimpleNamespace(get_completion=get_completion))
    two = [SYSTEM, {"role": "user", "content": "long"}]
    assert contents(run_sync(agent, {"messages": two}))[2:] == ["hi"]


# Nesting, cancelling, blocking


def test_a_composite_delegates_to_a_composite() -> None:
    """A composite is an agent like any other, and its failure is a failed step."""
    inner = Agent([completion("in", "I")])
    outer = Agent([delegate("inner", inner, lambda state: {"request": state.request})])
    assert contents(run_sync(outer, {}))[1:] == ["## Inner\n\ndid I"]
    broken = Agent([completion("in", "I")], Talker({"I": OSError("x")}))
    outer = Agent([delegate("inner", broken, lambda state: {})])
    assert isinstance(run_sync(outer, {}).error, OSError)
    sub = SimpleNamespace(get_response=lambda args: run_sync(broken, {}))
    assert isinstance(run_sync(Agent([delegate("s", sub, lambda s: {})]), {}).error, OSError)


class Echo:
    """A sub-agent with an instance of its own for each task."""

    async def get_response(self, args: Mapping[str, Any]) -> str:
        return f"echo {args['n']}"


class Static:
    @staticmethod
    def get_response(args: Mapping[str, Any]) -> str:
        return f"static {args['n']}"


class Inner(CompositeAgent):
    def init(self, args: Mapping[str, Any]) -> Composite:
        return Composite(agent=Talker(), steps=[completion("in", f"I{args['n']}")])


@pytest.mark.parametrize(
    ("agent", "answer_text"),
    [(Echo, "echo 1"), (Echo(), "echo 1"), (Static, "static 1"), (Inner, "did I1")],
)
def test_an_agent_may_be_a_class(agent: Any, answer_text: str) -> None:
    """A class is delegated to as the original's modules are."""
    result = run_sync(Agent([delegate("x", agent, lambda state: {"n": 1})]), {})
    assert contents(result)[1:] == [f"## X\n\n{answer_text}"]


def test_cancelling_leaves_nothing_running() -> None:
    """When a cancelled run returns, its branches have ended, threads included."""
    ended: list[str] = []

    async def coroutine(args: Any) -> Any:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append("coroutine")

    def thread(args: Any) -> Any:
        time.sleep(0.1)
        ended.append("thread")

    group = [
        delegate("c", SimpleNamespace(get_response=coroutine), lambda state: {}),
        delegate("t", SimpleNamespace(get_response=thread), lambda state: {}),
    ]

    async def main() -> None:
        task = asyncio.create_task(run(Agent([group]), {}))
        await asyncio.sleep(0.03)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(ended) == ["coroutine", "thread"]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_keyboard_interrupt_ends_a_group() -> None:
    """An error that isn't an Exception is raised after the siblings have ended."""
    ended = []

    async def sleeps(args: Any) -> Any:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    group = [
        delegate("s", SimpleNamespace(get_response=sleeps), lambda state: {}),
        delegate("k", fails(KeyboardInterrupt()), lambda state: {}),
    ]
    with pytest.raises(KeyboardInterrupt):
        run_sync(Agent([group]), {})
    assert ended == [True]


def test_run_sync_inside_a_running_loop() -> None:
    """The blocking twin works where a loop is running already, as in a notebook."""

    async def main() -> CompositeResult:
        return run_sync(Agent([completion("a", "A")]), {})

    assert asyncio.run(main()).ok


# The queue against a plain model of it

STEPS = st.lists(st.integers(0, 5) | st.lists(st.integers(0, 5), max_size=3), max_size=4)


@given(
    queue=STEPS,
    follow=st.dictionaries(st.integers(0, 5), STEPS, max_size=3),
    failing=st.dictionaries(st.integers(0, 5), st.integers(1, 3), max_size=3),
    skips=st.booleans(),
)
def test_the_queue_is_a_plain_queue(
    queue: list[Any], follow: dict[int, list[Any]], failing: dict[int, int], skips: bool
) -> None:
    """Whatever the steps, their followers and failures: the engine does what a list would."""

    def as_steps(items: list[Any]) -> list[Any]:
        return [
            [completion(str(n), str(n)) for n in item]
            if isinstance(item, list)
            else completion(str(item), str(item))
            for item in items
        ]

    failures_left = dict(failing)
    finished: list[int] = []

    class Model(CompositeAgent):
        def __init__(self) -> None:
            self.follow = dict(follow)

        def init(self, args: Mapping[str, Any]) -> Composite:
            return Composite(agent=self, steps=as_steps(queue))

        async def get_completion(self, *, messages: Any, **_: Any) -> Any:
            name = int(messages[-1]["content"])
            if failures_left.get(name, 0) > 0:
                failures_left[name] -= 1
                raise OSError(name)
            return SimpleNamespace(response=str(name), messages=messages)

        def on_step_complete(self, step: Any, state: Composite) -> Composite:
            finished.append(int(step.name))
            return state

        def get_next_steps(self, step: Any, state: Composite) -> list[Any]:
            return as_steps(self.follow.pop(int(step.name), []))

        def on_error(self, step: Any, error: Any, state: Composite) -> Any:
            return Skip(state) if skips else Retry(state)

    result = run_sync(Model(), {}, max_retries=None)
    assert result.ok
    assert finished == expected_order(queue, dict(follow), dict(failing), skips)
    assert result.state.steps == []


def expected_order(
    queue: list[Any], follow: dict[int, list[Any]], failing: dict[int, int], skips: bool
) -> list[int]:
    """The model: a list, popped from the front."""
    queue = list(queue)
    finished: list[int] = []
    while queue:
        item = queue.pop(0)
        steps = item if isinstance(item, list) else [item]
        failed, following = [], []
        failed_at = []
        for step in steps:
            is_failing = failing.get(step, 0) > 0
            failed_at.append(is_failing)
            if is_failing:
                failing[step] -= 1
        for step, is_failing in zip(steps, failed_at, strict=True):
            if is_failing:
                failed.append(step)
            else:
                finished.append(step)
                following += follow.pop(step, [])
        queue = following + queue
        if failed and not skips:
            queue.insert(0, failed if isinstance(item, list) else item)
    return finished
