# ruff: noqa: ARG002 - callbacks name what they are given, also where they make no use of it
"""What an agent says about its own run: where it begins, and what follows from each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.copilot.agents.composite.state import Composite, Item, Step
from fluid_build.copilot.errors import AgentExecutionError


@dataclass(frozen=True, slots=True)
class Retry:
    """Do the failed step again; of a group, the branches that failed."""

    state: Composite


@dataclass(frozen=True, slots=True)
class Skip:
    """Clear the error and go on with the next step."""

    state: Composite


@dataclass(frozen=True, slots=True)
class Halt:
    """Stop, with the error."""

    state: Composite


Decision: TypeAlias = Retry | Skip | Halt


@dataclass(frozen=True, slots=True)
class CompositeResult:
    """How a run ended: the last response, or the error that stopped it, and the final state."""

    ok: bool
    response: Any
    error: Any
    state: Composite


def unwrapped(result: CompositeResult, name: str) -> Any:
    """Return the response of a nested run. Raises what it failed with."""
    if result.ok:
        return result.response
    if isinstance(result.error, Exception):
        raise result.error
    raise AgentExecutionError(f"{name} stopped: {result.error}")


class CompositeBehaviour(ABC):
    """The behaviour of a composite agent. Only ``init`` must be written.

    Callbacks take a state and return the next one. They are called one at a time, also while the
    branches of a group run side by side; an exception in one is a bug, and ends the run.
    """

    @abstractmethod
    def init(self, args: Mapping[str, Any]) -> Composite | Halt:
        """The first state, with its queue of steps; ``Halt`` with an error declines the task.

        It is called again when a run is resumed, for what a checkpoint cannot hold: the agent,
        the toolbox and the steps' functions.
        """

    def on_step_start(self, step: Step, state: Composite) -> Composite:
        """Called before a step is done."""
        return state

    def on_step_complete(self, step: Step, state: Composite) -> Composite:
        """Called after a step is done: its answer is in ``response`` and in ``messages``.

        A state with an ``error`` says that the step failed after all.
        """
        return state

    def get_next_steps(self, step: Step, state: Composite) -> Sequence[Item]:
        """What to do next, before all that is in the queue: called after each completed step."""
        return []

    def on_error(self, step: Step, error: Any, state: Composite) -> Decision:
        """What to do about a failed step; of a group, about the first that failed."""
        return Halt(state)

    def known_steps(self) -> Sequence[Step]:
        """Steps that ``get_next_steps`` may return and a checkpoint could not hold otherwise:
        delegations by lambdas, completions with toolboxes.
        """
        return []

    def dump_internal(self, internal: Mapping[str, Any]) -> Any:
        """``internal`` as JSON, for a checkpoint."""
        return internal

    def load_internal(self, dumped: Any) -> Mapping[str, Any]:
        """The other way round."""
        return dict(dumped)
