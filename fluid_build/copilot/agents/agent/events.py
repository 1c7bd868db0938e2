"""The end of an agent's run, and the events before it, for a caller that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, cast

from fluid_build.copilot.agents.composite.state import Composite
from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.llm.streaming import TextEvent, ThinkingEvent, UsageEvent
from fluid_build.copilot.messages import Message, ToolCall, ToolResult

if TYPE_CHECKING:
    from fluid_build.copilot.agents.composite.checkpoint import Checkpoint


OutputT_co = TypeVar("OutputT_co", covariant=True)

RunStatus: TypeAlias = Literal["complete", "needs_approval", "stopped"]
"""How a run ended: with an answer, at a call that a person has to approve, or by an error."""


@dataclass(frozen=True, slots=True)
class AgentResult(Generic[OutputT_co]):
    """The end of a run: its answer, or the calls that wait for a person.

    ``usage`` counts the tokens of the answers that this run got, those before a resume and those
    that were refused or cut off included, and of the summaries that its own model made.
    ``cost_usd`` is their price (None where it isn't known); answers from the cache cost nothing.
    What attempts without an answer may have cost is only in the ``RunCostTracker``. ``agent`` is
    the name of the agent that had the conversation last, whose ``output`` it is.
    """

    status: RunStatus
    messages: Sequence[Message]
    usage: Usage
    cost_usd: Decimal | None
    turns: int
    pending: tuple[ToolCall, ...] = ()
    run_id: str | None = None
    agent: str = ""
    _output: OutputT_co | None = None
    _state: Composite = field(default_factory=Composite, repr=False)
    _checkpoint: Checkpoint | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Return whether the run has its answer."""
        return self.status == "complete"

    @property
    def output(self) -> OutputT_co:
        """Return the answer. Raises ``AgentExecutionError`` if the run isn't complete."""
        if not self.ok:
            raise AgentExecutionError(
                f"The run has no answer: its status is {self.status}.",
                hint="Look at pending, and resume the run with its approvals.",
            )
        return cast("OutputT_co", self._output)


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
