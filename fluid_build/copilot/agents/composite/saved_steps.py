"""Steps as JSON, and back: a queue that outlives its process.

A step that the agent declares, in its first queue or in ``known_steps``, is saved by its place and
a digest of what it says. Any other is saved whole, a delegation by the import paths of its agent
and its function.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

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

_PACKAGE = "fluid_build.copilot.agents.composite"
"""Its classes are the runtime's, not the agent's own code."""


class StepCatalogue:
    """The steps that an agent declares, in order."""

    def __init__(self, queue: StepQueue, known: Iterable[Step]) -> None:
        self._steps: list[Step] = [*_flat(queue), *known]
        self._saved = [
            {"known": place, "name": step.name, "digest": _digest(step)}
            for place, step in enumerate(self._steps)
        ]
        self._places: dict[str, list[int]] = {}
        for place, step in enumerate(self._steps):
            self._places.setdefault(step.name, []).append(place)

    def dump(self, queue: StepQueue) -> list[Any]:
        """The queue as JSON. Raises ``UnsavableStepError``."""
        return [
            self._dump(item)
            if isinstance(item, CompletionStep | DelegateStep)
            else [self._dump(step) for step in item]
            for item in queue
        ]

    def load(self, saved: Sequence[Any]) -> list[Item]:
        """The queue that was saved. Raises ``StaleCheckpointError``."""
        return [
            [self._load(step) for step in item] if isinstance(item, list) else self._load(item)
            for item in saved
        ]

    def _dump(self, step: Step) -> dict[str, Any]:
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

    def _load(self, saved: Mapping[str, Any]) -> Step:
        if "known" in saved:
            return self._declared(saved)
        if "agent" in saved:
            return DelegateStep(
                saved["name"], _imported(saved["agent"]), _imported(saved["args_builder"])
            )
        return CompletionStep(**saved)

    def _declared(self, saved: Mapping[str, Any]) -> Step:
        place: int = saved["known"]
        step = self._steps[place] if place < len(self._steps) else None
        if step is None or step.name != saved["name"]:
            raise StaleCheckpointError(
                f"The agent no longer declares the step {saved['name']!r} where it did.",
                hint="Resume with the code and arguments that the run was begun with.",
            )
        return step

    def changed(self, saved: Sequence[Any]) -> str | None:
        """The name of a saved step that says something else now, or None."""
        for item in saved:
            for step in item if isinstance(item, list) else [item]:
                if "known" in step and _digest(self._declared(step)) != step["digest"]:
                    return str(step["name"])
        return None


def code_fingerprint(agent: CompositeBehaviour) -> str:
    """A digest of the agent's own code and of the Python version, which the code depends on."""
    digest = hashlib.sha256(sys.version.split()[0].encode())
    for kind in type(agent).__mro__:
        if kind.__module__.startswith(_PACKAGE) or kind is object:
            continue
        for name, member in sorted(vars(kind).items()):
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
        elif not isinstance(constant, frozenset):  # whose order is another in each process
            yield repr(constant).encode()


def _flat(queue: StepQueue) -> Iterator[Step]:
    for item in queue:
        steps = [item] if isinstance(item, CompletionStep | DelegateStep) else item
        yield from steps


def _digest(step: Step) -> str:
    if isinstance(step, DelegateStep):
        said = f"{step.name}\0{getattr(step.agent, '__qualname__', type(step.agent).__qualname__)}"
    else:
        said = f"{step.name}\0{step.prompt}\0{step.response_format!r}\0{step.keep_prompt}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _dump_completion(step: CompletionStep) -> dict[str, Any]:
    saved = {
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
        raise _unsavable(step, "its model or toolbox is no JSON value") from None
    return saved


def _reference(value: Any, step: DelegateStep) -> str:
    """``module:qualified.name`` of a class or function that can be imported."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module is None or name is None or module == "__main__":
        raise _unsavable(step, f"its {type(value).__name__} cannot be imported")
    reference = f"{module}:{name}"
    try:
        found = _imported(reference)
    except StaleCheckpointError:
        found = None
    if found is not value:
        raise _unsavable(step, f"{reference} cannot be imported")
    return reference


def _imported(reference: str) -> Any:
    module, _, name = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise StaleCheckpointError(
            f"{reference}, which a saved step needs, is not there any more.",
            hint="Resume with the code that the run was begun with.",
        ) from None
    return found


def _unsavable(step: Step, why: str) -> UnsavableStepError:
    return UnsavableStepError(
        f"Step {step.name!r} cannot be saved: {why}.",
        hint="Declare it in the agent's first queue or in known_steps.",
    )
