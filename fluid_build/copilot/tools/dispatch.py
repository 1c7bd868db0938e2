"""Dispatch of tool calls: look the tool up, and execute the call.

Source: Authoring Forge Tools.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic_core import to_json

from fluid_build.copilot.tools.calls import Arguments, ForgeToolResult
from fluid_build.copilot.tools.execution import MissingTool
from fluid_build.copilot.tools.metrics import ToolObservabilityCollector, get_tool_collector
from fluid_build.copilot.tools.registry import FORGE_TOOL_REGISTRY, find_tool

_COLLECTOR = get_tool_collector()


def dispatch_forge_tool(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    *,
    deps: object = None,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> ForgeToolResult:
    """Call a tool declared with ``@forge_tool``; never raise for the tool's errors.

    ``args`` may be the JSON text that the provider sent. An asynchronous tool is waited for.
    ``workspace_root`` (default: the working directory) and ``deps`` go to the tools that ask for
    them. Raises ``TypeError`` for ``deps`` that the tool can't use: they're the caller's.
    """
    identity = (agent_id, workflow_id, session_id)
    tool = FORGE_TOOL_REGISTRY.get(name) or MissingTool(name)
    return tool.execute(args, workspace_root, deps, identity, collector or _COLLECTOR)


async def dispatch_forge_tool_async(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    *,
    deps: object = None,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> ForgeToolResult:
    """Call a tool without blocking, as ``dispatch_forge_tool``; a blocking tool gets a thread."""
    identity = (agent_id, workflow_id, session_id)
    tool = FORGE_TOOL_REGISTRY.get(name) or MissingTool(name)
    return await tool.execute_async(args, workspace_root, deps, identity, collector or _COLLECTOR)


def dispatch_tool_call(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    *,
    deps: object = None,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> Any:
    """Call the tool of that name in any registry; return what the model gets."""
    identity = (agent_id, workflow_id, session_id)
    tool = find_tool(name) or MissingTool(name)
    result = tool.execute(args, workspace_root, deps, identity, collector or _COLLECTOR)
    return result.for_model()


async def dispatch_tool_call_async(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    *,
    deps: object = None,
    agent_id: str | None = None,
    workflow_id: str | None = None,
    session_id: str | None = None,
    collector: ToolObservabilityCollector | None = None,
) -> Any:
    """Call a tool without blocking, as ``dispatch_tool_call``; a blocking tool gets a thread."""
    identity = (agent_id, workflow_id, session_id)
    tool = find_tool(name) or MissingTool(name)
    result = await tool.execute_async(args, workspace_root, deps, identity, collector or _COLLECTOR)
    return result.for_model()


def tool_result_text(value: object) -> str:
    """Return a tool's value as the JSON text of a message to the model; NaN is null in JSON."""
    return to_json(value, inf_nan_mode="null").decode()
