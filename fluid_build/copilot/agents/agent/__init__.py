"""Agents: a model that calls tools until it has a typed answer, checkpointed turn by turn."""

from fluid_build.copilot.agents.agent.agent import DEFAULT_MAX_CORRECTIONS, DEFAULT_MAX_TURNS, Agent
from fluid_build.copilot.agents.agent.call_rules import CallRule, allow, ask, deny
from fluid_build.copilot.agents.agent.events import (
    AgentEvent,
    AgentResult,
    CorrectionEvent,
    FallbackEvent,
    HandoffEvent,
    PartialEvent,
    ResultEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
)
from fluid_build.copilot.agents.agent.hooks import Hooks
from fluid_build.copilot.agents.agent.model import Fallback
from fluid_build.copilot.agents.agent.sessions import ChatSession
from fluid_build.copilot.agents.composite.approvals import (
    Approved,
    Denied,
    PendingApproval,
    answer_approval,
    pending_approvals,
)
from fluid_build.copilot.errors import ApprovalRequiredError, TurnLimitError

__all__ = [
    "DEFAULT_MAX_CORRECTIONS",
    "DEFAULT_MAX_TURNS",
    "Agent",
    "AgentEvent",
    "AgentResult",
    "ApprovalRequiredError",
    "Approved",
    "CallRule",
    "ChatSession",
    "CorrectionEvent",
    "Denied",
    "Fallback",
    "FallbackEvent",
    "HandoffEvent",
    "Hooks",
    "PartialEvent",
    "PendingApproval",
    "ResultEvent",
    "ToolFinishedEvent",
    "ToolStartedEvent",
    "TurnLimitError",
    "allow",
    "answer_approval",
    "ask",
    "deny",
    "pending_approvals",
]
