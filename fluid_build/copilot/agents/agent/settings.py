"""The settings of an agent, and a run of it as a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypedDict, TypeVar

from fluid_build.copilot.agents.agent.results import Approvals
from fluid_build.copilot.agents.composite import Checkpoint, Composite
from fluid_build.copilot.context.summary import Summarizer
from fluid_build.copilot.llm.base import CompletionClient
from fluid_build.copilot.tools.definition import Tool
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.json_types import JsonObject, JsonValue

DepsT = TypeVar("DepsT")

ContentBlock: TypeAlias = Mapping[str, JsonValue | bytes]
"""A text, an image or a document (see ``fluid_build.copilot.messages``)."""

Prompt: TypeAlias = str | Sequence[str | ContentBlock]
"""A text, or texts and content blocks in order."""

Tools: TypeAlias = Toolbox | Iterable[Tool | Callable[..., object] | str]
"""A toolbox, or tools, plain functions and names of registered tools."""


class AgentSettings(TypedDict, total=False):
    """The keyword arguments of ``Agent`` that say nothing about types."""

    tools: Tools
    instructions: str
    name: str
    client: CompletionClient | None
    max_turns: int
    max_corrections: int
    max_output_tokens: int | None
    temperature: float | None
    extra: JsonObject
    workspace_root: Path | str | None
    summarizer: Summarizer | None


@dataclass(frozen=True, slots=True)
class Job(Generic[DepsT]):
    """A run to start, or to resume: from its checkpoint, or from the state that it stopped in.

    ``is_loop_shared``: the event loop belongs to the caller, so nothing may block it.
    """

    start: Composite
    checkpoint: Checkpoint | None
    deps: DepsT | None
    is_loop_shared: bool
    approvals: Approvals | None = None
    is_resumed: bool = False
    accept_changed_code: bool = False
