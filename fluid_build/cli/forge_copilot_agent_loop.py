"""The documented import path of the tool dispatcher; see ``fluid_build.copilot.tools``."""

from fluid_build.copilot.tools.dispatch import dispatch_tool_call, dispatch_tool_call_async
from fluid_build.copilot.tools.registry import TOOL_REGISTRY, get_tool_definitions
from fluid_build.copilot.tools.registry import register_legacy_tool as _register

__all__ = [
    "TOOL_REGISTRY",
    "_register",
    "dispatch_tool_call",
    "dispatch_tool_call_async",
    "get_tool_definitions",
]
