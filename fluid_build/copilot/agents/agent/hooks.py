"""Hooks around the calls of a model and of tools, which may change what goes in and comes out."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from fluid_build.copilot.agents.composite.approvals import Denied
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.messages import ToolCall, ToolResult

T = TypeVar("T")
Eventually: TypeAlias = T | Awaitable[T]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions or coroutines around the calls of a run. Each returns what takes the place.

    ``before_model`` gets the prompt of a turn: what it changes is sent and isn't kept in the
    conversation. ``after_model`` gets the answer, which then is. ``before_tool`` gets a call that
    rules and approvals let through, and may return ``Denied``; ``after_tool`` gets the result that
    the model will see. An answer from the cache has been through ``after_model`` already. An
    exception in a hook ends the run.
    """

    before_model: Callable[[LlmPrompt], Eventually[LlmPrompt]] | None = None
    after_model: Callable[[LlmPrompt, LlmResponse], Eventually[LlmResponse]] | None = None
    before_tool: Callable[[ToolCall], Eventually[ToolCall | Denied]] | None = None
    after_tool: Callable[[ToolCall, ToolResult], Eventually[ToolResult]] | None = None

    async def prompt(self, prompt: LlmPrompt) -> LlmPrompt:
        """Return the prompt to send."""
        if self.before_model is None:
            return prompt
        return _checked(await _value(self.before_model(prompt)), LlmPrompt, "before_model")

    async def answer(self, prompt: LlmPrompt, response: LlmResponse) -> LlmResponse:
        """Return the answer to keep."""
        if self.after_model is None:
            return response
        return _checked(
            await _value(self.after_model(prompt, response)), LlmResponse, "after_model"
        )

    async def call(self, call: ToolCall) -> ToolCall | Denied:
        """Return the call to make: of the same tool, by the same id."""
        if self.before_tool is None:
            return call
        changed = await _value(self.before_tool(call))
        if isinstance(changed, Denied):
            return changed
        made = _checked(changed, ToolCall, "before_tool")
        return replace(call, arguments=made.arguments)

    async def result(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Return the result for the model, which stays that of the call."""
        if self.after_tool is None:
            return result
        changed = _checked(await _value(self.after_tool(call, result)), ToolResult, "after_tool")
        return replace(result, content=changed.content, is_error=changed.is_error)


NO_HOOKS = Hooks()


async def _value(value: Eventually[T]) -> T:
    return await value if inspect.isawaitable(value) else value


def _checked(value: object, kind: type[T], hook: str) -> T:
    if isinstance(value, kind):
        return value
    raise TypeError(f"The hook {hook} returned a {type(value).__name__}, not a {kind.__name__}.")
