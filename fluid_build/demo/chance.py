"""Seeded chance, and numbers with correct check digits.

Only ``Random.random`` is used: it alone is promised to give the same sequence in every Python.
"""

import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Weighted(Generic[T]):
    """Items to pick from, some more often than others."""

    items: Sequence[T]
    cumulative: Sequence[float]


def weighted(items: Sequence[T], weights: Sequence[float]) -> Weighted[T]:
    """Return items with a relative weight each."""
    return Weighted(items, tuple(accumulate(weights)))


def by_rank(items: Sequence[T], exponent: float) -> Weighted[T]:
    """Return items whose weight falls with their rank, as sales and cities do (Zipf)."""
    return weighted(items, [(rank + 1) ** -exponent for rank in range(len(items))])


class Chance:
    """The shop's only source of chance: one sequence from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        """Return True with that probability."""
        return self._random() < probability

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def around(self, middle: float, spread: float) -> float:
        """Return a number near the middle, seldom further away than twice the spread."""
        return middle + spread * (sum(self._random() for _ in range(6)) - 3) * 1.414

    def pick(self, items: Sequence[T]) -> T:
        """Return an item; all are equally likely."""
        return items[int(self._random() * len(items))]

    def pick_weighted(self, weighted_items: Weighted[T]) -> T:
        """Return an item, chosen by the weights."""
        point = self._random() * weighted_items.cumulative[-1]
        return weighted_items.items[bisect(weighted_items.cumulative, point)]

    def digits(self, count: int) -> str:
        """Return that many decimal digits."""
        return f"{int(self._random() * 10**count):0{count}d}"

    def fill(self, pattern: str) -> str:
        """Return the pattern with a digit for every # and a letter for every A."""
        choices = {"#": "0123456789", "A": "ABCDEFGHJKLMNPRSTUVWXY"}
        return "".join(self.pick(choices[c]) if c in choices else c for c in pattern)

    def uuid(self) -> str:
        """Return a UUID of version 4 (RFC 9562)."""
        digits = "".join(f"{self.between(0, 65_535):04x}" for _ in range(8))
        variant = self.pick("89ab")
        third, fourth = f"4{digits[13:16]}", f"{variant}{digits[17:20]}"
        return f"{digits[:8]}-{digits[8:12]}-{third}-{fourth}-{digits[20:]}"


def with_luhn_digit(digits: str) -> str:
    """Append the check digit of a card number (Luhn, ISO/IEC 7812-1)."""
    doubled = (int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(digits)))
    return f"{digits}{-sum(sum(divmod(number, 10)) for number in doubled) % 10}"


def with_ean_digit(digits: str) -> str:
    """Append the check digit of an article number (GS1, EAN-13)."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def iban(country: str, account: str) -> str:
    """Return an IBAN: the account with its two check digits (ISO 13616, modulo 97)."""
    number = "".join(str(int(character, 36)) for character in f"{account}{country}00")
    return f"{country}{98 - int(number) % 97:02d}{account}"
