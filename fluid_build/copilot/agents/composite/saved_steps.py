"""Steps as JSON, so that a queue outlives its process.

A step that the agent declares, in its first queue or in ``known_steps``, is saved as its place and
a digest of its content. Any other step is saved whole, a delegation by the import paths of its
agent and its function.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypedDict, final

from fluid_build.copilot.agents.composite.behaviour import CompositeBehaviour
from fluid_build.copilot.agents.composite.state import (
    CompletionStep,
    DelegateStep,
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
class _SavedCompletion(TypedDict):
    """A completion with all that it says."""

    name: str
    prompt: str
    model: object
    toolbox: object
    response_format: JsonObject | None
    keep_prompt: bool


SavedStep: TypeAlias = _DeclaredStep | _SavedDelegation | _SavedCompletion
SavedItem: TypeAlias = SavedStep | list[SavedStep]

_PACKAGE = "fluid_build.copilot.agents.composite"
"""Its classes are the runtime's, not the agent's own code."""


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
            self._dump(item)
            if isinstance(item, CompletionStep | DelegateStep)
            else [self._dump(step) for step in item]
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
        return _dump_completion(step)

    def _load(self, saved: SavedStep) -> Step:
        if "known" in saved:
            return self._declared(saved)
        if "agent" in saved:
            return DelegateStep(
                saved["name"], _imported(saved["agent"]), _imported(saved["args_builder"])
            )
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


def code_fingerprint(agent: CompositeBehaviour) -> str:
    """Return a digest of the agent's own code and of Python's version, which it depends on."""
    digest = hashlib.sha256(sys.version.split()[0].encode())
    for cls in type(agent).__mro__:
        if cls.__module__.startswith(_PACKAGE) or cls is object:
            continue
        for name, member in sorted(vars(cls).items()):
            function = inspect.unwrap(getattr(member, "__func__", member))
            if isinstance(function, types.FunctionType):
                digest.update(name.encode())
                for part in _parts_of_code(function.__code__):
                    digest.update(part)
    return digest.hexdigest()


def _parts_of_code(code: types.CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts_of_code(constant)
        elif not isinstance(constant, frozenset):  # its order changes with the process
            yield repr(constant).encode()


def _flat(queue: StepQueue) -> Iterator[Step]:
    for item in queue:
        steps = [item] if isinstance(item, CompletionStep | DelegateStep) else item
        yield from steps


def _digest(step: Step) -> str:
    if isinstance(step, DelegateStep):
        content = (
            f"{step.name}\0{getattr(step.agent, '__qualname__', type(step.agent).__qualname__)}"
        )
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


def _reference(value: object, step: DelegateStep) -> str:
    """Return ``module:qualified.name`` of a class or function that can be imported."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module is None or name is None or module == "__main__":
        raise _unsavable(step, f"its {type(value).__name__} can't be imported")
    reference = f"{module}:{name}"
    try:
        imported = _imported(reference)
    except StaleCheckpointError:
        imported = None
    if imported is not value:
        raise _unsavable(step, f"{reference} can't be imported")
    return reference


def _imported(reference: str) -> Any:
    module, _, name = reference.partition(":")
    try:
        member: Any = importlib.import_module(module)
        for part in name.split("."):
            member = getattr(member, part)
    except (ImportError, AttributeError):
        raise StaleCheckpointError(
            f"{reference}, which a saved step needs, doesn't exist any more.",
            hint="Resume with the code that started the run.",
        ) from None
    return member


def _unsavable(step: Step, reason: str) -> UnsavableStepError:
    return UnsavableStepError(
        f"Step {step.name!r} can't be saved: {reason}.",
        hint="Declare it in the agent's first queue or in known_steps.",
    )
