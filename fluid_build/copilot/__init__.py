"""The agent runtime, a library that knows nothing about data products.

The names that programs use most are here, each imported from its module on first use, so that
importing the package or a part of it loads nothing else. docs/runtime.md is its page.

From the ground up: ``messages``, ``errors`` (the tree is at its top) and ``error_classification``
are the forms that everything else uses. Failures of HTTP and of providers become typed errors in
one place; ``context_overflow_phrases`` holds the phrases that say a prompt is too long, each with
its source. ``drivers`` has the two drivers of what is written once for event loops and for threads:
model calls, and the envelope around them. ``untrusted_json`` reads JSON from models and servers
with bounded nesting, and ``message_checks`` refuses a message if something in it would be lost.
``context`` has token estimates, windows and compaction, and what is known of models.
``unified_config`` has every setting, and where it came from. ``events`` is the bus; ``operations``
publishes timed operations on it (agents, steps, model calls, an agent's tool calls), nested through
a context variable. Above these are ``cost``, ``llm``, ``tools``, ``agents``, ``evals`` and ``mcp``.
"""

TYPE_CHECKING = False  # type checkers take it for True; importing typing isn't free

if TYPE_CHECKING:
    from fluid_build.copilot.agents.agent import Agent, ChatSession
    from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
    from fluid_build.copilot.agents.composite import (
        Checkpoint,
        Composite,
        CompositeAgent,
        completion,
        delegate,
    )
    from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
    from fluid_build.copilot.events import get_event_bus
    from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt
    from fluid_build.copilot.llm.client import LlmClient
    from fluid_build.copilot.llm.providers import make_provider
    from fluid_build.copilot.llm.testing import ScriptedProvider
    from fluid_build.copilot.messages import ToolCall
    from fluid_build.copilot.store.backends.sqlite import SqliteBackend
    from fluid_build.copilot.tools.registry import forge_tool
    from fluid_build.copilot.tools.toolbox import Toolbox

__all__ = [
    "Agent",
    "BaseStageAgent",
    "ChatSession",
    "Checkpoint",
    "Composite",
    "CompositeAgent",
    "LlmClient",
    "LlmConfig",
    "LlmPrompt",
    "RunCostTracker",
    "ScriptedProvider",
    "SqliteBackend",
    "StageSession",
    "ToolCall",
    "Toolbox",
    "completion",
    "delegate",
    "forge_tool",
    "get_event_bus",
    "make_provider",
    "use_cost_tracker",
]

_MODULES = {
    "Agent": "agents.agent",
    "BaseStageAgent": "agents.base",
    "ChatSession": "agents.agent",
    "Checkpoint": "agents.composite",
    "Composite": "agents.composite",
    "CompositeAgent": "agents.composite",
    "LlmClient": "llm.client",
    "LlmConfig": "llm.base",
    "LlmPrompt": "llm.base",
    "RunCostTracker": "cost",
    "ScriptedProvider": "llm.testing",
    "SqliteBackend": "store.backends.sqlite",
    "StageSession": "agents.base",
    "ToolCall": "messages",
    "Toolbox": "tools.toolbox",
    "completion": "agents.composite",
    "delegate": "agents.composite",
    "forge_tool": "tools.registry",
    "get_event_bus": "events",
    "make_provider": "llm.providers",
    "use_cost_tracker": "cost",
}


def __getattr__(name: str) -> object:
    """Import a name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    member = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = member
    return member


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
