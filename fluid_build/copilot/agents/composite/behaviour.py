# ruff: noqa: ARG002 - a callback names its arguments even where the default ignores them
"""The behaviour of a composite agent: its first state, and its reactions to each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.copilot.agents.composite.code_fingerprint import code_fingerprint
from fluid_build.copilot.agents.composite.saved_models import dump_models, load_models
from fluid_build.copilot.agents.composite.state import Composite, Item, Step
from fluid_build.copilot.errors import AgentExecutionError, ApprovalRequiredError
from fluid_build.copilot.messages import ToolCall
from fluid_build.json_types import JsonValue


@dataclass(frozen=True, slots=True)
class Retry:
    """A decision to repeat the failed step, or the failed branches of a group."""

    state: Composite


@dataclass(frozen=True, slots=True)
class Skip:
    """A decision to clear the error and go on with the next step."""

    state: Composite


@dataclass(frozen=True, slots=True)
class Halt:
    """A decision to stop with the error."""

    state: Composite


Args: TypeAlias = Mapping[str, Any]
"""The arguments of a run, which are the caller's own."""

Decision: TypeAlias = Retry | Skip | Halt

AnyStep: TypeAlias = Any
"""A ``Step``; an agent's own callbacks may name only the types of steps that it has."""


@dataclass(frozen=True, slots=True)
class CompositeResult:
    """The end of a run: the last response, or the error that stopped it, and the final state."""

    ok: bool
    response: Any
    error: object
    state: Composite

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """Return the calls that wait for a person, of a saved run that stopped at them."""
        return self.error.pending if isinstance(self.error, ApprovalRequiredError) else ()


def unwrapped(result: CompositeResult, name: str) -> Any:
    """Return the response of a nested run. Raises its error."""
    if result.ok:
        return result.response
    if isinstance(result.error, Exception):
        raise result.error
    raise AgentExecutionError(f"{name} stopped: {result.error}")


class CompositeBehaviour(ABC):
    """The callbacks of a composite agent. Only ``init`` is required.

    A callback takes a state and returns the next one. Callbacks are called one at a time, even
    while the branches of a group run in parallel; an exception in one is a bug and ends the run.
    """

    @abstractmethod
    def init(self, args: Args) -> Composite | Halt:
        """Return the first state, with its queue of steps, or ``Halt`` to decline the task.

        It is called again when a run is resumed, for what a checkpoint can't hold: the agent, the
        toolbox and the steps' functions.
        """

    def on_step_start(self, step: AnyStep, state: Composite) -> Composite:
        """Return the state with which a step starts."""
        return state

    def on_step_complete(self, step: AnyStep, state: Composite) -> Composite:
        """Return the state after a step, whose answer is in ``response`` and ``messages``.

        A state with an ``error`` means that the step failed after all.
        """
        return state

    def get_next_steps(self, step: AnyStep, state: Composite) -> Sequence[Item]:
        """Return steps to put in front of the queue after a completed step."""
        return []

    def on_error(self, step: AnyStep, error: object, state: Composite) -> Decision:
        """Decide whether to repeat, skip or halt after a failed step or branch."""
        return Halt(state)

    def known_steps(self) -> Sequence[Step]:
        """Return steps of ``get_next_steps`` that a checkpoint can't save by itself.

        These are delegations by lambdas, completions with toolboxes, and functions that can't be
        imported.
        """
        return []

    def fingerprint(self) -> str:
        """Return a digest of the agent's code: a run isn't resumed unnoticed if it has changed."""
        return code_fingerprint(self)

    def dump_internal(self, internal: Mapping[str, Any]) -> JsonValue:
        """Return ``internal`` as JSON, for a checkpoint; Pydantic models in it are saved too."""
        dumped: JsonValue = dump_models(internal)
        return dumped

    def load_internal(self, dumped: Any) -> Mapping[str, object]:
        """Return ``internal`` from its dump."""
        return dict(load_models(dumped))
