"""The calls of a turn: which of them are next, and their execution.

Read-only tools that follow each other run in parallel, all others one after another. The results
are in the order of the calls, so that the conversation itself says which calls are left.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fluid_build.copilot.agents.agent.call_rules import ALLOWED, CallRule, rule_for
from fluid_build.copilot.agents.agent.events import (
    LoopEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
)
from fluid_build.copilot.agents.agent.feedback import (
    APPROVAL_DENIED,
    CALL_DENIED,
    CALL_NOT_MADE,
    error_class,
    tool_guidance,
)
from fluid_build.copilot.agents.agent.hooks import NO_HOOKS, Hooks
from fluid_build.copilot.agents.composite.approvals import (
    Approvals,
    Approved,
    Decision,
    Denied,
)
from fluid_build.copilot.blocking import open_task_group
from fluid_build.copilot.errors import ApprovalError, ApprovalRequiredError, ToolValidationError
from fluid_build.copilot.messages import Message, ToolCall, ToolResult, tool_calls, tool_results
from fluid_build.copilot.operations import Operation
from fluid_build.copilot.tools.calls import Arguments, ForgeToolResult
from fluid_build.copilot.tools.dispatch import tool_result_text
from fluid_build.copilot.tools.metrics import MAX_NAME_CHARS
from fluid_build.copilot.tools.toolbox import Toolbox

_CHANGED = "A person approved this call with other arguments, and it ran with these."


@dataclass(frozen=True, slots=True)
class CallTurn:
    """The latest turn of a conversation: its calls, and the results that they have so far."""

    calls: Sequence[ToolCall]
    results: Sequence[ToolResult]

    @property
    def open_calls(self) -> Sequence[ToolCall]:
        """Return the calls without a result."""
        return self.calls[len(self.results) :]


class ToolRunner:
    """The execution of calls for one run.

    ``approvals`` apply only to the turn in which the run resumes, because ids may repeat later.
    ``is_loop_shared``: plain functions run on threads, so that they don't block the loop.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        agent_id: str,
        run_id: str | None,
        deps: object,
        workspace_root: Path | str | None,
        approvals: Approvals,
        is_loop_shared: bool,
        emit: Callable[[LoopEvent], object] | None,
        rules: Sequence[CallRule] = (),
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self._hooks = hooks
        self._toolbox = toolbox
        self._rules = rules
        self._agent_id = agent_id
        self._run_id = run_id
        self._deps = deps
        self._workspace_root = workspace_root
        self._approvals = approvals
        self._is_loop_shared = is_loop_shared
        self._emit = emit
        self._first_turn: int | None = None

    async def run_next(self, turn: CallTurn, number: int) -> list[ToolResult]:
        """Run the next calls of the turn of this number; return their results.

        Raises ``ApprovalRequiredError`` where a person has to decide first, ``ApprovalError`` for a
        decision about a call that the turn doesn't have.
        """
        batch = self._next_batch(turn.open_calls, self._approvals_for(turn, number))
        if len(batch) == 1:
            return [await self._run(*batch[0], self._is_loop_shared)]
        async with open_task_group() as group:
            tasks = [group.create_task(self._run(*decided, True)) for decided in batch]
        return [task.result() for task in tasks]

    def expire_approvals(self) -> None:
        """Drop the approvals: later calls haven't been seen by anyone.

        Raises ``ApprovalError`` for decisions about a run in which no call was waiting.
        """
        if self._first_turn is None and self._approvals:
            raise ApprovalError(
                "No call of this run waits for a decision.", hint="Resume it without approvals."
            )
        self._approvals = {}

    def forget_approvals(self) -> None:
        """Drop the approvals, which were for a turn of another agent."""
        self._approvals = {}

    def _approvals_for(self, turn: CallTurn, number: int) -> Approvals:
        if self._first_turn is None:
            self._first_turn = number
            _check_ids(self._approvals, turn)
            for call in turn.calls:
                decision = self._approvals.get(call.id)
                if isinstance(decision, Approved):
                    self._check_change(call, decision)
        return self._approvals if number == self._first_turn else {}

    def _check_change(self, call: ToolCall, decision: Approved) -> None:
        """Raise ``ApprovalError`` for changed arguments that the tool or a rule refuses."""
        tool, reason = self._toolbox.find(call.name), "there is no such tool"
        if tool is not None:
            try:
                tool.check_arguments(decision.arguments)
            except ToolValidationError as error:
                reason = error.reason or error.message
            else:
                rule = rule_for(self._rules, tool, decision.arguments)
                if rule.verdict != "deny":
                    return
                reason = rule.reason or "a rule denies it"
        raise ApprovalError(
            f"The call {call.id!r} can't be made with those arguments: {reason}.",
            hint="Approve it with arguments that fit, or deny it.",
        )

    def _next_batch(
        self, calls: Sequence[ToolCall], approvals: Approvals
    ) -> list[tuple[ToolCall, Decision | CallRule]]:
        """Return the first calls that run together, with what was decided about each.

        A rule that denies a call decides before any person.
        """
        ruled = [(call, self._rule(call)) for call in calls]
        undecided = [
            call for call, rule in ruled if rule.verdict == "ask" and call.id not in approvals
        ]
        if calls[0] in undecided:
            raise ApprovalRequiredError(undecided)
        batch = list(itertools.takewhile(self._runs_in_parallel, ruled)) or ruled[:1]
        return [
            (call, rule if rule.verdict == "deny" else approvals.get(call.id, True))
            for call, rule in batch
        ]

    def _rule(self, call: ToolCall) -> CallRule:
        tool = self._toolbox.find(call.name)
        if tool is None:  # the call is refused without a rule
            return ALLOWED
        return rule_for(self._rules, tool, _arguments(call))

    def _runs_in_parallel(self, ruled: tuple[ToolCall, CallRule]) -> bool:
        call, rule = ruled
        tool = self._toolbox.find(call.name)
        return tool is not None and tool.read_only and rule.verdict == "allow"

    async def _run(
        self, call: ToolCall, decision: Decision | CallRule, threads: bool
    ) -> ToolResult:
        made, is_changed = call, False
        if isinstance(decision, Approved):
            made, is_changed = replace(call, arguments=dict(decision.arguments)), True
        if is_changed or decision is True:
            hooked = await self._hooks.call(made)
            made, decision = (made, hooked) if isinstance(hooked, Denied) else (hooked, True)
        if self._emit is not None:
            self._emit(ToolStartedEvent(made))
        if decision is True:
            with _operation_of(call) as operation:
                outcome = await self._dispatch(made, threads)
                operation.outcome["error_type"] = outcome.error_type
            result = _as_result(made, outcome, is_changed=is_changed)
            result = await self._hooks.result(made, result)
        else:
            result = _declined(call, decision)
        if self._emit is not None:
            self._emit(ToolFinishedEvent(made, result))
        return result

    async def _dispatch(self, call: ToolCall, threads: bool) -> ForgeToolResult:
        arguments = _arguments(call)
        tool = self._toolbox.find(call.name)
        is_async = threads or (tool is not None and tool.is_async)
        dispatch = self._toolbox.dispatch_async if is_async else self._toolbox.dispatch
        outcome = dispatch(
            call.name,
            arguments,
            self._workspace_root,
            deps=self._deps,
            agent_id=self._agent_id,
            workflow_id=self._run_id,
        )
        return outcome if isinstance(outcome, ForgeToolResult) else await outcome


def find_turn(messages: Sequence[Message]) -> CallTurn:
    """Return the latest turn of a conversation that ends with an answer or results."""
    results: list[ToolResult] = []
    for message in reversed(messages):
        if message.get("role") != "tool":
            return CallTurn(tool_calls(message), results[::-1])
        results += tool_results(message)
    return CallTurn((), results[::-1])


def guidance_after(turn: CallTurn) -> list[Message]:
    """Return a message for each call of the turn that failed, in order."""
    messages = map(tool_guidance, turn.results)
    return [message for message in messages if message is not None]


def _check_ids(approvals: Approvals, turn: CallTurn) -> None:
    unknown = sorted(set(approvals) - {call.id for call in turn.calls})
    if unknown:
        raise ApprovalError(
            f"No call that waits for a decision has the id {unknown[0]!r}.",
            hint=f"The ids are {', '.join(call.id for call in turn.open_calls)}.",
        )


def _operation_of(call: ToolCall) -> Operation:
    """Return the operation of a call, so that what a tool asks or calls is part of it."""
    # A model may invent names and ids of any length: as much is kept as in the tool's trace.
    name, call_id = call.name[:MAX_NAME_CHARS], call.id[:MAX_NAME_CHARS]
    return Operation("tool.call", lambda: {"tool_name": name, "call_id": call_id})


def _arguments(call: ToolCall) -> Arguments:
    """Return the arguments; text that isn't JSON goes to the tool as it came, to be refused."""
    raw = call.arguments.get("_raw")
    return raw if len(call.arguments) == 1 and isinstance(raw, str) else call.arguments


def _as_result(call: ToolCall, outcome: ForgeToolResult, *, is_changed: bool) -> ToolResult:
    value = outcome.for_model()
    is_error = not outcome.ok or error_class(value) is not None
    if is_changed and not is_error:
        value = {"note": _CHANGED, "arguments": call.arguments, "result": value}
    return ToolResult(call.id, tool_result_text(value), call.name, is_error)


def not_made(call: ToolCall, most: int) -> ToolResult:
    """Return the result of a call that is over the limit of its turn."""
    message = f"Not called: a turn has at most {most} calls. Call it in the next turn if needed."
    content = tool_result_text({"error": CALL_NOT_MADE, "message": message})
    return ToolResult(call.id, content, call.name, is_error=True)


def _declined(call: ToolCall, decision: Decision | CallRule) -> ToolResult:
    """Return the result of a call that a rule or a person declined."""
    if isinstance(decision, CallRule):
        error, message = CALL_DENIED, decision.reason or "A rule denies this call."
    else:
        reason = decision.reason if isinstance(decision, Denied) else ""
        error, message = APPROVAL_DENIED, reason or "A person declined this call."
    content = tool_result_text({"error": error, "message": message})
    return ToolResult(call.id, content, call.name, is_error=True)
