"""Which tests a run takes: the fast ones, those that carry a promise, the slow ones, or all.

``tests/tiers.toml`` says which tests are slow, and which of these carry a promise alone. A module
of which a run takes no test isn't even imported, so a run needs only the packages of its own tests.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent


class Tier(IntEnum):
    """How much a run takes; each tier has all tests of those before it."""

    FAST = 0
    """Tests that take less than a quarter of a second: ``make test-fast``."""
    TEST = 1
    """Those, and the slow tests that alone carry a promise: ``make test``."""
    SLOW = 2
    """Those, and all other slow tests; what a run takes that names files."""
    ALL = 3
    """Those, and larger sweeps of what other tests check: ``make test-all``."""


@dataclass(frozen=True)
class Tiers:
    """The content of ``tiers.toml``: prefixes of the ids of tests, without ``tests/``."""

    slow: tuple[str, ...]
    promises: tuple[str, ...]

    def tier_of(self, test: str, *, is_thorough: bool = False) -> Tier:
        """Return the first tier that takes a test, by its id without ``tests/``."""
        if is_thorough:
            return Tier.ALL
        if not any(_begins(test, place) for place in self.slow):
            return Tier.FAST
        return Tier.TEST if any(_begins(test, place) for place in self.promises) else Tier.SLOW

    def leaves_out(self, place: str, tier: Tier) -> bool:
        """Return True if a run of a tier takes no test of a module, or of a ``folder/``."""
        if tier >= Tier.SLOW or not any(_begins(place, slow) for slow in self.slow):
            return False
        return tier < Tier.TEST or not any(
            _begins(promise, place) or _begins(place, promise) for promise in self.promises
        )

    def unmatched(self, tests: Iterable[str]) -> list[str]:
        """Return the entries that no test answers to: those of tests that are gone or renamed."""
        known = list(tests)
        return [
            place
            for place in (*self.slow, *self.promises)
            if not any(_begins(test, place) for test in known)
        ]


def _begins(test: str, place: str) -> bool:
    """Return True if a place (folder/, module, test or one of its cases) holds a test."""
    rest = test.removeprefix(place)
    return len(rest) < len(test) and (place.endswith("/") or rest[:1] in ("", ":", "["))


@cache
def read_tiers() -> Tiers:
    """Read ``tiers.toml``; its promises are listed by what they promise."""
    document = tomllib.loads((TESTS / "tiers.toml").read_text(encoding="utf-8"))
    promises: dict[str, Sequence[str]] = document["promises"]
    return Tiers(
        slow=tuple(document["slow"]),
        promises=tuple(place for places in promises.values() for place in places),
    )
