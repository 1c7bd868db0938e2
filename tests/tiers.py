"""How much a run of the tests takes, and which tests that is.

What a case of a test takes was measured by ``python bench/suite.py --write``, in seconds of
processor time (``tests/test_seconds.txt``). ``make test-fast`` runs the quick tests, which are
most. Of a slow test with many cases, ``make test`` runs one, chosen by the test's name, so that
tests of one subject run with different techniques, kinds and targets. Dear tests are left to
``make test-all``, but for those that carry a promise alone (``tests/tiers.toml``).
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from zlib import crc32

TESTS = Path(__file__).parent
TEST_SECONDS = TESTS / "test_seconds.txt"
QUICK_SECONDS = 0.015
"""Seven of ten cases take no longer, and all of these a minute of processor time."""
SLOW_SECONDS = 0.13
"""What takes longer runs a command, or loads a small database."""
DEAR_SECONDS = 0.25
"""What takes longer forges a database, loads a vault twice, or builds a whole project with dbt."""


class Tier(IntEnum):
    """How much a run takes; each tier has all tests of those before it."""

    FAST = 0
    """The quick tests: ``make test-fast``."""
    TEST = 1
    """Those, what isn't slow, a case of each slow test, and the promises: ``make test``."""
    SLOW = 2
    """Those, and all cases of slow tests; what a run takes that names files."""
    ALL = 3
    """Those, and larger sweeps of what other tests check: ``make test-all``."""


EXAMPLES = {Tier.FAST: 5, Tier.TEST: 5, Tier.SLOW: 20, Tier.ALL: 300}
"""How many examples Hypothesis tries of each property, where the test doesn't say."""


@dataclass(frozen=True)
class Case:
    """A test with its parameters, by its id without ``tests/``, and what running it takes."""

    id: str
    is_thorough: bool = False
    uses_server: bool = False
    needs_dev: bool = False
    """It needs packages that only ``make test-all`` installs."""

    @property
    def test(self) -> str:
        """The test's id without the parameters."""
        return self.id.partition("[")[0]


@dataclass(frozen=True)
class Tiers:
    """What is known of tests by their ids, all without ``tests/``.

    ``seconds``: of each test that isn't quick, what a case takes; ``promises``: dear tests and
    single cases that ``make test`` runs all the same; ``dev_only``: modules and ``folders/`` that
    need packages which only ``make test-all`` installs.
    """

    seconds: Mapping[str, float]
    promises: frozenset[str]
    dev_only: tuple[str, ...]

    def of(self, cases: Iterable[Case]) -> dict[str, Tier]:
        """Return the first tier that takes each case of the tests that are there, by its id."""
        tests = defaultdict(list)
        for case in cases:
            tests[case.test].append(case)
        return {
            case.id: tier for test, all_of in tests.items() for case, tier in self._of(test, all_of)
        }

    def _of(self, test: str, cases: list[Case]) -> list[tuple[Case, Tier]]:
        seconds = self.seconds.get(test, 0.0)
        installed = [case for case in cases if not (case.needs_dev or self.is_dev_only(case.id))]
        slow = [case for case in installed if case.uses_server or seconds > SLOW_SECONDS]
        chosen = {slow[crc32(test.encode()) % len(slow)].id} if slow else set()
        kept = self.promises | (chosen if seconds <= DEAR_SECONDS else set())

        def tier_of(case: Case) -> Tier:
            if case.is_thorough:
                return Tier.ALL
            if case not in installed:
                return Tier.SLOW
            if case not in slow:
                return Tier.FAST if seconds <= QUICK_SECONDS else Tier.TEST
            return Tier.TEST if case.id in kept or test in kept else Tier.SLOW

        return [(case, tier_of(case)) for case in cases]

    def is_dev_only(self, place: str) -> bool:
        """Return True if a test, module or ``folder/`` needs what ``make test`` doesn't install."""
        return any(
            place == only
            or place.startswith(only if only.endswith("/") else (f"{only}::", f"{only}["))
            for only in self.dev_only
        )

    def unmatched(self, cases: Iterable[Case]) -> list[str]:
        """Return the lines that no case answers to: those of tests that are gone or renamed."""
        known = {name for case in cases for name in (case.id, case.test)}
        return sorted((self.promises | self.seconds.keys()) - known)


@cache
def read_tiers() -> Tiers:
    """Read ``test_seconds.txt``, and ``tiers.toml``, which lists promises by what they promise."""
    document = tomllib.loads((TESTS / "tiers.toml").read_text(encoding="utf-8"))
    lines = (line.split() for line in TEST_SECONDS.read_text(encoding="utf-8").splitlines())
    return Tiers(
        seconds={test: float(seconds) for seconds, test in lines},
        promises=frozenset(case for cases in document["promises"].values() for case in cases),
        dev_only=tuple(document["dev_only"]),
    )
