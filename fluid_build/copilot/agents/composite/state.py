"""The state of a composite agent: a value that is replaced, never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Key: TypeAlias = str | Sequence[str]
"""A name in ``internal``, or the names on the way to a nested one."""


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


@dataclass(frozen=True)
class Composite:
    """All that a composite agent knows between two steps.

    ``agent`` makes completions (``get_completion(model=, toolbox=, messages=, response_format=)``),
    with ``model`` and ``toolbox`` unless a step has its own. ``messages`` is the conversation,
    ``response`` the latest answer, ``error`` what the latest step failed with, ``internal`` the
    agent's own notes, ``steps`` what is yet to be done.
    """

    agent: Any = None
    error: Any = None
    internal: Mapping[str, Any] = field(default_factory=dict)
    messages: Sequence[Mapping[str, Any]] = ()
    model: Any = None
    request: str = ""
    response: Any = None
    steps: StepQueue = ()
    toolbox: Any = None


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


def push_steps(state: Composite, steps: Sequence[Item]) -> Composite:
    """The state with ``steps`` at the front of its queue, next to be done."""
    return evolve(state, steps=[*steps, *state.steps]) if steps else state


def append_steps(state: Composite, steps: Sequence[Item]) -> Composite:
    """The state with ``steps`` at the end of its queue."""
    return evolve(state, steps=[*state.steps, *steps])


def get_state(state: Composite, key_or_path: Key) -> Any:
    """A value of ``internal``. Raises ``KeyError`` if any key on the way is missing."""
    value: Any = state.internal
    for key in _path(key_or_path):
        if not isinstance(value, Mapping):
            raise KeyError(key)
        value = value[key]
    return value


def put_state(state: Composite, key_or_path: Key, value: Any) -> Composite:
    """The state with a value of ``internal`` set.

    Raises ``KeyError`` if a key on the way to the last one is missing.
    """
    return evolve(state, internal=_put(state.internal, _path(key_or_path), value))


def evolve(state: Composite, **changes: Any) -> Composite:
    """As ``dataclasses.replace``, in a tenth of its time: the engine does this at each step."""
    following = object.__new__(type(state))
    following.__dict__.update(state.__dict__, **changes)
    return following


def _path(key_or_path: Key) -> tuple[str, ...]:
    path = (key_or_path,) if isinstance(key_or_path, str) else tuple(key_or_path)
    if not path:
        raise KeyError("an empty path leads nowhere")
    return path


def _put(tree: Any, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    key, *rest = path
    if not isinstance(tree, Mapping):
        raise KeyError(key)
    return {**tree, key: _put(tree[key], tuple(rest), value) if rest else value}
