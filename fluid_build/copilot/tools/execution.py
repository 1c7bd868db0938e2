"""The execution of a tool call: check the arguments, call the function, record and publish it.

Every tool call passes here, and an attribute looked up or a function called costs more than a
hundredth of validating the arguments. So an execution is a closure over what it needs of its tool.

Whatever goes wrong becomes a typed result. The model gets the error's class and nothing else; the
detail goes to the operator's log (S-013).
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, TypeAlias

from pydantic_core import to_json

from fluid_build.copilot.errors import (
    ApprovalError,
    ApprovalRequiredError,
    ToolResultError,
    ToolValidationError,
    UnknownTool,
)
from fluid_build.copilot.events import get_event_bus
from fluid_build.copilot.tools.calls import Arguments, CallContext, ForgeToolResult
from fluid_build.copilot.tools.metrics import (
    MAX_NAME_CHARS,
    Execution,
    Identity,
    ToolExecutionStatus,
    ToolObservabilityCollector,
    get_tool_collector,
)
from fluid_build.copilot.tools.signatures import DepsParameter
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact, secrets_of_environment

LOG = logging.getLogger(__name__)

CheckedCall: TypeAlias = Callable[[Arguments, Path | str | None, object], object]
"""Checks the arguments, and calls a tool with them, the workspace root and the dependencies."""

Execute: TypeAlias = Callable[[Arguments, CallContext], ForgeToolResult]
ExecuteAsync: TypeAlias = Callable[[Arguments, CallContext], Awaitable[ForgeToolResult]]

_COLLECTOR = get_tool_collector()
_BUS = get_event_bus()
_SUCCESS = ToolExecutionStatus.SUCCESS
_EVENT = "tool.call_completed"

_CallFacts: TypeAlias = tuple[str, int, str, ToolExecutionStatus, float, str | None, Identity]
"""What the event of a call says: id, tool, status, milliseconds, class of the error, identity.

Not the execution itself: observers keep events, and its inputs may hold secrets.
"""


class ExecutableTool(Protocol):
    """What the execution of a tool needs of it."""

    name: str
    is_async: bool
    deps_parameter: DepsParameter | None

    @property
    def checked_call(self) -> CheckedCall:
        """Return the function that checks the arguments and calls the tool.

        Asked for at the first call, when all types of the arguments should be defined. What goes
        wrong then is an error of the tool.
        """


def compile_executions(tool: ExecutableTool) -> tuple[Execute, ExecuteAsync]:
    """Return a tool's blocking execution, and the one that doesn't block.

    The first waits for a coroutine, the second calls a blocking function on a thread.
    """
    name, deps_parameter, is_async = tool.name[:MAX_NAME_CHARS], tool.deps_parameter, tool.is_async
    checked_call: CheckedCall | None = None

    def execute(arguments: Arguments, context: CallContext) -> ForgeToolResult:
        nonlocal checked_call
        if deps_parameter is not None:
            deps_parameter.check(name, context.deps)
        collector = context.collector or _COLLECTOR
        execution = collector.begin(name, arguments, context.identity)
        try:
            if checked_call is None:
                checked_call = tool.checked_call
            value = checked_call(arguments, context.workspace_root, context.deps)
            if hasattr(value, "__await__"):  # half the time of isinstance
                value = _wait_for(value)
            return _succeeded(collector, execution, value)
        except BaseException as error:  # noqa: BLE001 - raised again unless it's for the model
            return _failed(collector, execution, error)

    async def execute_async(arguments: Arguments, context: CallContext) -> ForgeToolResult:
        nonlocal checked_call
        if deps_parameter is not None:
            deps_parameter.check(name, context.deps)
        collector = context.collector or _COLLECTOR
        execution = collector.begin(name, arguments, context.identity)
        try:
            if checked_call is None:
                checked_call = tool.checked_call
            if is_async:
                value = checked_call(arguments, context.workspace_root, context.deps)
            else:
                value = await _call_in_thread(checked_call, arguments, context)
            if hasattr(value, "__await__"):
                value = await value
            return _succeeded(collector, execution, value)
        except BaseException as error:  # noqa: BLE001 - raised again unless it's for the model
            return _failed(collector, execution, error)

    return execute, execute_async


class MissingTool:
    """A tool that doesn't exist. A call of it is recorded, published and refused like any other."""

    def __init__(self, name: str) -> None:
        self.name = name

    def execute(self, arguments: Arguments, context: CallContext) -> ForgeToolResult:
        """Refuse a call."""
        collector = context.collector or _COLLECTOR
        execution = collector.begin(self.name[:MAX_NAME_CHARS], arguments, context.identity)
        error = UnknownTool("No tool has that name.", tool_name=self.name)
        return _failed(collector, execution, error)

    async def execute_async(self, arguments: Arguments, context: CallContext) -> ForgeToolResult:
        """Refuse a call, as ``execute``."""
        return self.execute(arguments, context)


def _succeeded(
    collector: ToolObservabilityCollector, execution: Execution, value: object
) -> ForgeToolResult:
    """Record and publish a success, unless its value can't be sent."""
    try:
        output = to_json(value)
    except (ValueError, RecursionError) as error:
        raise ToolResultError("The tool returned a value that JSON can't hold.") from error
    collector.finish(execution, _SUCCESS, output)
    if _BUS.observed:
        _publish(execution)
    return ForgeToolResult(True, value)


def _failed(
    collector: ToolObservabilityCollector, execution: Execution, error: BaseException
) -> ForgeToolResult:
    """Record, publish and log a failure; return it without its detail.

    Raises what isn't for the model: the end of the program or task, and what a person decides.
    """
    error_type = _record_failure(collector, execution, error)
    if not isinstance(error, Exception | SystemExit) or _is_for_people(error):
        raise error
    secrets = secrets_of_environment()
    name = redact(execution.tool_name, secrets)
    LOG.warning("Tool %r failed: %s", name, redact(_detail(error), secrets))
    message = f"Tool '{name}' failed — see server logs"
    reason = error.reason if isinstance(error, ToolValidationError) else None
    return ForgeToolResult(False, None, error_type, message, reason)


def _is_for_people(error: BaseException) -> bool:
    """Return whether an error of an agent inside a tool is one for a person, not for the model."""
    waits = isinstance(error, ApprovalRequiredError) and error.waits
    return waits or isinstance(error, ApprovalError)


def _detail(error: BaseException) -> str:
    """Return the traceback, or one line for a call that was refused: no code of the tool ran."""
    if isinstance(error, ToolValidationError | UnknownTool):
        return " ".join(f"{type(error).__name__}: {error}".split())
    return "".join(traceback.format_exception(error))


def _record_failure(
    collector: ToolObservabilityCollector, execution: Execution, error: BaseException
) -> str:
    """Record the failure and publish it; return the name of the error's class."""
    timed_out = isinstance(error, TimeoutError)
    status = ToolExecutionStatus.TIMEOUT if timed_out else ToolExecutionStatus.FAILED
    error_type = type(error).__name__
    collector.finish(execution, status, None, f"{error_type}: {error}")
    _publish(execution, error_type)
    return error_type


def _wait_for(value: Awaitable[object]) -> object:
    from fluid_build.copilot.blocking import run_blocking

    return run_blocking(value)


async def _call_in_thread(
    checked_call: CheckedCall, arguments: Arguments, context: CallContext
) -> object:
    from fluid_build.copilot.blocking import call_in_thread

    return await call_in_thread(checked_call, arguments, context.workspace_root, context.deps)


def _publish(execution: Execution, error_type: str | None = None) -> None:
    facts = (
        execution.id_prefix,
        execution.id_number,
        execution.tool_name,
        execution.status,
        execution.duration_ms,
        error_type,
        execution.identity,
    )
    _BUS.emit_lazily(_EVENT, _build_payload, facts)


def _build_payload(facts: _CallFacts) -> dict[str, JsonValue]:
    id_prefix, id_number, tool_name, status, duration_ms, error_type, identity = facts
    agent_id, workflow_id, session_id = identity
    return {
        "tool_name": tool_name,
        "execution_id": f"{id_prefix}{id_number}",
        "status": status.value,
        "duration_ms": duration_ms,
        "error_type": error_type,
        "agent_id": agent_id,
        "workflow_id": workflow_id,
        "session_id": session_id,
    }
