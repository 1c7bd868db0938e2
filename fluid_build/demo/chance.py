"""Seeded chance, and numbers whose check digits are right.

Only ``Random.random`` is used: Python promises the same sequence for the same seed in every
version for it alone.
"""

import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

Row: TypeAlias = tuple[object, ...]
"""One row of a table, as SQLite stores it."""


@dataclass(frozen=True)
class Weighted(Generic[T]):
    """Things to pick from, some more often than others."""

    things: Sequence[T]
    cumulative: Sequence[float]


def weighted(things: Sequence[T], weights: Sequence[float]) -> Weighted[T]:
    """Things, each with its weight; weights need not add up to anything."""
    return Weighted(things, tuple(accumulate(weights)))


def by_rank(things: Sequence[T], exponent: float = 1.0) -> Weighted[T]:
    """Things whose weight falls with their rank, as sales and cities do (Zipf)."""
    return weighted(things, [(rank + 1) ** -exponent for rank in range(len(things))])


class Chance:
    """All the chance there is in the shop: one sequence from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        """Whether something of that probability happens this time."""
        return self._random() < probability

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def around(self, middle: float, spread: float) -> float:
        """A number near the middle, seldom further away than twice the spread."""
        return middle + spread * (sum(self._random() for _ in range(6)) - 3) * 1.414

    def pick(self, things: Sequence[T]) -> T:
        """One of the things, all equally likely."""
        return things[int(self._random() * len(things))]

    def pick_from(self, choice: Weighted[T]) -> T:
        """One of the things, by their weights."""
        point = self._random() * choice.cumulative[-1]
        return choice.things[bisect(choice.cumulative, point)]

    def digits(self, count: int) -> str:
        """That many decimal digits."""
        return f"{int(self._random() * 10**count):0{count}d}"


def with_luhn_digit(digits: str) -> str:
    """A card number: the digits and their Luhn check digit (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return f"{digits}{-total % 10}"


def with_ean_digit(digits: str) -> str:
    """An article number: twelve digits and their check digit (GS1, EAN-13)."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def iban(country: str, account: str) -> str:
    """A bank account number with its two check digits (ISO 13616, modulo 97)."""
    letters = "".join(str(int(char, 36)) for char in f"{account}{country}00")
    return f"{country}{98 - int(letters) % 97:02d}{account}"
