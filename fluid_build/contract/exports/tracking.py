"""A document that remembers which of its values were read, so that nothing is lost in silence.

Code that turns one format into another takes every value from here. What was never taken is what
the other format can't say.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeVar

from fluid_build.contract.structure import Part, Path

Json = dict[str, object]
T = TypeVar("T")


class TrackedMapping:
    """A mapping in a document, and which of its keys were taken.

    Reading a key as a type that its value doesn't have returns None, and leaves the value untaken.
    """

    def __init__(
        self, value: object, path: Path = (), memory: dict[Part, object] | None = None
    ) -> None:
        self.value: Mapping[str, object] = value if isinstance(value, dict) else {}
        self.exists = isinstance(value, dict)
        self.path = path
        self._memory: dict[Part, object] = {} if memory is None else memory

    def peek(self, key: str) -> object:
        """Return the value of a key, or None, without taking it."""
        return self.value.get(key)

    def take(self, key: str) -> object:
        """Take the value of a key with all that is in it; None where there is none."""
        return self._take(key, self.peek(key))

    def text(self, key: str) -> str | None:
        """Take a text."""
        value = self.peek(key)
        return self._take(key, value) if isinstance(value, str) else None

    def flag(self, key: str) -> bool | None:
        """Take a boolean."""
        value = self.peek(key)
        return self._take(key, value) if isinstance(value, bool) else None

    def number(self, key: str) -> int | float | None:
        """Take a number."""
        value = self.peek(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return self._take(key, value)

    def texts(self, key: str) -> list[str] | None:
        """Take a list of nothing but texts."""
        value = self.peek(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        return self._take(key, list(value))

    def labels(self) -> dict[str, str]:
        """Take the labels of an element of a FLUID contract."""
        labels = self.take("labels")
        return labels if isinstance(labels, dict) else {}

    def part(self, key: str) -> "TrackedMapping":
        """Return the mapping under a key, to take bit by bit; an absent one is empty."""
        if self.peek(key) == {}:
            self._memory[key] = None
        return TrackedMapping(self.peek(key), (*self.path, key), _below(self._memory, key))

    def parts(self, key: str) -> list["TrackedMapping"]:
        """Return the mappings of the list under a key, to take bit by bit."""
        value = self.peek(key)
        if not isinstance(value, list):
            return []
        if not value:
            self._memory[key] = None
        memory = _below(self._memory, key)
        path = (*self.path, key)
        return [
            TrackedMapping(item, (*path, at), _below(memory, at)) for at, item in enumerate(value)
        ]

    def take_untouched(self) -> Json:
        """Take every key of which nothing was taken yet, with all that is in it."""
        return {key: self.take(key) for key in self.value if not self.touched(key)}

    def take_rest(self) -> Json:
        """Take everything that wasn't taken yet; of a list, each item that wasn't taken whole."""
        rest = {}
        for key, value in self.value.items():
            untaken = _untaken(value, self._memory.get(key, {}))
            if untaken not in ({}, []):
                rest[key] = untaken
            self._memory[key] = None
        return rest

    def touched(self, key: str) -> bool:
        """Return whether anything under a key was taken."""
        return key in self._memory and _any_taken(self._memory[key])

    def left(self) -> Iterator[Path]:
        """Yield the path of every leaf that wasn't taken; an empty list or mapping is a leaf."""
        for key, item in self.value.items():
            yield from _left(item, (*self.path, key), self._memory.get(key, {}))

    def left_parts(self) -> Iterator[tuple[Path, int]]:
        """Yield what wasn't taken as the outermost parts that are wholly left, with their leaves.

        Each is a path and the number of values under it.
        """
        for key, item in self.value.items():
            yield from _left_parts(item, (*self.path, key), self._memory.get(key, {}))

    def _take(self, key: str, value: T) -> T:
        if key in self.value:
            self._memory[key] = None
        return value


def without_none(document: Mapping[str, object]) -> Json:
    """Return the document without the keys whose value is None."""
    return {key: value for key, value in document.items() if value is not None}


def is_finite(value: object) -> bool:
    """Return whether no number in a value is infinite or NaN."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    return all(map(is_finite, value)) if isinstance(value, list) else True


def _below(memory: dict[Part, object], key: Part) -> dict[Part, object]:
    """Return the memory of a key; of one that was taken whole, a new one that nobody asks."""
    inner = memory.setdefault(key, {})
    return inner if isinstance(inner, dict) else {}


def _any_taken(memory: object) -> bool:
    return not isinstance(memory, dict) or any(map(_any_taken, memory.values()))


def _untaken(value: object, memory: object) -> object:
    if not isinstance(memory, dict):
        return {}
    if isinstance(value, list):
        return [item for at, item in enumerate(value) if _is_left(item, memory.get(at, {}))]
    if not isinstance(value, dict):
        return value
    inner = {key: _untaken(item, memory.get(key, {})) for key, item in value.items()}
    return {key: item for key, item in inner.items() if item not in ({}, [])}


def _is_left(value: object, memory: object) -> bool:
    return next(_left(value, (), memory), None) is not None


def _left_parts(value: object, path: Path, memory: object) -> Iterator[tuple[Path, int]]:
    if not _any_taken(memory):
        yield path, sum(1 for _ in _left(value, path, {}))
        return
    if isinstance(memory, dict):
        for key, item in _items(value):
            yield from _left_parts(item, (*path, key), memory.get(key, {}))


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
