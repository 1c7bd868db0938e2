"""Runs and steps of composite agents as operations, by name: never their prompts or answers."""

from __future__ import annotations

from fluid_build.copilot.agents.composite.behaviour import CompositeBehaviour
from fluid_build.copilot.agents.composite.state import CompletionStep, FunctionStep, Step
from fluid_build.copilot.operations import Operation


def agent_run(agent: CompositeBehaviour, run_id: str | None) -> Operation:
    """Return the operation of a run. An agent is called by its ``name``, or else by its class."""
    return Operation(
        "agent.run",
        lambda: {"agent_name": getattr(agent, "name", type(agent).__name__), "run_id": run_id},
    )


def step_attempt(step: Step) -> Operation:
    """Return the operation of a step. A repeated step has one for each attempt."""
    return Operation("agent.step", lambda: {"step_name": step.name, "step_type": _type_name(step)})


def _type_name(step: Step) -> str:
    if isinstance(step, CompletionStep):
        return "completion"
    return "function" if isinstance(step, FunctionStep) else "delegate"
