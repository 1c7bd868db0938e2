"""Function steps: an agent's own work between its turns, saved and repeated as any other step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.agents.composite import (
    Checkpoint,
    Composite,
    CompositeAgent,
    Retry,
    StepResult,
    function_step,
    put_state,
    resume_sync,
    run_sync,
)
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.backends.sqlite import SqliteBackend


def note(text: str) -> Message:
    return {"role": "user", "content": text}


def count(state: Composite) -> StepResult:
    return StepResult(len(state.messages), [note("counted")])


async def shorten(state: Composite) -> StepResult:
    return StepResult("short", [note("new")], rewritten=state.messages[-1:])


class Working(CompositeAgent):
    """An agent whose steps are the given ones; it notes each answer."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def init(self, args: Mapping[str, Any]) -> Composite:
        return Composite(messages=[note("a"), note("b")], steps=self.items)

    def on_step_complete(self, step: Any, state: Composite) -> Composite:
        return put_state(state, step.name, state.response)


def texts(messages: Sequence[Message]) -> list[Any]:
    return [message["content"] for message in messages]


def test_a_function_adds_its_messages_and_its_answer() -> None:
    result = run_sync(Working(function_step("count", count)), {})
    assert result.ok
    assert result.response == 2
    assert texts(result.state.messages) == ["a", "b", "counted"]
    assert result.state.internal == {"count": 2}


def test_a_function_may_rewrite_the_conversation() -> None:
    result = run_sync(Working(function_step("shorten", shorten)), {})
    assert texts(result.state.messages) == ["b", "new"]


def test_functions_in_a_group_add_their_messages_in_list_order() -> None:
    group = [function_step("first", count), function_step("second", count)]
    result = run_sync(Working(group), {})
    assert result.state.internal == {"first": 2, "second": 2}
    assert texts(result.state.messages) == ["a", "b", "counted", "counted"]


def test_a_function_that_fails_is_asked_about_and_repeated() -> None:
    errors = [OSError("once")]

    def work(state: Composite) -> StepResult:
        if errors:
            raise errors.pop()
        return StepResult("done")

    class Repeating(Working):
        def on_error(self, step: Any, error: object, state: Composite) -> Retry:
            return Retry(state)

    assert run_sync(Repeating(function_step("work", work)), {}).response == "done"


def test_anything_but_a_step_result_is_an_error() -> None:
    step = function_step("work", lambda state: "text")  # type: ignore[arg-type, return-value]
    result = run_sync(Working(step), {})
    assert not result.ok
    assert str(result.error) == "the function of step 'work' returned str, not a StepResult"


class Growing(CompositeAgent):
    """Adds a step that it doesn't declare: its function is found by its import path."""

    def init(self, args: Mapping[str, Any]) -> Composite:
        return Composite(steps=[function_step("first", count)])

    def get_next_steps(self, step: Any, state: Composite) -> Sequence[Any]:
        return [function_step("more", stop)] if step.name == "first" else []


STOPPING = [True]


def stop(state: Composite) -> StepResult:
    if STOPPING:
        raise KeyboardInterrupt
    return StepResult("went on")


def test_a_run_resumes_at_a_function_that_it_did_not_declare(tmp_path: Path) -> None:
    checkpoint = Checkpoint(SqliteBackend(tmp_path / "store.db"), "r")
    with pytest.raises(KeyboardInterrupt):
        run_sync(Growing(), {}, checkpoint=checkpoint)
    STOPPING.clear()
    assert resume_sync(Growing(), {}, checkpoint=checkpoint).response == "went on"
