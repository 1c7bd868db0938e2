"""The state of a composite agent, with its steps: a value that is replaced, never changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import BaseModel

from fluid_build.copilot.messages import Message
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject

Key: TypeAlias = str | Sequence[str]
"""A name in ``internal``, or the names on the way to a nested one."""


@dataclass(frozen=True, slots=True)
class CompletionStep:
    """A turn in the agent's own conversation. None means the agent's own model or toolbox."""

    name: str
    prompt: str
    model: object = None
    toolbox: object = None
    response_format: JsonObject | None = None
    keep_prompt: bool = False


@dataclass(frozen=True, slots=True)
class DelegateStep:
    """A task for another agent: anything with ``get_response(args)``, or its class."""

    name: str
    agent: object
    args_builder: Callable[[Composite], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class FunctionStep:
    """Work of the agent itself: ``function(state)`` returns an answer and the messages it adds."""

    name: str
    function: Callable[[Composite], StepResult | Awaitable[StepResult]]


@dataclass(slots=True)
class StepResult:
    """A step's answer and the messages that it adds.

    ``rewritten`` is the whole conversation before those, where the step has rewritten (compacted)
    it.
    """

    response: Any
    messages: Sequence[Message] = ()
    rewritten: Sequence[Message] | None = None


Step: TypeAlias = CompletionStep | DelegateStep | FunctionStep
Item: TypeAlias = Step | Sequence[Step]
"""A step, or steps that run in parallel."""
StepQueue: TypeAlias = Sequence[Item]


@dataclass(frozen=True)
class Composite:
    """The state of a composite agent between two steps.

    ``agent`` makes completions (``get_completion(model=, toolbox=, messages=, response_format=)``),
    with ``model`` and ``toolbox`` unless a step has its own. ``messages`` is the conversation,
    ``response`` the latest answer, ``error`` the latest step's error, ``internal`` the agent's own
    notes, ``steps`` the queue.
    """

    agent: Any = None
    error: object = None
    internal: Mapping[str, object] = field(default_factory=dict)
    messages: Sequence[Message] = ()
    model: object = None
    request: str = ""
    response: Any = None
    steps: StepQueue = ()
    toolbox: object = None


def completion(
    name: str,
    prompt: str,
    *,
    model: object = None,
    toolbox: object = None,
    response_format: JsonObject | type[BaseModel] | None = None,
    keep_prompt: bool = False,
) -> CompletionStep:
    """Return a turn in the agent's conversation; ``prompt`` is a system message at its end.

    ``response_format`` is a JSON Schema for the answer, or a Pydantic model that has one; with
    ``keep_prompt`` the prompt stays in the conversation. Raises ``UsageError`` for another format.
    """
    schema = None if response_format is None else _schema_of(response_format, name)
    return CompletionStep(name, prompt, model, toolbox, schema, keep_prompt)


def delegate(
    name: str, agent: object, args_builder: Callable[[Composite], Mapping[str, object]]
) -> DelegateStep:
    """Return a task for ``agent``, whose ``get_response`` gets ``args_builder(state)``.

    Its answer is added to the conversation as a user message under the step's name.
    """
    return DelegateStep(name, agent, args_builder)


def function_step(
    name: str, function: Callable[[Composite], StepResult | Awaitable[StepResult]]
) -> FunctionStep:
    """Return a call of ``function`` with the state, which may be a plain function or a coroutine.

    It can't change the state but by its result; ``on_step_complete`` can.
    """
    return FunctionStep(name, function)


def push_steps(state: Composite, steps: Sequence[Item]) -> Composite:
    """Return the state with ``steps`` at the front of its queue."""
    return evolve(state, steps=[*steps, *state.steps]) if steps else state


def append_steps(state: Composite, steps: Sequence[Item]) -> Composite:
    """Return the state with ``steps`` at the end of its queue."""
    return evolve(state, steps=[*state.steps, *steps])


def get_state(state: Composite, key_or_path: Key) -> Any:
    """Return a value of ``internal``. Raises ``KeyError`` if any key on the way is missing."""
    value: object = state.internal
    for key in _path(key_or_path):
        if not isinstance(value, Mapping):
            raise KeyError(key)
        value = value[key]
    return value


def put_state(state: Composite, key_or_path: Key, value: object) -> Composite:
    """Return the state with a value of ``internal`` set.

    Raises ``KeyError`` if a key on the way to the last one is missing.
    """
    return evolve(state, internal=_put(state.internal, _path(key_or_path), value))


def evolve(state: Composite, **changes: object) -> Composite:
    """Return a changed copy in a tenth of the time of ``replace``: the engine needs many."""
    evolved = object.__new__(type(state))
    evolved.__dict__.update(state.__dict__, **changes)
    return evolved


def _schema_of(response_format: object, name: str) -> JsonObject:
    if isinstance(response_format, type) and issubclass(response_format, BaseModel):
        return response_format.model_json_schema()
    if isinstance(response_format, Mapping):
        return response_format
    raise UsageError(
        f"The response_format of step {name!r} isn't a JSON schema.",
        hint="Pass a schema as a dictionary, or a class of Pydantic's BaseModel.",
    )


def _path(key_or_path: Key) -> tuple[str, ...]:
    path = (key_or_path,) if isinstance(key_or_path, str) else tuple(key_or_path)
    if not path:
        raise KeyError("the path is empty")
    return path


def _put(tree: object, path: tuple[str, ...], value: object) -> dict[str, object]:
    key, *inner = path
    if not isinstance(tree, Mapping):
        raise KeyError(key)
    return {**tree, key: _put(tree[key], tuple(inner), value) if inner else value}
