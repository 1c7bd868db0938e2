"""The settings of an agent, and the types of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from fluid_build.copilot.agents.agent.call_rules import CallRule
from fluid_build.copilot.agents.agent.hooks import Hooks
from fluid_build.copilot.agents.agent.model import Fallback
from fluid_build.copilot.agents.agent.output_format import OutputMode
from fluid_build.copilot.context.summary import Summarizer
from fluid_build.copilot.llm.base import CompletionClient
from fluid_build.copilot.tools.toolbox import Tools
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

if TYPE_CHECKING:
    from fluid_build.copilot.context.window_manager import ContextWindowManager

ContentBlock: TypeAlias = Mapping[str, JsonValue | bytes]
"""A text, an image or a document (see ``fluid_build.copilot.messages``)."""

Prompt: TypeAlias = str | Sequence[str | ContentBlock]
"""A text, or texts and content blocks in order."""


Instructions: TypeAlias = str | Callable[[Any], str]
"""A text, or a function from the dependencies of a run to one."""


class AgentSettings(TypedDict, total=False):
    """The keyword arguments of ``Agent`` that say nothing about types."""

    tools: Tools
    instructions: Instructions
    name: str
    client: CompletionClient | None
    max_turns: int
    max_corrections: int
    max_calls_per_turn: int
    max_tool_calls: int | None
    max_total_tokens: int | None
    max_seconds: float | None
    max_output_tokens: int | None
    temperature: float | None
    extra: JsonObject
    workspace_root: Path | str | None
    summarizer: Summarizer | None
    rules: Sequence[CallRule]
    fallback: Fallback | None
    hooks: Hooks
    output_mode: OutputMode
    window: ContextWindowManager | None


def instructions_for(instructions: Callable[[Any], str], deps: object) -> str:
    """Return the instructions of a run. Raises ``UsageError`` where they are no text."""
    text = instructions(deps)
    if isinstance(text, str):
        return text
    raise UsageError(
        f"The function of the instructions returned a {type(text).__name__}, not a text.",
        hint="Return the whole text of the instructions.",
    )
