"""The settings of an agent, the options of a run, and the job that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypedDict, TypeVar

from fluid_build.copilot.agents.agent.results import Approvals
from fluid_build.copilot.agents.composite import Checkpoint, Composite
from fluid_build.copilot.context.summary import Summarizer
from fluid_build.copilot.llm.base import CompletionClient
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.tools.definition import Tool
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.json_types import JsonObject, JsonValue

DepsT = TypeVar("DepsT")

Prompt: TypeAlias = str | Sequence[JsonValue]
"""A text, or content blocks such as images (see ``fluid_build.copilot.messages``)."""

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


class RunOptions(TypedDict, total=False):
    """An earlier conversation to go on with, and where the run is saved."""

    message_history: Sequence[Message]
    checkpoint: Checkpoint | None
    store: Store | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class Job(Generic[DepsT]):
    """A run to start, or to resume: from its checkpoint, or from the state that it stopped in.

    ``threads``: the event loop is the caller's, so that nothing may block it.
    """

    start: Composite
    checkpoint: Checkpoint | None
    deps: DepsT | None
    threads: bool
    approvals: Approvals | None = None
    is_resumed: bool = False
    accept_changed_code: bool = False
