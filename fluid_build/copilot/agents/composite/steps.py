"""What a composite agent has yet to do: completions, delegations, and groups of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from fluid_build.copilot.agents.composite.state import Composite

__all__ = ["CompletionStep", "DelegateStep", "Item", "Step", "StepQueue", "completion", "delegate"]


@dataclass(frozen=True, slots=True)
class CompletionStep:
    """A turn in the agent's own conversation. ``None``: as the agent has it."""

    name: str
    prompt: str
    model: Any = None
    toolbox: Any = None
    response_format: Mapping[str, Any] | None = None
    keep_prompt: bool = False


@dataclass(frozen=True, slots=True)
class DelegateStep:
    """A task for another agent: anything with ``get_response(args)``, or a class of such."""

    name: str
    agent: Any
    args_builder: Callable[[Composite], Mapping[str, Any]]


Step: TypeAlias = CompletionStep | DelegateStep
Item: TypeAlias = Step | Sequence[Step]
"""A step, or steps that run side by side."""
StepQueue: TypeAlias = Sequence[Item]


def completion(
    name: str,
    prompt: str,
    *,
    model: Any = None,
    toolbox: Any = None,
    response_format: Mapping[str, Any] | None = None,
    keep_prompt: bool = False,
) -> CompletionStep:
    """A turn in the agent's conversation: ``prompt`` is put to it as a system message at the end.

    ``response_format`` is a JSON Schema for the answer; with ``keep_prompt`` the prompt stays in
    the conversation.
    """
    return CompletionStep(name, prompt, model, toolbox, response_format, keep_prompt)


def delegate(
    name: str, agent: Any, args_builder: Callable[[Composite], Mapping[str, Any]]
) -> DelegateStep:
    """A task for ``agent``, whose ``get_response`` is given what ``args_builder`` makes of the
    state. Its answer is added to the conversation as a user message under the step's name.
    """
    return DelegateStep(name, agent, args_builder)
