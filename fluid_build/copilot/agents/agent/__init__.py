"""Agents: a model that calls tools until it has a typed answer, checkpointed turn by turn."""

from fluid_build.copilot.agents.agent.agent import DEFAULT_MAX_CORRECTIONS, DEFAULT_MAX_TURNS, Agent
from fluid_build.copilot.agents.agent.events import (
    AgentEvent,
    CorrectionEvent,
    ResultEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
)
from fluid_build.copilot.agents.agent.results import AgentResult, Denied
from fluid_build.copilot.errors import ApprovalRequiredError, TurnLimitError

__all__ = [
    "DEFAULT_MAX_CORRECTIONS",
    "DEFAULT_MAX_TURNS",
    "Agent",
    "AgentEvent",
    "AgentResult",
    "ApprovalRequiredError",
    "CorrectionEvent",
    "Denied",
    "ResultEvent",
    "ToolFinishedEvent",
    "ToolStartedEvent",
    "TurnLimitError",
]
