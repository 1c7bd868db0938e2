"""A document read with a memory of what was read, so that nothing can be dropped in silence.

Whoever turns one format into another takes every value from here. What was never taken is what the
other format does not say.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeVar

from fluid_build.contract.structure import Part, Path

Json = dict[str, object]
T = TypeVar("T")


class TrackedMapping:
    """A mapping in a document, and which of its keys were taken.

    TrackedMapping a key as a type that it is not of gives None, and leaves its value untaken.
    """

    def __init__(
        self, value: object, path: Path = (), memory: dict[Part, object] | None = None
    ) -> None:
        self.value: Mapping[str, object] = value if isinstance(value, dict) else {}
        self.exists = isinstance(value, dict)
        self.path = path
        self._memory: dict[Part, object] = {} if memory is None else memory

    def peek(self, key: str) -> object:
        """The value of a key, or None; it counts as not taken."""
        return self.value.get(key)

    def take(self, key: str) -> object:
        """The value of a key with all that is in it, or None."""
        return self._taken(key, self.peek(key))

    def text(self, key: str) -> str | None:
        """A text."""
        value = self.peek(key)
        return self._taken(key, value) if isinstance(value, str) else None

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.peek(key)
        return self._taken(key, value) if isinstance(value, bool) else None

    def number(self, key: str) -> int | float | None:
        """A number."""
        value = self.peek(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return self._taken(key, value)

    def texts(self, key: str) -> list[str] | None:
        """A list of nothing but texts."""
        value = self.peek(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        return self._taken(key, list(value))

    def mapping(self, key: str) -> Json | None:
        """A mapping with all that is in it."""
        value = self.peek(key)
        return self._taken(key, dict(value)) if isinstance(value, dict) else None

    def part(self, key: str) -> "TrackedMapping":
        """The mapping under a key, to be read bit by bit; one that does not exist is empty."""
        if self.peek(key) == {}:
            self._memory[key] = None
        return _tracked(self.peek(key), (*self.path, key), self._memory, key)

    def parts(self, key: str) -> list["TrackedMapping"]:
        """The mappings of the list under a key, to be read bit by bit."""
        value = self.peek(key)
        if not isinstance(value, list):
            return []
        if not value:
            self._memory[key] = None
        memory = _below(self._memory, key)
        path = (*self.path, key)
        return [_tracked(item, (*path, at), memory, at) for at, item in enumerate(value)]

    def rest(self) -> Json:
        """Every key of which nothing was taken yet, with all that is in it."""
        return {key: self.take(key) for key in self.value if not self.touched(key)}

    def touched(self, key: str) -> bool:
        """Whether anything under a key was taken."""
        return key in self._memory and _any_taken(self._memory[key])

    def left(self) -> Iterator[Path]:
        """The path of every leaf that was not taken; an empty list or mapping is a leaf."""
        for key, item in self.value.items():
            yield from _left(item, (*self.path, key), self._memory.get(key, {}))

    def unsaid(self) -> Iterator[tuple[Path, int]]:
        """As ``left``, each outermost part of which nothing was taken as one, with its leaves."""
        for key, item in self.value.items():
            yield from _unsaid(item, (*self.path, key), self._memory.get(key, {}))

    def _taken(self, key: str, value: T) -> T:
        if key in self.value:
            self._memory[key] = None
        return value


def said(document: Mapping[str, object]) -> Json:
    """The document without the keys that say nothing (None)."""
    return {key: value for key, value in document.items() if value is not None}


def labels_of(part: TrackedMapping) -> dict[str, str] | None:
    """The labels of an element of a contract."""
    labels = part.mapping("labels")
    return None if labels is None else {key: str(value) for key, value in labels.items()}


def is_finite(value: object) -> bool:
    """Whether no number in it is infinite or none at all (NaN)."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    return all(map(is_finite, value)) if isinstance(value, list) else True


def _tracked(value: object, path: Path, memory: dict[Part, object], key: Part) -> TrackedMapping:
    return TrackedMapping(value, path, _below(memory, key))


def _below(memory: dict[Part, object], key: Part) -> dict[Part, object]:
    """The memory of a key; of one that was taken whole, a new one that nobody asks."""
    inner = memory.setdefault(key, {})
    return inner if isinstance(inner, dict) else {}


def _any_taken(memory: object) -> bool:
    return not isinstance(memory, dict) or any(map(_any_taken, memory.values()))


def _unsaid(value: object, path: Path, memory: object) -> Iterator[tuple[Path, int]]:
    if not _any_taken(memory):
        yield path, sum(1 for _ in _left(value, path, {}))
        return
    if isinstance(memory, dict):
        for key, item in _items(value):
            yield from _unsaid(item, (*path, key), memory.get(key, {}))


def _items(value: object) -> list[tuple[Part, object]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _left(value: object, path: Path, memory: object) -> Iterator[Path]:
    if not isinstance(memory, dict):
        return
    items = _items(value)
    for key, item in items:
        yield from _left(item, (*path, key), memory.get(key, {}))
    if not items:
        yield path
