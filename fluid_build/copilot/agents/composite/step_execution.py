"""Execution of a step of any kind. Its failure is an outcome, not a crash."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.copilot.agents.composite.behaviour import CompositeResult, unwrapped
from fluid_build.copilot.agents.composite.state import (
    CompletionStep,
    Composite,
    DelegateStep,
    FunctionStep,
    Step,
    StepResult,
)
from fluid_build.copilot.blocking import call_in_thread
from fluid_build.copilot.messages import Message
from fluid_build.copilot.operations import Operation

LOG = logging.getLogger(__name__)

Messages: TypeAlias = list[Message]


@dataclass(slots=True)
class Failed:
    """A step's error."""

    error: Exception


Outcome: TypeAlias = StepResult | Failed


async def execute(step: Step, state: Composite, *, threads: bool) -> Outcome:
    """Execute a step. With ``threads`` a plain function runs on a thread and blocks nobody."""
    with _attempt_of(step) as operation:
        outcome = await _attempt(step, state, threads)
        if isinstance(outcome, Failed):
            operation.fail(outcome.error)
        return outcome


async def _attempt(step: Step, state: Composite, threads: bool) -> Outcome:
    try:
        if isinstance(step, CompletionStep):
            return await _complete(step, state, threads)
        if isinstance(step, FunctionStep):
            return await _call_function(step, state, threads)
        return await _delegate(step, state, threads)
    except asyncio.CancelledError:
        if _is_cancelled():
            raise
        return Failed(RuntimeError(f"Step {step.name!r} was cancelled from inside."))
    except Exception as error:
        LOG.debug("Step %s failed.", step.name, exc_info=True)
        return Failed(error)


def failure_message(step: Step, error: object) -> Message:
    """Return the message that a branch failed: an exception's class, never its text (S-013)."""
    reason = type(error).__name__ if isinstance(error, BaseException) else str(error)
    return _headed(step.name, f"**FAILED**: {reason}")


async def _complete(step: CompletionStep, state: Composite, threads: bool) -> StepResult:
    prompt: Message = {"role": "system", "content": step.prompt}
    answer = await _call(
        state.agent.get_completion,
        threads,
        model=state.model if step.model is None else step.model,
        toolbox=state.toolbox if step.toolbox is None else step.toolbox,
        messages=[*state.messages, prompt],
        response_format=step.response_format,
    )
    response = answer.response
    after = list(answer.messages or [])
    added, is_rewritten = _added_messages(state.messages, prompt, after)
    if is_rewritten:
        return StepResult(response, [], after if step.keep_prompt else added)
    if not added:
        added = [{"role": "assistant", "content": response}]
    return StepResult(response, [prompt, *added] if step.keep_prompt else added)


async def _delegate(step: DelegateStep, state: Composite, threads: bool) -> StepResult:
    response = await _call(_agent_of(step).get_response, threads, step.args_builder(state))
    if isinstance(response, CompositeResult):
        response = unwrapped(response, f"The agent of step {step.name!r}")
    return StepResult(response, [_headed(step.name, str(response))])


async def _call_function(step: FunctionStep, state: Composite, threads: bool) -> StepResult:
    result = await _call(step.function, threads, state)
    if not isinstance(result, StepResult):
        raise TypeError(
            f"the function of step {step.name!r} returned {type(result).__name__}, not a StepResult"
        )
    return result


def _is_cancelled() -> bool:
    """Return whether this task was cancelled, rather than something that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _agent_of(step: DelegateStep) -> Any:
    """Return the agent, or an instance of a class whose ``get_response`` needs one."""
    if isinstance(step.agent, type):
        method = inspect.getattr_static(step.agent, "get_response", None)
        if inspect.isfunction(method):
            return step.agent()
    return step.agent


async def _call(function: Callable[..., Any], threads: bool, *args: Any, **kwargs: Any) -> Any:
    if threads and not inspect.iscoroutinefunction(function):
        answer = await call_in_thread(function, *args, **kwargs)
    else:
        answer = function(*args, **kwargs)
    return await answer if hasattr(answer, "__await__") else answer


def _added_messages(
    before: Sequence[Message], prompt: Message, after: Messages
) -> tuple[Messages, bool]:
    """Return the messages that a completion added to ``before`` and ``prompt``, and False.

    If the agent rewrote the conversation, return all of it but the prompt, and True. An agent
    answers with the whole conversation, or with its own messages alone.
    """
    length = len(before)
    if len(after) > length and (
        after[length] is prompt or after[: length + 1] == [*before, prompt]
    ):
        return after[length + 1 :], False
    answers = [message for message in after if message is not prompt and message != prompt]
    return answers, len(answers) < len(after) or any(message in before for message in answers)


def _headed(name: str, text: str) -> Message:
    title = " ".join(word.capitalize() for word in name.split("_"))
    return {"role": "user", "content": f"## {title}\n\n{text}"}


def _attempt_of(step: Step) -> Operation:
    """Return the operation of a step, by name. A repeated step has one for each attempt."""
    kind = "completion" if isinstance(step, CompletionStep) else "delegate"
    if isinstance(step, FunctionStep):
        kind = "function"
    return Operation("agent.step", lambda: {"step_name": step.name, "step_type": kind})
