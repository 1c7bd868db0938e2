"""``fluid forge --agent-loop``: an agent explores the folder, and what it proposes is forged."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from fluid_build.agent_loop.loop import DEFAULT_GOAL, LoopOutcome, run_copilot_agent_loop
from fluid_build.cli import messages
from fluid_build.copilot.agents.agent.events import (
    AgentEvent,
    CorrectionEvent,
    ToolFinishedEvent,
)
from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
from fluid_build.copilot.llm.capabilities import capability_warnings, tool_warnings
from fluid_build.copilot.store.configured import open_store
from fluid_build.copilot.unified_config import current_config
from fluid_build.errors import UsageError
from fluid_build.pipeline.requests import ModelUse
from fluid_build.pipeline.sessions import configured, open_session, requested_model
from fluid_build.text import counted


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What the user wants of the agent, and the most that it may cost."""

    goal: str
    model_use: ModelUse
    max_cost: Decimal | None
    max_iterations: int


def explore(request: AgentRequest, folder: Path) -> LoopOutcome:
    """Let the configured model explore a folder; say on stderr what it does and costs.

    Raises UsageError where no model is configured, or what ``run_copilot_agent_loop`` raises.
    """
    use = request.model_use
    tracker = RunCostTracker(request.max_cost)
    with configured(use), use_cost_tracker(tracker):
        config = requested_model(use)
        if config is None:
            raise _without_model()
        session = open_session(open_store(), use, "agent-loop")
        matrix = session.capability_matrix
        warnings = (*capability_warnings(config, matrix), *tool_warnings(config, matrix))
        for warning in warnings:
            messages.tell(f"Warning: {warning}")
        messages.tell(f"{config.model} explores {folder} ...")
        outcome = run_copilot_agent_loop(
            request.goal or DEFAULT_GOAL,
            session=session,
            workspace_root=folder,
            max_iterations=request.max_iterations,
            on_event=_tell_event,
        )
    _tell_outcome(outcome, folder)
    return outcome


def _without_model() -> UsageError:
    if current_config().behavior.deterministic:
        return UsageError(
            "--agent-loop needs a model, and --deterministic asks for none.",
            hint="Leave one out; FLUID_DETERMINISTIC and behavior.deterministic count too.",
        )
    return UsageError(
        "--agent-loop needs a model, and none is configured.",
        hint="Pass --llm-provider and --llm-model, or run `fluid ai setup`.",
    )


def _tell_event(event: AgentEvent[object]) -> None:
    match event:
        case ToolFinishedEvent(call, result):
            messages.tell(f"  {call.name}{' failed' if result.is_error else ''}")
        case CorrectionEvent():
            messages.tell("  its answer didn't fit, and it was asked again")


def _tell_outcome(outcome: LoopOutcome, folder: Path) -> None:
    cost = "" if outcome.cost_usd is None else f", ${outcome.cost_usd:.4f}"
    messages.tell(
        f"It proposes {outcome.source.relative_to(folder.resolve())} as {outcome.technique}, with"
        f" {counted(len(outcome.decisions), 'decision')}"
        f" ({counted(outcome.iterations, 'turn')}{cost})."
    )
    for fault in outcome.invalid:
        messages.tell(f"  no decision: {fault}")
