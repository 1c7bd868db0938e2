"""Dispatch of tool calls: look the tool up, and execute the call.

Source: Authoring Forge Tools.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from pydantic_core import to_json

from fluid_build.copilot.tools.calls import Arguments, CallOptions, ForgeToolResult, call_context
from fluid_build.copilot.tools.execution import MissingTool
from fluid_build.copilot.tools.registry import FORGE_TOOL_REGISTRY, find_tool


def dispatch_forge_tool(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    **options: Unpack[CallOptions],
) -> ForgeToolResult:
    """Call a tool declared with ``@forge_tool``; never raise for the tool's errors.

    ``args`` may be the JSON text that the provider sent. An asynchronous tool is waited for.
    ``workspace_root`` and ``options`` are the fields of ``CallContext``. Raises ``TypeError`` for
    ``deps`` that the tool can't use: they're the caller's.
    """
    tool = FORGE_TOOL_REGISTRY.get(name) or MissingTool(name)
    return tool.execute(args, call_context(workspace_root, options))


async def dispatch_forge_tool_async(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    **options: Unpack[CallOptions],
) -> ForgeToolResult:
    """Call a tool without blocking, as ``dispatch_forge_tool``; a blocking tool gets a thread."""
    tool = FORGE_TOOL_REGISTRY.get(name) or MissingTool(name)
    return await tool.execute_async(args, call_context(workspace_root, options))


def dispatch_tool_call(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    **options: Unpack[CallOptions],
) -> Any:
    """Call the tool of that name in any registry; return what the model gets."""
    tool = find_tool(name) or MissingTool(name)
    result = tool.execute(args, call_context(workspace_root, options))
    return result.for_model()


async def dispatch_tool_call_async(
    name: str,
    args: Arguments,
    workspace_root: Path | str | None = None,
    **options: Unpack[CallOptions],
) -> Any:
    """Call a tool without blocking, as ``dispatch_tool_call``; a blocking tool gets a thread."""
    tool = find_tool(name) or MissingTool(name)
    result = await tool.execute_async(args, call_context(workspace_root, options))
    return result.for_model()


def tool_result_text(value: object) -> str:
    """Return a tool's value as the JSON text of a message to the model; NaN is null in JSON."""
    return to_json(value, inf_nan_mode="null").decode()
