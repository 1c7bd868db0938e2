"""Steps as JSON, so that a queue outlives its process.

A step that the agent declares, in its first queue or in ``known_steps``, is saved as its place and
a digest of its content. Any other step is saved whole, a delegation by the import paths of its
agent and its function, a function step by that of its function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypedDict, final

from fluid_build.copilot.agents.composite.saved_models import import_member, import_path
from fluid_build.copilot.agents.composite.state import (
    CompletionStep,
    DelegateStep,
    FunctionStep,
    Item,
    Step,
    StepQueue,
)
from fluid_build.copilot.errors import StaleCheckpointError, UnsavableStepError
from fluid_build.copilot.store.base import StoreError, to_json_text
from fluid_build.json_types import JsonObject


@final
class _DeclaredStep(TypedDict):
    """A step that the agent declares: its place and name, and a digest of its content."""

    known: int
    name: str
    digest: str


@final
class _SavedDelegation(TypedDict):
    """A delegation, with the import paths of its agent and function."""

    name: str
    agent: str
    args_builder: str


@final
class _SavedFunction(TypedDict):
    """A function step, with the import path of its function."""

    name: str
    function: str


@final
class _SavedCompletion(TypedDict):
    """A completion with all that it says."""

    name: str
    prompt: str
    model: object
    toolbox: object
    response_format: JsonObject | None
    keep_prompt: bool


SavedStep: TypeAlias = _DeclaredStep | _SavedDelegation | _SavedFunction | _SavedCompletion
SavedItem: TypeAlias = SavedStep | list[SavedStep]


class StepCatalogue:
    """The steps that an agent declares, in order."""

    def __init__(self, queue: StepQueue, known: Iterable[Step]) -> None:
        self._steps: list[Step] = [*_flat(queue), *known]
        self._saved: list[_DeclaredStep] = [
            {"known": place, "name": step.name, "digest": _digest(step)}
            for place, step in enumerate(self._steps)
        ]
        self._places: dict[str, list[int]] = {}
        for place, step in enumerate(self._steps):
            self._places.setdefault(step.name, []).append(place)

    def dump(self, queue: StepQueue) -> list[SavedItem]:
        """Return the queue as JSON. Raises ``UnsavableStepError``."""
        return [
            self._dump(item) if isinstance(item, Step) else [self._dump(step) for step in item]
            for item in queue
        ]

    def load(self, saved: Sequence[SavedItem]) -> list[Item]:
        """Return the queue that was saved. Raises ``StaleCheckpointError``."""
        return [
            [self._load(step) for step in item] if isinstance(item, list) else self._load(item)
            for item in saved
        ]

    def _dump(self, step: Step) -> SavedStep:
        for place in self._places.get(step.name, ()):
            if self._steps[place] is step or self._steps[place] == step:
                return self._saved[place]
        if isinstance(step, DelegateStep):
            return {
                "name": step.name,
                "agent": _reference(step.agent, step),
                "args_builder": _reference(step.args_builder, step),
            }
        if isinstance(step, FunctionStep):
            return {"name": step.name, "function": _reference(step.function, step)}
        return _dump_completion(step)

    def _load(self, saved: SavedStep) -> Step:
        if "known" in saved:
            return self._declared(saved)
        if "agent" in saved:
            return DelegateStep(
                saved["name"], import_member(saved["agent"]), import_member(saved["args_builder"])
            )
        if "function" in saved:
            return FunctionStep(saved["name"], import_member(saved["function"]))
        return CompletionStep(**saved)

    def _declared(self, saved: _DeclaredStep) -> Step:
        place = saved["known"]
        step = self._steps[place] if place < len(self._steps) else None
        if step is None or step.name != saved["name"]:
            raise StaleCheckpointError(
                f"The agent no longer declares the step {saved['name']!r} in its former place.",
                hint="Resume with the code and arguments that started the run.",
            )
        return step

    def changed(self, saved: Sequence[SavedItem]) -> str | None:
        """Return the name of a saved step whose declaration has changed, or None."""
        for item in saved:
            for step in item if isinstance(item, list) else [item]:
                if "known" in step and _digest(self._declared(step)) != step["digest"]:
                    return step["name"]
        return None


def _flat(queue: StepQueue) -> Iterator[Step]:
    for item in queue:
        steps = [item] if isinstance(item, Step) else item
        yield from steps


def _digest(step: Step) -> str:
    if isinstance(step, DelegateStep):
        content = (
            f"{step.name}\0{getattr(step.agent, '__qualname__', type(step.agent).__qualname__)}"
        )
    elif isinstance(step, FunctionStep):
        content = f"{step.name}\0{getattr(step.function, '__qualname__', '')}"
    else:
        content = f"{step.name}\0{step.prompt}\0{step.response_format!r}\0{step.keep_prompt}"
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _dump_completion(step: CompletionStep) -> _SavedCompletion:
    saved: _SavedCompletion = {
        "name": step.name,
        "prompt": step.prompt,
        "model": step.model,
        "toolbox": step.toolbox,
        "response_format": step.response_format,
        "keep_prompt": step.keep_prompt,
    }
    try:
        to_json_text(saved)
    except StoreError:
        raise _unsavable(step, "its model or toolbox isn't a JSON value") from None
    return saved


def _reference(value: object, step: DelegateStep | FunctionStep) -> str:
    reference = import_path(value)
    if reference is None:
        raise _unsavable(step, f"its {_label(value)} can't be imported")
    return reference


def _label(value: object) -> str:
    name = getattr(value, "__qualname__", None)
    return type(value).__name__ if name is None else f"{type(value).__name__} {name}"


def _unsavable(step: Step, reason: str) -> UnsavableStepError:
    return UnsavableStepError(
        f"Step {step.name!r} can't be saved: {reason}.",
        hint="Declare it in the agent's first queue or in known_steps.",
    )
