"""Checkpoints: a run that was stopped anywhere goes on where it was, in another process."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.composite import (
    Checkpoint,
    Composite,
    CompositeAgent,
    Halt,
    Retry,
    RunExistsError,
    RunNotFoundError,
    RunOwnedError,
    StaleCheckpointError,
    UnsavableStepError,
    advance,
    completion,
    delegate,
    engine,
    put_state,
    resume_sync,
    run_sync,
)
from fluid_build.copilot.store.backends.file import FileBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store, StoreError

# Later Pythons warn of a fork beside threads; the children here need nothing that a thread holds.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

DONE: list[str] = []
"""What was done in this process, in order."""


@pytest.fixture(autouse=True)
def _without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat items at once."""
    monkeypatch.setattr(engine, "_wait", lambda _error, _retries: 0.0)


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


@pytest.fixture(params=["file", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "file":
        return FileBackend(root=tmp_path / "store")
    return SqliteBackend(tmp_path / "store.db")


class Stopped(BaseException):
    """As good as a kill: nothing catches it."""


class Talker:
    """Answers, until the prompt at which it stops."""

    def __init__(self, stop_at: str | None = None, how: Callable[[], None] | None = None) -> None:
        self.stop_at = stop_at
        self.how = how

    async def get_completion(self, *, messages: Any, **_: Any) -> Any:
        prompt = messages[-1]["content"]
        if prompt == self.stop_at:
            if self.how is not None:
                self.how()
            raise Stopped
        DONE.append(prompt)
        answer = {"role": "assistant", "content": f"{prompt} after {len(messages) - 1}"}
        return SimpleNamespace(response=answer["content"], messages=[*messages, answer])


class Helper:
    @staticmethod
    async def get_response(args: Mapping[str, Any]) -> str:
        DONE.append(f"helper {args['n']}")
        return f"helped {args['n']}"


def build_args(state: Composite) -> dict[str, Any]:
    return {"n": len(state.messages)}


class Pipeline(CompositeAgent):
    """Plans, fans out, follows up with steps that were not declared, and ends."""

    def init(self, args: Mapping[str, Any]) -> Composite | Halt:
        return Composite(
            agent=args["agent"],
            request="r",
            model="m",
            messages=[{"role": "system", "content": "s"}],
            steps=[
                completion("plan", "plan", toolbox=object()),
                [completion("a", "a"), delegate("help", Helper, lambda state: {"n": "lambda"})],
                completion("end", "end"),
            ],
        )

    def on_step_complete(self, step: Any, state: Composite) -> Composite:
        return put_state(state, step.name, len(state.messages))

    def get_next_steps(self, step: Any, state: Composite) -> Sequence[Any]:
        if step.name == "plan":
            return [completion("task", "task", response_format={"type": "object"})]
        if step.name == "task":
            return [delegate("more", Helper, build_args)]
        return []


def without_checkpoint() -> Any:
    result = run_sync(Pipeline, {"agent": Talker()})
    DONE.clear()
    return result


@pytest.mark.parametrize("stop_at", ["plan", "task", "a", "end"])
def test_a_stopped_run_goes_on(store: Store, stop_at: str) -> None:
    """Wherever a run was stopped, the resumed one ends as if it had never been."""
    expected = without_checkpoint()
    with pytest.raises(Stopped):
        run_sync(Pipeline, {"agent": Talker(stop_at)}, checkpoint=Checkpoint(store, "r"))
    before = list(DONE)
    result = resume_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    assert result.ok
    assert result.response == expected.response
    assert result.state.messages == expected.state.messages
    assert result.state.internal == expected.state.internal
    sequential = [name for name in DONE if name in ("plan", "task", "end", "helper 3")]
    assert sequential == ["plan", "task", "helper 3", "end"]
    assert set(before) <= {"plan", "task", "helper 3", "helper lambda", "a"}


def advance_to(store: Store, item: int, agent: Talker | None = None) -> Any:
    """Advance the run in a checkpoint of its own, as each process has."""
    args = {"agent": agent or Talker()}
    return asyncio.run(advance(Pipeline, args, checkpoint=Checkpoint(store, "r"), until_item=item))


def test_a_run_is_advanced_by_its_items_each_done_once(store: Store) -> None:
    """Asked for an item that is done, it does nothing; it ends as a run in one go."""
    expected = without_checkpoint()
    left = []
    for item in range(6):
        assert advance_to(store, item).ok
        done = list(DONE)
        result = advance_to(store, item)
        assert done == DONE
        left.append(len(result.state.steps))
    assert left == [3, 3, 3, 2, 1, 0]
    assert result.response == expected.response
    assert result.state.messages == expected.state.messages
    assert result.state.internal == expected.state.internal
    assert DONE[-1] == "end"
    assert len(DONE) == len(set(DONE)) == 6


def test_an_item_that_was_stopped_is_taken_by_the_next_advance(store: Store) -> None:
    advance_to(store, 0)
    with pytest.raises(Stopped):
        advance_to(store, 5, Talker("task"))
    assert DONE == ["plan"]
    assert advance_to(store, 1).ok
    assert DONE == ["plan"]
    assert len(advance_to(store, 2).state.steps) == 3
    assert DONE == ["plan", "task"]


def _run_and_die(store_path: Path) -> None:
    agent = Talker("end", lambda: os.kill(os.getpid(), signal.SIGKILL))
    store = SqliteBackend(store_path)
    run_sync(Pipeline, {"agent": agent}, checkpoint=Checkpoint(store, "r"))


def test_a_killed_process_is_succeeded(tmp_path: Path) -> None:
    """A run whose process was killed goes on in another one."""
    path = tmp_path / "store.db"
    child = multiprocessing.get_context("fork").Process(target=_run_and_die, args=(path,))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    expected = without_checkpoint()
    result = resume_sync(
        Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(SqliteBackend(path), "r")
    )
    assert DONE == ["end"]
    assert result.state.messages == expected.state.messages


def _run_and_wait(store_path: Path) -> None:
    agent = Talker("end", lambda: time.sleep(60))
    run_sync(Pipeline, {"agent": agent}, checkpoint=Checkpoint(SqliteBackend(store_path), "r"))


def test_a_living_owner_is_not_succeeded(tmp_path: Path) -> None:
    """While its process lives, a run is not resumed; once it is dead, it is."""
    path = tmp_path / "store.db"
    child = multiprocessing.get_context("fork").Process(target=_run_and_wait, args=(path,))
    child.start()
    checkpoint = Checkpoint(SqliteBackend(path), "r")
    give_up_at = time.monotonic() + 10
    while "more" not in str(SqliteBackend(path).get("runs", "r/000001/head")):
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    try:
        with pytest.raises(RunOwnedError, match=str(child.pid)):
            resume_sync(Pipeline, {"agent": Talker()}, checkpoint=checkpoint)
    finally:
        child.kill()
        child.join()
    assert resume_sync(Pipeline, {"agent": Talker()}, checkpoint=checkpoint).ok


def test_a_run_in_this_process_is_not_resumed_from_within(store: Store) -> None:
    """A run that is being run here is owned; after it has failed with a bug it is free."""
    caught: list[Exception] = []

    def meddle() -> None:
        try:
            resume_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
        except RunOwnedError as error:
            caught.append(error)

    with pytest.raises(Stopped):
        run_sync(Pipeline, {"agent": Talker("a", meddle)}, checkpoint=Checkpoint(store, "r"))
    assert len(caught) == 1
    assert resume_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r")).ok


def test_an_owner_elsewhere_is_believed_for_its_lease(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a process on another machine lives cannot be seen, so its lease decides."""
    now = [1000.0]
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    with pytest.raises(Stopped):
        run_sync(
            Pipeline,
            {"agent": Talker("end")},
            checkpoint=Checkpoint(store, "r", clock=lambda: now[0]),
        )
    monkeypatch.undo()
    checkpoint = Checkpoint(store, "r", lease_seconds=60, clock=lambda: now[0])
    now[0] += 59
    with pytest.raises(RunOwnedError, match="elsewhere"):
        resume_sync(Pipeline, {"agent": Talker()}, checkpoint=checkpoint)
    now[0] += 2
    assert resume_sync(Pipeline, {"agent": Talker()}, checkpoint=checkpoint).ok


def test_a_former_owner_disturbs_nobody(store: Store) -> None:
    """What an owner writes after it was succeeded is not what the run is resumed from."""
    agent, fresh = Pipeline(), Composite(steps=[completion("x", "x")])
    former = Checkpoint(store, "r")
    with former.begin(agent, fresh):
        pass
    successor = Checkpoint(store, "r")
    with successor.take_over(agent, fresh, True) as (state, _):
        successor.save(replace(state, response="new"), 0)
        former.save(replace(fresh, response="old"), 0)
    with Checkpoint(store, "r").take_over(agent, fresh, True) as (state, _):
        assert state.response == "new"


def test_ids(store: Store) -> None:
    """A run is begun once under its id, and resumed only if there is one."""
    with pytest.raises(RunNotFoundError):
        resume_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    assert run_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r")).ok
    with pytest.raises(RunExistsError):
        run_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    assert run_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r2")).ok
    for bad in ("", "a/b"):
        with pytest.raises(ValueError, match="run id"):
            Checkpoint(store, bad)


def test_a_finished_run_is_its_result(store: Store) -> None:
    """Resuming what is finished runs nothing and gives the result again."""
    first = run_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    DONE.clear()
    again = resume_sync(Pipeline, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    assert DONE == []
    assert (again.ok, again.response) == (True, first.response)


class Flaky(CompositeAgent):
    """A step that fails until it may succeed."""

    def init(self, args: Mapping[str, Any]) -> Composite:
        self.decide = args["decide"]
        return Composite(agent=self, steps=[completion("a", "a"), completion("b", "b")])

    fails = True

    async def get_completion(self, *, messages: Any, **_: Any) -> Any:
        DONE.append(messages[-1]["content"])
        if self.fails and messages[-1]["content"] == "b":
            raise OSError("password=canary")
        return SimpleNamespace(response="fine", messages=messages)

    def on_error(self, step: Any, error: Any, state: Composite) -> Any:
        return self.decide(state)


def test_a_halted_run_can_be_resumed(store: Store) -> None:
    """A run that halted goes on at the step that failed, with its error cleared."""
    result = run_sync(Flaky, {"decide": Halt}, checkpoint=Checkpoint(store, "r"))
    assert isinstance(result.error, OSError)
    assert "canary" not in str(store.get("runs", "r/000001/head"))
    works = Flaky()
    works.fails = False
    assert resume_sync(works, {"decide": Halt}, checkpoint=Checkpoint(store, "r")).ok
    assert DONE == ["a", "b", "b"]


def test_the_cap_on_retries_outlives_the_process(store: Store) -> None:
    """Retries that were made before a stop count after it."""
    tries = []

    def stop_at_third(state: Composite) -> Any:
        tries.append(1)
        if len(tries) == 3:
            raise Stopped
        return Retry(state)

    with pytest.raises(Stopped):
        run_sync(Flaky, {"decide": stop_at_third}, checkpoint=Checkpoint(store, "r"), max_retries=3)
    DONE.clear()
    resume_sync(Flaky, {"decide": Retry}, checkpoint=Checkpoint(store, "r"), max_retries=3)
    assert DONE == ["b", "b"]


class ChangedCode(Pipeline):
    def on_step_complete(self, step: Any, state: Composite) -> Composite:
        return state


class ChangedPrompt(Pipeline):
    """The same code, but a declared step says something else."""

    prompt = "end"

    def init(self, args: Mapping[str, Any]) -> Composite | Halt:
        state = super().init(args)
        assert isinstance(state, Composite)
        return replace(state, steps=[*state.steps[:-1], completion("end", self.prompt)])


def test_changed_code_is_not_resumed_unnoticed(store: Store) -> None:
    """If the agent's code or a step's words have changed, resuming needs a word of consent."""
    with pytest.raises(Stopped):
        run_sync(ChangedPrompt, {"agent": Talker("end")}, checkpoint=Checkpoint(store, "r"))
    with pytest.raises(StaleCheckpointError, match="code"):
        resume_sync(ChangedCode, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    changed = ChangedPrompt()
    changed.prompt = "another end"
    with pytest.raises(StaleCheckpointError, match="'end'"):
        resume_sync(changed, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    result = resume_sync(
        changed, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"), accept_changed_code=True
    )
    assert result.ok
    assert DONE[-1] == "another end"


class Undeclared(CompositeAgent):
    """Returns a step that no other process could find again, unless it is declared."""

    def __init__(self, is_known: bool) -> None:
        self.step = delegate("x", Helper, lambda state: {"n": 0})
        self.is_known = is_known

    def init(self, args: Mapping[str, Any]) -> Composite:
        return Composite(agent=args["agent"], steps=[completion("a", "a")])

    def get_next_steps(self, step: Any, state: Composite) -> Sequence[Any]:
        return [self.step] if step.name == "a" else []

    def known_steps(self) -> Sequence[Any]:
        return [self.step] if self.is_known else []


def test_a_step_that_cannot_be_saved_is_an_error(store: Store) -> None:
    """A lambda that is declared nowhere is refused when it is saved, not when it is missed."""
    with pytest.raises(UnsavableStepError, match="'x'"):
        run_sync(Undeclared(False), {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    assert run_sync(Undeclared(True), {"agent": Talker()}, checkpoint=Checkpoint(store, "s")).ok


def test_internal_notes_that_are_not_json_are_an_error(store: Store) -> None:
    """Notes that would come back as something else are refused, by name."""

    class Noted(Pipeline):
        def on_step_complete(self, step: Any, state: Composite) -> Composite:
            return put_state(state, "tools", {"mine": object()})

    with pytest.raises(StoreError, match=r"'tools'.*JSON") as caught:
        run_sync(Noted, {"agent": Talker()}, checkpoint=Checkpoint(store, "r"))
    assert "init" in str(caught.value.hint)


def test_no_key_is_saved(tmp_path: Path) -> None:
    """Nothing of the agent that speaks to the provider is in the store."""
    agent = Talker()
    agent.api_key = "canary-key"  # type: ignore[attr-defined]
    store = SqliteBackend(tmp_path / "store.db")
    run_sync(Pipeline, {"agent": agent}, checkpoint=Checkpoint(store, "r"))
    store.close()
    for path in tmp_path.iterdir():
        assert b"canary" not in path.read_bytes()


class Scripted(CompositeAgent):
    """Does what a script says: add messages, rewrite the conversation, push steps."""

    def __init__(self, script: list[tuple[str, int]], stop_after: int) -> None:
        self.script = script
        self.stop_after = stop_after

    def init(self, args: Mapping[str, Any]) -> Composite:
        steps = [completion(str(n), str(n)) for n in range(len(self.script))]
        return Composite(agent=self, steps=steps)

    async def get_completion(self, *, messages: Any, **_: Any) -> Any:
        number = int(messages[-1]["content"])
        if number == self.stop_after:
            raise Stopped
        kind, size = self.script[number % 100]
        added = [{"role": "assistant", "content": f"{number}.{n}"} for n in range(size)]
        if kind == "compact":
            return SimpleNamespace(
                response="c", messages=[*messages[:1], *messages[-3:-1], messages[-1], *added]
            )
        return SimpleNamespace(response="r", messages=[*messages, *added])

    def get_next_steps(self, step: Any, state: Composite) -> list[Any]:
        number = int(step.name)
        kind, size = self.script[number % 100]
        if kind != "push" or number >= 100:
            return []
        return [completion(str(number + 100 * n), str(number + 100 * n)) for n in range(1, size)]


@given(
    script=st.lists(
        st.tuples(st.sampled_from(["add", "compact", "push"]), st.integers(0, 20)),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
def test_whatever_a_run_does_it_can_be_resumed(
    tmp_path: Path, script: list[tuple[str, int]], data: st.DataObject
) -> None:
    """Messages added, conversations rewritten, queues grown: resumed, it ends the same."""
    expected = run_sync(Scripted(script, -1), {})
    stop_after = data.draw(st.integers(0, len(script) - 1))
    store = SqliteBackend(":memory:")
    with pytest.raises(Stopped):
        run_sync(Scripted(script, stop_after), {}, checkpoint=Checkpoint(store, "r"))
    result = resume_sync(Scripted(script, -1), {}, checkpoint=Checkpoint(store, "r"))
    assert result.state.messages == expected.state.messages
    assert result.response == expected.response
