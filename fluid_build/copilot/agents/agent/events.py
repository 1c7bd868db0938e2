"""The events of an agent's run, in order, for a caller that shows them while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from fluid_build.copilot.agents.agent.results import AgentResult
from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.copilot.llm.streaming import TextEvent, ThinkingEvent, UsageEvent
from fluid_build.copilot.messages import ToolCall, ToolResult

OutputT_co = TypeVar("OutputT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ToolStartedEvent:
    """A tool that is being called."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinishedEvent:
    """A tool's result, as the model gets it."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class CorrectionEvent:
    """An answer that doesn't fit ``output``: the texts since the turn began aren't the answer.

    ``text`` is what the model is asked to correct.
    """

    text: str


@dataclass(frozen=True, slots=True)
class PartialEvent:
    """The fields of a typed answer that are there so far, each of its type.

    A text and a list grow from event to event. Constraints and validators are for the whole answer:
    what is shown here may yet be corrected.
    """

    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FallbackEvent:
    """A turn that the second model takes: the texts since the turn began aren't the answer."""

    model: str
    error: AgentExecutionError


@dataclass(frozen=True, slots=True)
class HandoffEvent:
    """The agent of this name has the conversation from here on."""

    agent: str


@dataclass(frozen=True, slots=True)
class ResultEvent(Generic[OutputT_co]):
    """The end of the run: always the last event of a run that wasn't stopped by an error."""

    result: AgentResult[OutputT_co]


LoopEvent: TypeAlias = (
    TextEvent
    | ThinkingEvent
    | UsageEvent
    | ToolStartedEvent
    | ToolFinishedEvent
    | CorrectionEvent
    | FallbackEvent
    | HandoffEvent
    | PartialEvent
)
"""An event before the end of a run."""

AgentEvent: TypeAlias = LoopEvent | ResultEvent[OutputT_co]
