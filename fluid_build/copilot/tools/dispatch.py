"""Runs a tool that a model asked for: look up, check, call, write down, and tell no secrets.

Whatever goes wrong becomes a typed result. A model learns the error's class and nothing else; the
detail goes to the log of whoever runs this (S-013). Source: Authoring Forge Tools.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from fluid_build.copilot.errors import ToolResultError, UnknownTool
from fluid_build.copilot.events import get_event_bus
from fluid_build.copilot.tools.definition import ForgeTool, LegacyTool
from fluid_build.copilot.tools.metrics import (
    Identity,
    Running,
    ToolExecutionStatus,
    ToolObservabilityCollector,
    get_tool_collector,
)
from fluid_build.copilot.tools.registry import FORGE_TOOL_REGISTRY, find_tool
from fluid_build.secrets import redact, secrets_of_environment

LOG = logging.getLogger(__name__)

_BUS = get_event_bus()
_SUCCESS = ToolExecutionStatus.SUCCESS


@dataclass(slots=True)
class ForgeToolResult:
    """What came of a tool call: a value, or the class of the error and a message with no detail."""

    ok: bool
    value: Any = None
    error_type: str | None = None
    error_message: str | None = None

    def for_model(self) -> Any:
        """What the model is given: the value, or ``{"error": ..., "message": ...}``."""
        if self.ok:
            return self.value
        return {"error": self.error_type, "message": self.error_message}


def dispatch_forge_tool(
    name: str,
    args: Mapping[str, Any],
    workspace_root: Path | str | None = None,
    *,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> ForgeToolResult:
    """Calls a tool declared with ``@forge_tool``; never raises for what the tool does.

    An asynchronous tool is waited for. ``workspace_root`` goes to the tools that ask for it
    (default: the working directory).
    """
    identity = (agent_id, workflow_id, session_id)
    tool = FORGE_TOOL_REGISTRY.get(name)
    return _dispatch(tool, name, args, workspace_root, identity, collector or get_tool_collector())


async def dispatch_forge_tool_async(
    name: str,
    args: Mapping[str, Any],
    workspace_root: Path | str | None = None,
    *,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> ForgeToolResult:
    """The asynchronous twin of ``dispatch_forge_tool``; a blocking tool runs on a thread."""
    identity = (agent_id, workflow_id, session_id)
    tool = FORGE_TOOL_REGISTRY.get(name)
    return await _dispatch_async(
        tool, name, args, workspace_root, identity, collector or get_tool_collector()
    )


def dispatch_tool_call(
    name: str,
    args: Mapping[str, Any],
    workspace_root: Path | str | None = None,
    *,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> Any:
    """Calls the tool of that name, of whichever registry; returns what the model is given."""
    identity = (agent_id, workflow_id, session_id)
    return _dispatch(
        find_tool(name), name, args, workspace_root, identity, collector or get_tool_collector()
    ).for_model()


async def dispatch_tool_call_async(
    name: str,
    args: Mapping[str, Any],
    workspace_root: Path | str | None = None,
    *,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> Any:
    """The asynchronous twin of ``dispatch_tool_call``; a blocking tool runs on a thread."""
    identity = (agent_id, workflow_id, session_id)
    result = await _dispatch_async(
        find_tool(name), name, args, workspace_root, identity, collector or get_tool_collector()
    )
    return result.for_model()


def tool_result_text(value: Any) -> str:
    """A tool's value as the JSON text of a message to the model."""
    return to_json(value).decode()


def _dispatch(
    tool: ForgeTool[Any, Any] | LegacyTool | None,
    name: str,
    arguments: Any,
    workspace_root: Path | str | None,
    identity: Identity,
    collector: ToolObservabilityCollector,
) -> ForgeToolResult:
    running = collector.begin(name, arguments, identity)
    try:
        if tool is None:
            raise UnknownTool("There is no such tool.", tool_name=name)
        value = tool.run(arguments, workspace_root)
        if hasattr(value, "__await__"):
            from fluid_build.copilot.blocking import run_blocking

            value = run_blocking(value)
        output = _to_json(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - S-013: every error becomes typed
        return _failed(collector, running, error)
    except BaseException as error:
        _end_badly(collector, running, error)
        raise
    duration_ms = collector.finish(running, _SUCCESS, output)
    if _BUS.observed:
        _tell(running, "success", duration_ms, None)
    return ForgeToolResult(True, value)


async def _dispatch_async(
    tool: ForgeTool[Any, Any] | LegacyTool | None,
    name: str,
    arguments: Any,
    workspace_root: Path | str | None,
    identity: Identity,
    collector: ToolObservabilityCollector,
) -> ForgeToolResult:
    running = collector.begin(name, arguments, identity)
    try:
        if tool is None:
            raise UnknownTool("There is no such tool.", tool_name=name)
        value = await _run_async(tool, arguments, workspace_root)
        output = _to_json(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - S-013: every error becomes typed
        return _failed(collector, running, error)
    except BaseException as error:
        _end_badly(collector, running, error)
        raise
    duration_ms = collector.finish(running, _SUCCESS, output)
    if _BUS.observed:
        _tell(running, "success", duration_ms, None)
    return ForgeToolResult(True, value)


async def _run_async(
    tool: ForgeTool[Any, Any] | LegacyTool, arguments: Any, workspace_root: Path | str | None
) -> Any:
    from fluid_build.copilot.blocking import call_in_thread

    if tool.is_async:
        return await tool.run(arguments, workspace_root)
    value = await call_in_thread(tool.run, arguments, workspace_root)
    return await value if hasattr(value, "__await__") else value


def _to_json(value: Any) -> bytes:
    try:
        return to_json(value)
    except (ValueError, RecursionError) as error:
        raise ToolResultError("The tool returned what JSON cannot hold.") from error


def _failed(
    collector: ToolObservabilityCollector, running: Running, error: BaseException
) -> ForgeToolResult:
    kind = _end_badly(collector, running, error)
    secrets = secrets_of_environment()
    name = redact(running[1], secrets)
    detail = redact("".join(traceback.format_exception(error)), secrets)
    LOG.warning("Tool %r failed: %s", name, detail)
    return ForgeToolResult(False, None, kind, f"Tool '{name}' failed — see server logs")


def _end_badly(
    collector: ToolObservabilityCollector, running: Running, error: BaseException
) -> str:
    """Writes the failure down and tells the bus; returns the error's class."""
    timed_out = isinstance(error, TimeoutError)
    status = ToolExecutionStatus.TIMEOUT if timed_out else ToolExecutionStatus.FAILED
    kind = type(error).__name__
    duration_ms = collector.finish(running, status, None, f"{kind}: {error}")
    _tell(running, status.value, duration_ms, kind)
    return kind


# Copied and filled in: that is twice as fast as to put a mapping together.
_TOLD: dict[str, Any] = dict.fromkeys(
    (
        "tool_name",
        "execution_id",
        "status",
        "duration_ms",
        "error_type",
        "agent_id",
        "workflow_id",
        "session_id",
    )
)


def _tell(running: Running, status: str, duration_ms: float, error_type: str | None) -> None:
    payload = _TOLD.copy()
    payload["execution_id"], payload["tool_name"], _, _, _, identity = running
    payload["status"] = status
    payload["duration_ms"] = duration_ms
    payload["error_type"] = error_type
    payload["agent_id"], payload["workflow_id"], payload["session_id"] = identity
    _BUS.emit("tool.call_completed", payload)
