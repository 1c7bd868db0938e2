"""Runs a composite agent: takes the next item off the queue, does it, asks what follows.

The order of events, the failures and the join of a group are those of the Composite Agents page and
section 4 of the design. Between two items everything there is to know is in the state, so that is
where a checkpoint is taken.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fluid_build.copilot.agents.composite.behaviour import (
    CompositeBehaviour,
    CompositeResult,
    Decision,
    Halt,
    Retry,
    Skip,
)
from fluid_build.copilot.agents.composite.checkpoint import Checkpoint
from fluid_build.copilot.agents.composite.state import (
    CompletionStep,
    Composite,
    DelegateStep,
    Item,
    Step,
    evolve,
    push_steps,
)
from fluid_build.copilot.agents.composite.step_execution import (
    Done,
    Failed,
    Outcome,
    failure_message,
    take,
)
from fluid_build.copilot.blocking import run_blocking

DEFAULT_WIDTH = 128
"""Branches of one group that run at the same time."""


@dataclass(frozen=True, slots=True)
class _Options:
    max_retries: int | None
    width: int
    checkpoint: Checkpoint | None
    threads: bool


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed item: the step to ask about, what it failed with, and what to do again."""

    step: Step
    error: Any
    again: Item


async def run(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Mapping[str, Any],
    *,
    max_retries: int | None = None,
    width: int = DEFAULT_WIDTH,
    checkpoint: Checkpoint | None = None,
) -> CompositeResult:
    """Runs ``impl`` until its queue is empty or a failed step halts it.

    Never raises for a failed step, only for a bug in a callback. ``max_retries`` is how often in a
    row an item may be done again (``None``: as often as ``on_error`` says), ``width`` how many
    branches of a group run at a time. With ``checkpoint`` the state is saved after each item.
    Agents that are plain functions run on threads. If the caller is cancelled, everything that was
    started has ended before the cancellation goes on.
    """
    return await _start(impl, args, _Options(max_retries, width, checkpoint, threads=True))


def run_sync(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Mapping[str, Any],
    *,
    max_retries: int | None = None,
    width: int = DEFAULT_WIDTH,
    checkpoint: Checkpoint | None = None,
) -> CompositeResult:
    """The blocking twin of ``run``. Here a plain function outside of a group needs no thread."""
    options = _Options(max_retries, width, checkpoint, threads=False)
    return run_blocking(_start(impl, args, options))


async def resume(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Mapping[str, Any],
    *,
    checkpoint: Checkpoint,
    max_retries: int | None = None,
    width: int = DEFAULT_WIDTH,
    accept_changed_code: bool = False,
) -> CompositeResult:
    """Goes on with a run that was interrupted or halted, at the item that it was in.

    Raises ``RunNotFoundError`` if there is none, ``RunOwnedError`` if it is still being run,
    ``StaleCheckpointError`` if the agent's code is another now and that was not accepted.
    """
    options = _Options(max_retries, width, checkpoint, threads=True)
    return await _resume(impl, args, options, accept_changed_code)


def resume_sync(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Mapping[str, Any],
    *,
    checkpoint: Checkpoint,
    max_retries: int | None = None,
    width: int = DEFAULT_WIDTH,
    accept_changed_code: bool = False,
) -> CompositeResult:
    """The blocking twin of ``resume``."""
    options = _Options(max_retries, width, checkpoint, threads=False)
    return run_blocking(_resume(impl, args, options, accept_changed_code))


async def _start(
    impl: CompositeBehaviour | type[CompositeBehaviour], args: Mapping[str, Any], options: _Options
) -> CompositeResult:
    agent = impl() if isinstance(impl, type) else impl
    first = agent.init(args)
    if isinstance(first, Halt):
        return CompositeResult(False, None, first.state.error, first.state)
    state = _checked(first, agent, "init")
    if options.checkpoint is None:
        return await _drive(agent, state, 0, options)
    with options.checkpoint.begin(agent, state):
        return await _drive(agent, state, 0, options)


async def _resume(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Mapping[str, Any],
    options: _Options,
    accept_changed_code: bool,
) -> CompositeResult:
    agent = impl() if isinstance(impl, type) else impl
    first = agent.init(args)
    if isinstance(first, Halt):
        return CompositeResult(False, None, first.state.error, first.state)
    assert options.checkpoint is not None
    fresh = _checked(first, agent, "init")
    with options.checkpoint.take_over(agent, fresh, accept_changed_code) as (state, retries):
        return await _drive(agent, state, retries, options)


async def _drive(
    agent: CompositeBehaviour, state: Composite, retries: int, options: _Options
) -> CompositeResult:
    """``retries``: how often in a row the item at the front of the queue was done again."""
    while state.steps:
        item = state.steps[0]
        state = evolve(state, steps=state.steps[1:], error=None)
        if isinstance(item, CompletionStep | DelegateStep):
            state, failure = await _do_step(agent, state, item, options)
        else:
            state, failure = await _do_group(agent, state, item, options)
        if failure is None:
            retries = 0
        else:
            decision = _decide(agent, state, failure)
            is_spent = options.max_retries is not None and retries >= options.max_retries
            if isinstance(decision, Halt) or (isinstance(decision, Retry) and is_spent):
                return _halted(decision.state, failure, options)
            state = evolve(decision.state, error=None)
            retries = retries + 1 if isinstance(decision, Retry) else 0
            if isinstance(decision, Retry):
                state = push_steps(state, [failure.again])
        if options.checkpoint is not None:
            options.checkpoint.save(state, retries)
    return CompositeResult(True, state.response, None, state)


def _halted(state: Composite, failure: _Failure, options: _Options) -> CompositeResult:
    error = failure.error if state.error is None else state.error
    final = evolve(state, error=error)
    if options.checkpoint is not None:
        options.checkpoint.save(push_steps(final, [failure.again]), 0)
    return CompositeResult(False, final.response, error, final)


def _decide(agent: CompositeBehaviour, state: Composite, failure: _Failure) -> Decision:
    decision = agent.on_error(failure.step, failure.error, evolve(state, error=failure.error))
    if not isinstance(decision, Retry | Skip | Halt):
        raise TypeError(
            f"{type(agent).__name__}.on_error returned {type(decision).__name__}, "
            "not Retry, Skip or Halt"
        )
    return decision


async def _do_step(
    agent: CompositeBehaviour, state: Composite, step: Step, options: _Options
) -> tuple[Composite, _Failure | None]:
    state = _checked(agent.on_step_start(step, state), agent, "on_step_start")
    outcome = await take(step, state, threads=options.threads)
    if isinstance(outcome, Failed):
        return state, _Failure(step, outcome.error, step)
    history = state.messages if outcome.rewritten is None else outcome.rewritten
    state = evolve(
        state, messages=[*history, *outcome.messages], response=outcome.response, error=None
    )
    state, following = _completed(agent, step, state)
    if state.error is not None:
        return state, _Failure(step, state.error, step)
    return push_steps(state, following), None


async def _do_group(
    agent: CompositeBehaviour, state: Composite, steps: Sequence[Step], options: _Options
) -> tuple[Composite, _Failure | None]:
    for step in steps:
        if not isinstance(step, CompletionStep | DelegateStep):
            raise TypeError(f"a group holds steps, not {type(step).__name__}")
    for step in steps:
        state = _checked(agent.on_step_start(step, state), agent, "on_step_start")
    outcomes = await _side_by_side(steps, state, options.width)
    failures: list[tuple[Step, Any]] = []
    following: list[Item] = []
    for step, outcome in zip(steps, outcomes, strict=True):
        state, error, next_steps = _join(agent, state, step, outcome)
        following += next_steps
        if error is not None:
            failures.append((step, error))
    state = push_steps(state, following)
    if not failures:
        return state, None
    first, error = failures[0]
    return state, _Failure(first, error, [step for step, _ in failures])


async def _side_by_side(steps: Sequence[Step], state: Composite, width: int) -> list[Outcome]:
    """The outcomes in list order. A failed branch disturbs no other; a cancelled group has ended
    all of its branches when it passes the cancellation on.
    """
    places = asyncio.Semaphore(max(width, 1))

    async def branch(step: Step) -> Outcome:
        async with places:
            return await take(step, state, threads=True)

    async with _task_group() as group:
        tasks = [group.create_task(branch(step)) for step in steps]
    return [task.result() for task in tasks]


@contextlib.asynccontextmanager
async def _task_group() -> AsyncGenerator[asyncio.TaskGroup]:
    """A task group whose only error, one that is no ``Exception``, comes out as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _join(
    agent: CompositeBehaviour, state: Composite, step: Step, outcome: Outcome
) -> tuple[Composite, Any, Sequence[Item]]:
    """Adds one branch to the state: the state, the error of the branch, and its next steps."""
    if isinstance(outcome, Failed):
        told = failure_message(step, outcome.error)
        return evolve(state, messages=[*state.messages, told]), outcome.error, []
    state = evolve(
        state,
        messages=[*state.messages, *_own_messages(outcome)],
        response=outcome.response,
        error=None,
    )
    state, following = _completed(agent, step, state)
    return evolve(state, error=None), state.error, following


def _own_messages(outcome: Done) -> list[Mapping[str, Any]]:
    """A branch that rewrote its copy of the conversation adds its answer and leaves ours alone."""
    if outcome.rewritten is None:
        return outcome.messages
    return [*outcome.messages, {"role": "assistant", "content": outcome.response}]


def _completed(
    agent: CompositeBehaviour, step: Step, state: Composite
) -> tuple[Composite, Sequence[Item]]:
    state = _checked(agent.on_step_complete(step, state), agent, "on_step_complete")
    return state, [] if state.error is not None else agent.get_next_steps(step, state)


def _checked(state: Any, agent: CompositeBehaviour, callback: str) -> Composite:
    if isinstance(state, Composite):
        return state
    raise TypeError(
        f"{type(agent).__name__}.{callback} returned {type(state).__name__}, not a Composite"
    )
