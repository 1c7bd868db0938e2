"""The documented import path of the agent loop; see ``fluid_build.agent_loop``."""

from fluid_build.agent_loop.builtin_tools import BUILTIN_TOOLS
from fluid_build.agent_loop.loop import AGENT_SYSTEM_PROMPT, run_copilot_agent_loop
from fluid_build.agent_loop.staged_tool import _FORGE_DATA_MODEL_TOOL
from fluid_build.copilot.tools.dispatch import dispatch_tool_call, dispatch_tool_call_async
from fluid_build.copilot.tools.registry import TOOL_REGISTRY, get_tool_definitions
from fluid_build.copilot.tools.registry import register_legacy_tool as _register

__all__ = [
    "AGENT_SYSTEM_PROMPT",
    "BUILTIN_TOOLS",
    "TOOL_REGISTRY",
    "_FORGE_DATA_MODEL_TOOL",
    "_register",
    "dispatch_tool_call",
    "dispatch_tool_call_async",
    "get_tool_definitions",
    "run_copilot_agent_loop",
]
