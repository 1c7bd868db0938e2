"""The execution of a tool call: check the arguments, call the function, record and publish it.

Each tool's execution is compiled into one closure, because every tool call passes here: a method
call or an attribute looked up costs as much as a tenth of validating small arguments. So the two
closures spell out on their way to success what is written as functions elsewhere. Failures take
the time they need.

Whatever goes wrong becomes a typed result. The model gets the error's class and nothing else; the
detail goes to the operator's log (S-013).
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter_ns, time
from typing import Protocol, TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from fluid_build.copilot.errors import ToolResultError, ToolValidationError, UnknownTool
from fluid_build.copilot.events import get_event_bus
from fluid_build.copilot.tools.calls import TEXT, Arguments, ForgeToolResult
from fluid_build.copilot.tools.metrics import (
    IDS,
    MAX_NAME_CHARS,
    RUNNING,
    Execution,
    Identity,
    ToolExecutionStatus,
    ToolObservabilityCollector,
    clip,
    new_execution,
    snapshot,
)
from fluid_build.copilot.tools.refusals import pydantic_faults, refusal
from fluid_build.copilot.tools.signatures import DepsParameter
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact, secrets_of_environment

LOG = logging.getLogger(__name__)

CheckedCall: TypeAlias = Callable[[Arguments, Path | str | None, object], object]
"""Checks the arguments, and calls a tool with them, the workspace root and the dependencies."""

PlainCall: TypeAlias = tuple[type[BaseModel], Callable[..., object]]
"""The model of the arguments, and the function that takes an instance of it."""

Execute: TypeAlias = Callable[
    [Arguments, Path | str | None, object, Identity, ToolObservabilityCollector], ForgeToolResult
]
ExecuteAsync: TypeAlias = Callable[
    [Arguments, Path | str | None, object, Identity, ToolObservabilityCollector],
    Awaitable[ForgeToolResult],
]

_BUS = get_event_bus()
_SUCCESS = ToolExecutionStatus.SUCCESS
_EVENT = "tool.call_completed"

_CallFacts: TypeAlias = tuple[str, int, str, ToolExecutionStatus, float, str | None, Identity]
"""What the event of a call says: id, tool, status, milliseconds, class of the error, identity.

Not the execution itself: observers keep events, and its inputs may hold secrets.
"""

_new_result = tuple.__new__
"""Makes a named tuple in two thirds of the time that its class takes."""


class ExecutableTool(Protocol):
    """What the execution of a tool needs of it."""

    name: str
    is_async: bool
    deps_parameter: DepsParameter | None

    @property
    def checked_call(self) -> CheckedCall:
        """Return the function that checks the arguments and calls the tool."""

    @property
    def plain_call(self) -> PlainCall | None:
        """Return its parts, if there are no more than these."""


def compile_execution(tool: ExecutableTool) -> Execute:
    """Return the blocking execution of a tool; a coroutine is waited for."""
    name = tool.name[:MAX_NAME_CHARS]
    deps_parameter = tool.deps_parameter
    checked_call = tool.checked_call
    plain_call = tool.plain_call
    if plain_call:
        model, function = plain_call
        # Pydantic's own validator saves the overhead of ``model_validate``.
        validate_python = model.__pydantic_validator__.validate_python
        validate_json = model.__pydantic_validator__.validate_json

    def execute(
        arguments: Arguments,
        workspace_root: Path | str | None,
        deps: object,
        identity: Identity,
        collector: ToolObservabilityCollector,
    ) -> ForgeToolResult:
        if deps_parameter is not None:
            deps_parameter.check(name, deps)
        # As collector.begin() does.
        limit = collector.max_value_bytes
        if type(arguments) is dict:
            try:
                inputs = to_json(arguments)
            except (ValueError, RecursionError):
                inputs = snapshot(arguments)
        else:
            inputs = snapshot(arguments)
        execution = new_execution(Execution)
        execution.id_prefix = IDS.prefix
        execution.id_number = next(IDS.numbers)
        execution.tool_name = name
        execution.identity = identity
        execution.inputs = inputs if len(inputs) <= limit else clip(inputs, limit)
        execution.status = RUNNING
        execution.started_at = time()
        execution.started_ns = started_ns = perf_counter_ns()
        latest = collector.latest
        latest.append(execution)
        if len(latest) >= collector.fold_at:
            collector.fold()
        try:
            if plain_call:
                try:
                    if isinstance(arguments, TEXT):
                        checked = validate_json(arguments, extra="forbid")
                    else:
                        checked = validate_python(arguments, extra="forbid")
                except ValidationError as error:
                    raise refusal(name, arguments, pydantic_faults(error)) from None
                value = function(checked)
            else:
                value = checked_call(arguments, workspace_root, deps)
            if hasattr(value, "__await__"):  # half the time of isinstance
                from fluid_build.copilot.blocking import run_blocking

                value = run_blocking(value)
            try:
                output = to_json(value)
            except (ValueError, RecursionError) as error:
                raise _unserializable() from error
        except (Exception, SystemExit) as error:  # noqa: BLE001 - S-013: every error becomes typed
            return failed(collector, execution, error)
        except BaseException as error:
            record_failure(collector, execution, error)
            raise
        # As collector.finish() and the bus do.
        execution.duration_ms = duration_ms = (perf_counter_ns() - started_ns) / 1e6
        execution.output = output if len(output) <= limit else clip(output, limit)
        execution.status = _SUCCESS
        if _BUS.observed:
            facts = (
                execution.id_prefix,
                execution.id_number,
                name,
                _SUCCESS,
                duration_ms,
                None,
                identity,
            )
            _BUS.emit_lazily(_EVENT, _build_payload, facts)
        return _new_result(ForgeToolResult, (True, value, None, None, None))

    return execute


def compile_async_execution(tool: ExecutableTool) -> ExecuteAsync:
    """Return the execution of a tool that doesn't block; a blocking tool gets a thread."""
    name = tool.name[:MAX_NAME_CHARS]
    deps_parameter = tool.deps_parameter
    checked_call, is_async = tool.checked_call, tool.is_async

    async def execute_async(
        arguments: Arguments,
        workspace_root: Path | str | None,
        deps: object,
        identity: Identity,
        collector: ToolObservabilityCollector,
    ) -> ForgeToolResult:
        if deps_parameter is not None:
            deps_parameter.check(name, deps)
        execution = collector.begin(name, arguments, identity)
        try:
            if is_async:
                value = checked_call(arguments, workspace_root, deps)
            else:
                value = await _call_in_thread(checked_call, arguments, workspace_root, deps)
            if hasattr(value, "__await__"):
                value = await value
            try:
                output = to_json(value)
            except (ValueError, RecursionError) as error:
                raise _unserializable() from error
        except (Exception, SystemExit) as error:  # noqa: BLE001 - S-013: every error becomes typed
            return failed(collector, execution, error)
        except BaseException as error:
            record_failure(collector, execution, error)
            raise
        collector.finish(execution, _SUCCESS, output)
        if _BUS.observed:
            _publish(execution)
        return _new_result(ForgeToolResult, (True, value, None, None, None))

    return execute_async


def refuse_unknown(
    name: str, arguments: Arguments, identity: Identity, collector: ToolObservabilityCollector
) -> ForgeToolResult:
    """Record and publish a call of a tool that doesn't exist."""
    execution = collector.begin(name, arguments, identity)
    return failed(collector, execution, UnknownTool("No tool has that name.", tool_name=name))


def failed(
    collector: ToolObservabilityCollector, execution: Execution, error: BaseException
) -> ForgeToolResult:
    """Record, publish and log a failure; return it without its detail."""
    error_type = record_failure(collector, execution, error)
    secrets = secrets_of_environment()
    name = redact(execution.tool_name, secrets)
    detail = redact("".join(traceback.format_exception(error)), secrets)
    LOG.warning("Tool %r failed: %s", name, detail)
    message = f"Tool '{name}' failed — see server logs"
    reason = error.reason if isinstance(error, ToolValidationError) else None
    return ForgeToolResult(False, None, error_type, message, reason)


def record_failure(
    collector: ToolObservabilityCollector, execution: Execution, error: BaseException
) -> str:
    """Record the failure and publish it; return the name of the error's class."""
    timed_out = isinstance(error, TimeoutError)
    status = ToolExecutionStatus.TIMEOUT if timed_out else ToolExecutionStatus.FAILED
    error_type = type(error).__name__
    collector.finish(execution, status, None, f"{error_type}: {error}")
    _publish(execution, error_type)
    return error_type


def _unserializable() -> ToolResultError:
    return ToolResultError("The tool returned a value that JSON can't hold.")


async def _call_in_thread(
    checked_call: CheckedCall,
    arguments: Arguments,
    workspace_root: Path | str | None,
    deps: object,
) -> object:
    from fluid_build.copilot.blocking import call_in_thread

    return await call_in_thread(checked_call, arguments, workspace_root, deps)


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
