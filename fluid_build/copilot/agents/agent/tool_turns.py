"""The calls of a turn: which of them are next, and their execution.

Read-only tools that follow each other run in parallel, all others one after another. The results
are in the order of the calls, so that the conversation itself says which calls are left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fluid_build.copilot.agents.agent.events import (
    LoopEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
)
from fluid_build.copilot.agents.agent.feedback import APPROVAL_DENIED, error_class, tool_guidance
from fluid_build.copilot.agents.agent.results import Approvals, Denied
from fluid_build.copilot.errors import ApprovalRequiredError
from fluid_build.copilot.messages import Message, ToolCall, ToolResult, tool_calls, tool_results
from fluid_build.copilot.tools.dispatch import ForgeToolResult, tool_result_text
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.errors import UsageError


@dataclass(frozen=True, slots=True)
class Turn:
    """The latest turn of a conversation: its calls, and the results that they have so far."""

    calls: Sequence[ToolCall]
    results: Sequence[ToolResult]

    @property
    def left(self) -> Sequence[ToolCall]:
        """Return the calls without a result."""
        return self.calls[len(self.results) :]


@dataclass(frozen=True, slots=True)
class ToolRunner:
    """The execution of calls for one run.

    ``threads``: plain functions run on threads, so that they block nobody.
    """

    toolbox: Toolbox
    agent_id: str
    run_id: str | None
    deps: object
    approvals: Approvals
    workspace_root: Path | str | None
    threads: bool
    emit: Callable[[LoopEvent], object] | None

    async def run_next(self, turn: Turn) -> list[Message]:
        """Run the next calls of the turn and return their results as messages.

        Raises ``ApprovalRequiredError`` where a person has to decide first.
        """
        batch = self._next_batch(turn)
        if len(batch) == 1:
            return [(await self._run(batch[0], self.threads)).as_message()]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._run(call, True)) for call in batch]
        return [task.result().as_message() for task in tasks]

    def _next_batch(self, turn: Turn) -> Sequence[ToolCall]:
        self._check_approvals(turn)
        first, *following = turn.left
        if self._is_undecided(first):
            raise ApprovalRequiredError(tuple(filter(self._is_undecided, turn.left)))
        batch = [first]
        if self._runs_in_parallel(first):
            for call in following:
                if not self._runs_in_parallel(call):
                    break
                batch.append(call)
        return batch

    def _check_approvals(self, turn: Turn) -> None:
        unknown = sorted(set(self.approvals) - {call.id for call in turn.calls})
        if unknown:
            raise UsageError(
                f"No call of this turn has the id {unknown[0]!r}.",
                hint=f"The calls are {', '.join(call.id for call in turn.calls)}.",
            )

    def _is_undecided(self, call: ToolCall) -> bool:
        tool = self.toolbox.find(call.name)
        return tool is not None and tool.requires_approval and call.id not in self.approvals

    def _runs_in_parallel(self, call: ToolCall) -> bool:
        tool = self.toolbox.find(call.name)
        return tool is not None and tool.read_only and not tool.requires_approval

    async def _run(self, call: ToolCall, threads: bool) -> ToolResult:
        if self.emit is not None:
            self.emit(ToolStartedEvent(call))
        decision = self.approvals.get(call.id, True)
        if decision is True:
            result = _as_result(call, await self._dispatch(call, threads))
        else:
            result = _declined(call, decision if isinstance(decision, Denied) else Denied())
        if self.emit is not None:
            self.emit(ToolFinishedEvent(call, result))
        return result

    async def _dispatch(self, call: ToolCall, threads: bool) -> ForgeToolResult:
        tool = self.toolbox.find(call.name)
        arguments = call.arguments.get("_raw", call.arguments)
        if not isinstance(arguments, str | dict):
            arguments = call.arguments
        if threads or (tool is not None and tool.is_async):
            return await self.toolbox.dispatch_async(
                call.name,
                arguments,
                self.workspace_root,
                deps=self.deps,
                agent_id=self.agent_id,
                workflow_id=self.run_id,
            )
        return self.toolbox.dispatch(
            call.name,
            arguments,
            self.workspace_root,
            deps=self.deps,
            agent_id=self.agent_id,
            workflow_id=self.run_id,
        )


def find_turn(messages: Sequence[Message]) -> Turn:
    """Return the latest turn of a conversation that ends with an answer or results."""
    results: list[ToolResult] = []
    for message in reversed(messages):
        if message.get("role") != "tool":
            return Turn(tool_calls(message), results[::-1])
        results += tool_results(message)
    return Turn((), results[::-1])


def guidance_after(turn: Turn) -> list[Message]:
    """Return a message for each call of the turn that failed, in order."""
    messages = map(tool_guidance, turn.results)
    return [message for message in messages if message is not None]


def _as_result(call: ToolCall, outcome: ForgeToolResult) -> ToolResult:
    value = outcome.for_model()
    is_error = not outcome.ok or error_class(value) is not None
    return ToolResult(call.id, tool_result_text(value), call.name, is_error)


def _declined(call: ToolCall, decision: Denied) -> ToolResult:
    message = decision.reason or "A person declined this call."
    content = tool_result_text({"error": APPROVAL_DENIED, "message": message})
    return ToolResult(call.id, content, call.name, is_error=True)
