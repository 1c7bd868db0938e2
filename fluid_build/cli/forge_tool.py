"""The documented import path of the tool decorator; see ``fluid_build.copilot.tools``."""

from fluid_build.copilot.tools.calls import ForgeToolResult
from fluid_build.copilot.tools.definition import ForgeTool
from fluid_build.copilot.tools.dispatch import dispatch_forge_tool, dispatch_forge_tool_async
from fluid_build.copilot.tools.registry import FORGE_TOOL_REGISTRY, forge_tool

__all__ = [
    "FORGE_TOOL_REGISTRY",
    "ForgeTool",
    "ForgeToolResult",
    "dispatch_forge_tool",
    "dispatch_forge_tool_async",
    "forge_tool",
]
