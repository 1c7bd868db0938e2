"""Does one step: a completion or a delegation. Whatever goes wrong is an outcome, no crash."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.copilot.agents.composite.behaviour import CompositeResult, unwrapped
from fluid_build.copilot.agents.composite.state import CompletionStep, Composite, DelegateStep, Step
from fluid_build.copilot.blocking import call_in_thread

LOG = logging.getLogger(__name__)

Messages: TypeAlias = list[Mapping[str, Any]]


@dataclass(slots=True)
class Done:
    """A step's answer, the messages it adds, and, of a completion that rewrote the conversation
    (compacted it), all of the conversation.
    """

    response: Any
    messages: Messages
    rewritten: Messages | None = None


@dataclass(slots=True)
class Failed:
    """What a step failed with."""

    error: Exception


Outcome: TypeAlias = Done | Failed


async def take(step: Step, state: Composite, *, threads: bool) -> Outcome:
    """Does ``step``. With ``threads`` a plain function runs on a thread, and blocks nobody."""
    try:
        if isinstance(step, CompletionStep):
            return await _complete(step, state, threads)
        return await _delegate(step, state, threads)
    except asyncio.CancelledError:
        if _is_cancelled():
            raise
        return Failed(RuntimeError(f"Step {step.name!r} was cancelled from inside."))
    except Exception as error:
        LOG.debug("Step %s failed.", step.name, exc_info=True)
        return Failed(error)


def failure_message(step: Step, error: Any) -> dict[str, Any]:
    """Tells the conversation that a branch failed: an exception's class, never its text (S-013)."""
    reason = type(error).__name__ if isinstance(error, BaseException) else str(error)
    return _headed(step.name, f"**FAILED**: {reason}")


async def _complete(step: CompletionStep, state: Composite, threads: bool) -> Done:
    prompt: Mapping[str, Any] = {"role": "system", "content": step.prompt}
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
    made, is_rewritten = _made(state.messages, prompt, after)
    if is_rewritten:
        return Done(response, [], after if step.keep_prompt else made)
    if not made:
        made = [{"role": "assistant", "content": response}]
    return Done(response, [prompt, *made] if step.keep_prompt else made)


async def _delegate(step: DelegateStep, state: Composite, threads: bool) -> Done:
    response = await _call(_agent_of(step).get_response, threads, step.args_builder(state))
    if isinstance(response, CompositeResult):
        response = unwrapped(response, f"The agent of step {step.name!r}")
    return Done(response, [_headed(step.name, str(response))])


def _is_cancelled() -> bool:
    """Whether this task was asked to stop, rather than something that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _agent_of(step: DelegateStep) -> Any:
    """The agent; of a class whose ``get_response`` needs an instance, a new one."""
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


def _made(
    before: Sequence[Mapping[str, Any]], prompt: Mapping[str, Any], after: Messages
) -> tuple[Messages, bool]:
    """The messages that a completion added to ``before`` and ``prompt``, and False; or all of the
    conversation but the prompt, and True, if the agent rewrote it.

    An agent answers with the conversation as it now stands, or with its own messages alone.
    """
    length = len(before)
    if len(after) > length and (
        after[length] is prompt or after[: length + 1] == [*before, prompt]
    ):
        return after[length + 1 :], False
    rest = [message for message in after if message is not prompt and message != prompt]
    return rest, len(rest) < len(after) or any(message in before for message in rest)


def _headed(name: str, text: str) -> dict[str, Any]:
    title = " ".join(word.capitalize() for word in name.split("_"))
    return {"role": "user", "content": f"## {title}\n\n{text}"}
