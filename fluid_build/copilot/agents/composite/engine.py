"""The engine of composite agents: take the next item off the queue, execute it, add its next steps.

The order of events, the failures and the join of a group are those of the Composite Agents page.
Between two items the state holds everything, so a checkpoint is taken there.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fluid_build.copilot.agents.composite.approvals import (
    ApprovalDesk,
    Approvals,
    check_approvals,
)
from fluid_build.copilot.agents.composite.behaviour import (
    Args,
    CompositeBehaviour,
    CompositeResult,
    Decision,
    Halt,
    Retry,
    Skip,
    unwrapped,
)
from fluid_build.copilot.agents.composite.checkpoint import Checkpoint, is_nested
from fluid_build.copilot.agents.composite.nested import (
    NestedDecisions,
    NestedPlace,
    is_inside,
    nested_in,
    nested_run,
)
from fluid_build.copilot.agents.composite.state import (
    Composite,
    Item,
    Step,
    StepResult,
    evolve,
    push_steps,
)
from fluid_build.copilot.agents.composite.step_execution import (
    Failed,
    Outcome,
    execute,
    failure_message,
)
from fluid_build.copilot.blocking import open_task_group, run_blocking
from fluid_build.copilot.errors import AgentExecutionError, ApprovalRequiredError
from fluid_build.copilot.messages import Message, ToolCall
from fluid_build.copilot.operations import Operation
from fluid_build.copilot.recovery.schedule import RetrySchedule

DEFAULT_RETRIES = 2
"""How often in a row an item is repeated, as in the envelope of a call: three attempts in all."""
DEFAULT_WIDTH = 128
"""Branches of a group that run at the same time."""


Sleep: TypeAlias = Callable[[float], Awaitable[object]]
"""Waits for so many seconds."""


@dataclass(frozen=True, slots=True)
class _Options:
    max_retries: int | None
    width: int
    checkpoint: Checkpoint | None
    threads: bool
    sleep: Sleep = asyncio.sleep
    accept_changed_code: bool = False
    decisions: NestedDecisions = field(default_factory=lambda: NestedDecisions({}))
    until_item: float = math.inf
    """After how many items of a saved run the rest of its queue is left to another call."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed item: the step to ask about, its error, and the item to repeat.

    ``waiting`` are its steps that wait for a person, whatever becomes of the others.
    """

    step: Step
    error: object
    repeated: Item
    waiting: Sequence[Step] = ()


async def run(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Args,
    *,
    max_retries: int | None = DEFAULT_RETRIES,
    width: int = DEFAULT_WIDTH,
    checkpoint: Checkpoint | None = None,
    sleep: Sleep = asyncio.sleep,
) -> CompositeResult:
    """Run ``impl`` until its queue is empty or a failed step halts it.

    Raises for a bug in a callback only, never for a failed step. ``max_retries`` is how often in a
    row an item may be repeated (None: as often as ``on_error`` says); before each repetition the
    run waits, in ``sleep``, as the envelope of a call does. ``width`` is how many branches of a
    group run at a time. With ``checkpoint`` the state is saved after each item. Agents that
    are plain functions run on threads. If the caller is cancelled, everything that was started ends
    before the cancellation is passed on.
    """
    return await _start(impl, args, _Options(max_retries, width, checkpoint, True, sleep))


def run_sync(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Args,
    *,
    max_retries: int | None = DEFAULT_RETRIES,
    width: int = DEFAULT_WIDTH,
    checkpoint: Checkpoint | None = None,
    sleep: Sleep = asyncio.sleep,
) -> CompositeResult:
    """Run an agent and wait, as ``run``; a plain function outside of a group needs no thread."""
    options = _Options(max_retries, width, checkpoint, False, sleep)
    return run_blocking(_start(impl, args, options))


async def resume(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Args,
    *,
    checkpoint: Checkpoint,
    max_retries: int | None = DEFAULT_RETRIES,
    width: int = DEFAULT_WIDTH,
    accept_changed_code: bool = False,
    approvals: Approvals | None = None,
    sleep: Sleep = asyncio.sleep,
) -> CompositeResult:
    """Resume a run that was interrupted or halted, at the item that it was in.

    ``approvals`` has the decisions about the calls in its ``pending``; by default those that
    ``answer_approval`` recorded. Raises ``RunNotFoundError`` if there is none, ``RunOwnedError`` if
    it is still running, ``StaleCheckpointError`` if the agent's code has changed and that wasn't
    accepted.
    """
    options = _Options(
        max_retries, width, checkpoint, True, sleep, accept_changed_code, _decisions(approvals)
    )
    return await _resume(impl, args, options, approvals is None)


def resume_sync(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Args,
    *,
    checkpoint: Checkpoint,
    max_retries: int | None = DEFAULT_RETRIES,
    width: int = DEFAULT_WIDTH,
    accept_changed_code: bool = False,
    approvals: Approvals | None = None,
    sleep: Sleep = asyncio.sleep,
) -> CompositeResult:
    """Resume a run and wait, as ``resume``."""
    options = _Options(
        max_retries, width, checkpoint, False, sleep, accept_changed_code, _decisions(approvals)
    )
    return run_blocking(_resume(impl, args, options, approvals is None))


async def advance(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Args,
    *,
    checkpoint: Checkpoint,
    until_item: int,
    max_retries: int | None = DEFAULT_RETRIES,
    width: int = DEFAULT_WIDTH,
    accept_changed_code: bool = False,
    sleep: Sleep = asyncio.sleep,
) -> CompositeResult:
    """Begin a saved run, or go on with it, until so many of its items are done.

    For engines of durable work that ask for one piece at a time, each in whichever process: asked
    for a piece that is done, it does nothing. While there are ``steps`` in the state of an ``ok``
    result, the run isn't complete. Follows the decisions that ``answer_approval`` recorded, and
    raises what ``resume`` raises.
    """
    options = _Options(
        max_retries, width, checkpoint, True, sleep, accept_changed_code, until_item=until_item
    )
    if checkpoint.exists():
        return await _resume(impl, args, options, True)
    return await _start(impl, args, options)


def _decisions(approvals: Approvals | None) -> NestedDecisions:
    check_approvals(approvals or {})
    return NestedDecisions(approvals or {})


async def _start(
    impl: CompositeBehaviour | type[CompositeBehaviour], args: Args, options: _Options
) -> CompositeResult:
    agent = impl() if isinstance(impl, type) else impl
    first = agent.init(args)
    if isinstance(first, Halt):
        return CompositeResult(False, None, first.state.error, first.state)
    state = _require_composite(first, agent, "init")
    if options.checkpoint is None:
        return await _drive(agent, state, 0, options)
    with options.checkpoint.begin(agent, state):
        return await _drive(agent, state, 0, options)


async def _resume(
    impl: CompositeBehaviour | type[CompositeBehaviour],
    args: Args,
    options: _Options,
    uses_answers: bool,
) -> CompositeResult:
    agent = impl() if isinstance(impl, type) else impl
    first = agent.init(args)
    if isinstance(first, Halt):
        return CompositeResult(False, None, first.state.error, first.state)
    assert options.checkpoint is not None
    fresh = _require_composite(first, agent, "init")
    checkpoint = options.checkpoint
    if options.until_item < math.inf:
        state = checkpoint.look(agent, fresh, options.accept_changed_code)
        if not _goes_on(options):
            return CompositeResult(True, state.response, None, state)
    if uses_answers:
        options = replace(options, decisions=NestedDecisions(ApprovalDesk(checkpoint).answers()))
    with checkpoint.take_over(agent, fresh, options.accept_changed_code) as (state, retries):
        options.decisions.refuse_unknown(checkpoint)
        return await _drive(agent, state, retries, options, is_resumed=True)


async def _drive(
    agent: CompositeBehaviour,
    state: Composite,
    retries: int,
    options: _Options,
    *,
    is_resumed: bool = False,
) -> CompositeResult:
    """Run the queue; ``retries`` is how often in a row its first item was repeated."""
    run_id = None if options.checkpoint is None else options.checkpoint.run_id
    with _run_of(agent, run_id) as operation:
        result = await _run_queue(agent, state, retries, options)
        if not result.ok:
            operation.fail(result.error)
    if options.checkpoint is not None and not is_nested(options.checkpoint):
        desk = ApprovalDesk(options.checkpoint)
        if result.pending:
            desk.ask(name_of(agent), result.pending)
        elif is_resumed:
            desk.clear()
    return result


async def _run_queue(
    agent: CompositeBehaviour, state: Composite, retries: int, options: _Options
) -> CompositeResult:
    while state.steps and _goes_on(options):
        item = state.steps[0]
        state = evolve(state, steps=state.steps[1:], error=None)
        inside: dict[str, Checkpoint] = {}
        if isinstance(item, Step):
            state, failure = await _execute_step(agent, state, item, options, inside)
        else:
            state, failure = await _execute_group(agent, state, item, options, inside)
        if failure is None:
            retries = 0
        elif _waits(failure.error, options):
            return _halted(state, failure, options)
        else:
            decision = _decide(agent, state, failure)
            is_spent = options.max_retries is not None and retries >= options.max_retries
            if isinstance(decision, Halt) or (isinstance(decision, Retry) and is_spent):
                return _halted(decision.state, failure, options)
            state = evolve(decision.state, error=None)
            is_repeated = isinstance(decision, Retry)
            retries = retries + 1 if is_repeated else 0
            if is_repeated:
                state = push_steps(state, [failure.repeated])
            elif failure.waiting:
                state = push_steps(state, [failure.waiting])
        if options.checkpoint is not None:
            options.checkpoint.item += failure is None
            options.checkpoint.save(state, retries)
            for nested in inside.values() if failure is None else ():
                nested.delete()
        if failure is not None and retries:
            await options.sleep(_wait(failure.error, retries))
    return CompositeResult(True, state.response, None, state)


def _goes_on(options: _Options) -> bool:
    return options.checkpoint is None or options.checkpoint.item < options.until_item


def _wait(error: object, retries: int) -> float:
    """Return the seconds before an item is repeated for the time of this number."""
    failed = error if isinstance(error, AgentExecutionError) else AgentExecutionError(str(error))
    return RetrySchedule().wait(failed, retries, random.random())


def _halted(state: Composite, failure: _Failure, options: _Options) -> CompositeResult:
    error = failure.error if state.error is None else state.error
    final = evolve(state, error=error)
    if options.checkpoint is not None:
        options.checkpoint.save(push_steps(final, [failure.repeated]), 0)
    return CompositeResult(False, final.response, error, final)


def _waits(error: object, options: _Options) -> bool:
    """Return whether a step waits for a person; only a run that is saved can."""
    return isinstance(error, ApprovalRequiredError) and options.checkpoint is not None


def _waiting_calls(outcome: Outcome, options: _Options) -> Sequence[ToolCall]:
    """Return the calls at which a branch waits for a person."""
    error = outcome.error if isinstance(outcome, Failed) else None
    is_saved = options.checkpoint is not None
    return error.pending if isinstance(error, ApprovalRequiredError) and is_saved else ()


def _place(step: Step, options: _Options, inside: dict[str, Checkpoint]) -> NestedPlace | None:
    """Return where the runs that a step starts are saved."""
    if options.checkpoint is None:
        return None
    return NestedPlace(
        options.checkpoint, step.name, options.decisions, options.accept_changed_code, inside
    )


def _decide(agent: CompositeBehaviour, state: Composite, failure: _Failure) -> Decision:
    decision = agent.on_error(failure.step, failure.error, evolve(state, error=failure.error))
    if not isinstance(decision, Retry | Skip | Halt):
        raise TypeError(
            f"{type(agent).__name__}.on_error returned {type(decision).__name__}, "
            "not Retry, Skip or Halt"
        )
    return decision


async def _execute_step(
    agent: CompositeBehaviour,
    state: Composite,
    step: Step,
    options: _Options,
    inside: dict[str, Checkpoint],
) -> tuple[Composite, _Failure | None]:
    state = _require_composite(agent.on_step_start(step, state), agent, "on_step_start")
    place = _place(step, options, inside)
    if place is None and not is_inside():  # as most runs, whose turns are many and short
        outcome = await execute(step, state, threads=options.threads)
    else:
        with nested_in(place):
            outcome = await execute(step, state, threads=options.threads)
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


async def _execute_group(
    agent: CompositeBehaviour,
    state: Composite,
    steps: Sequence[Step],
    options: _Options,
    inside: dict[str, Checkpoint],
) -> tuple[Composite, _Failure | None]:
    for step in steps:
        if not isinstance(step, Step):
            raise TypeError(f"a group must hold steps, not {type(step).__name__}")
    for step in steps:
        state = _require_composite(agent.on_step_start(step, state), agent, "on_step_start")
    outcomes = await _execute_in_parallel(steps, state, options, inside)
    failures: list[tuple[Step, object]] = []
    waiting: list[Step] = []
    pending: list[ToolCall] = []
    following: list[Item] = []
    for step, outcome in zip(steps, outcomes, strict=True):
        calls = _waiting_calls(outcome, options)
        if calls:
            waiting.append(step)
            pending += calls
            continue
        state, error, next_steps = _join(agent, state, step, outcome)
        following += next_steps
        if error is not None:
            failures.append((step, error))
    state = push_steps(state, following)
    if failures:
        first, error = failures[0]
        repeated = [*(step for step, _ in failures), *waiting]
        return state, _Failure(first, error, repeated, waiting)
    if waiting:
        return state, _Failure(waiting[0], ApprovalRequiredError(pending), waiting)
    return state, None


async def _execute_in_parallel(
    steps: Sequence[Step], state: Composite, options: _Options, inside: dict[str, Checkpoint]
) -> list[Outcome]:
    """Return the outcomes in list order. A failed branch disturbs no other.

    A cancelled group ends all of its branches before it passes the cancellation on.
    """
    places = asyncio.Semaphore(max(options.width, 1))

    async def branch(step: Step) -> Outcome:
        async with places:
            with nested_in(_place(step, options, inside)):
                return await execute(step, state, threads=True)

    async with open_task_group() as group:
        tasks = [group.create_task(branch(step)) for step in steps]
    return [task.result() for task in tasks]


def _join(
    agent: CompositeBehaviour, state: Composite, step: Step, outcome: Outcome
) -> tuple[Composite, object, Sequence[Item]]:
    """Add a branch to the state; return the state, the branch's error and its next steps."""
    if isinstance(outcome, Failed):
        failed = failure_message(step, outcome.error)
        return evolve(state, messages=[*state.messages, failed]), outcome.error, []
    state = evolve(
        state,
        messages=[*state.messages, *_own_messages(outcome)],
        response=outcome.response,
        error=None,
    )
    state, following = _completed(agent, step, state)
    return evolve(state, error=None), state.error, following


def _own_messages(outcome: StepResult) -> Sequence[Message]:
    """Return the messages a branch adds: its answer, where it rewrote its own conversation."""
    if outcome.rewritten is None:
        return outcome.messages
    return [*outcome.messages, {"role": "assistant", "content": outcome.response}]


def _completed(
    agent: CompositeBehaviour, step: Step, state: Composite
) -> tuple[Composite, Sequence[Item]]:
    state = _require_composite(agent.on_step_complete(step, state), agent, "on_step_complete")
    return state, [] if state.error is not None else agent.get_next_steps(step, state)


def _require_composite(state: object, agent: CompositeBehaviour, callback: str) -> Composite:
    if isinstance(state, Composite):
        return state
    raise TypeError(
        f"{type(agent).__name__}.{callback} returned {type(state).__name__}, not a Composite"
    )


# The base class of composite agents: their behaviour, and how another agent delegates to them.


class CompositeAgent(CompositeBehaviour):
    """An agent of several steps. Subclasses must write ``init``, and any callback they need."""

    async def get_response(self, args: Args) -> Any:
        """Run this agent for an agent that delegates to it. Raises its error.

        Inside a saved run it's saved too, and can wait for a person.
        """
        with nested_run(None, args) as nested:
            if nested is None:
                result = await run(self, args)
            elif nested.is_resumed:
                result = await resume(
                    self,
                    args,
                    checkpoint=nested.checkpoint,
                    accept_changed_code=nested.accept_changed_code,
                    approvals=nested.approvals,
                )
            else:
                result = await run(self, args, checkpoint=nested.checkpoint)
            return unwrapped(result, type(self).__name__)


def _run_of(agent: CompositeBehaviour, run_id: str | None) -> Operation:
    """Return the operation of a run. An agent is called by its ``name``, or else by its class."""
    return Operation(
        "agent.run",
        lambda: {"agent_name": name_of(agent), "run_id": run_id},
    )


def name_of(agent: CompositeBehaviour) -> str:
    """Return what an agent is called."""
    name: str = getattr(agent, "name", type(agent).__name__)
    return name
