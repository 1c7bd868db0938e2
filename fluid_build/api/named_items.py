"""Things by their names, in their order."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from fluid_build.text import did_you_mean

Item = TypeVar("Item")


class NamedItems(Mapping[str, Item]):
    """A read-only mapping of names, in the order of the source.

    An unknown name raises KeyError with the nearest name there is.
    """

    def __init__(self, noun: str, items: Mapping[str, Item]) -> None:
        self._noun = noun
        self._items = dict(items)

    def __getitem__(self, name: str) -> Item:
        if name in self._items:
            return self._items[name]
        guess = did_you_mean(str(name), self._items).rstrip()
        raise KeyError(f"There is no {self._noun} {name!r}. {guess}".rstrip())

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<{len(self)} {self._noun}s: {', '.join(self._items)}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._items)
