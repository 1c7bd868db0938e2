"""The references that a profile judges, and how far its confidence is from how often it's right."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.keys.naming import Names
from bench.keys.scores import key_of, true_keys
from fluid_build.profiling.choose.calibration import Role
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile

_BINS = 10


@dataclass(frozen=True)
class JudgedPair:
    """A reference that was judged: chosen or not, with its confidence and whether it's true."""

    database: str
    role: Role
    confidence: float
    is_true: bool

    @property
    def log_odds(self) -> float:
        """The log odds of a confidence that isn't calibrated, which is rounded to 4 digits."""
        share = min(max(self.confidence, 0.00005), 0.99995)
        return math.log(share / (1.0 - share))


def judged_pairs(profile: Profile, truth: dict, names: Names) -> list[JudgedPair]:
    """Return what a profile judges; implied references, and those the data denies, don't count."""
    true = true_keys(truth, names)
    return [
        JudgedPair(truth["name"], role, reference.confidence, key_of(reference) in true.supported)
        for role, reference in _roles(profile)
        if key_of(reference) not in true.unsupported
    ]


def _roles(profile: Profile) -> Iterator[tuple[Role, ForeignKey | Candidate]]:
    for key in profile.foreign_keys:
        if not key.implied:
            yield "composite" if len(key.from_columns) > 1 else "single", key
    for candidate in profile.candidates:
        role: Role = "composite" if len(candidate.from_columns) > 1 else "single"
        yield "ruled_out" if candidate.ruled_out else role, candidate


@dataclass(frozen=True)
class Bin:
    """The pairs whose confidence is in one tenth of the scale."""

    pairs: int
    stated: float
    true: float


def bins(pairs: Iterable[JudgedPair]) -> list[Bin]:
    """Return ten bins of equal width: mean confidence and share of true pairs in each."""
    groups: list[list[JudgedPair]] = [[] for _ in range(_BINS)]
    for pair in pairs:
        groups[min(int(pair.confidence * _BINS), _BINS - 1)].append(pair)
    return [
        Bin(
            len(group),
            sum(pair.confidence for pair in group) / max(len(group), 1),
            sum(pair.is_true for pair in group) / max(len(group), 1),
        )
        for group in groups
    ]


def expected_calibration_error(pairs: Sequence[JudgedPair]) -> float:
    """Return the mean distance between stated and true shares, weighted by the pairs in a bin."""
    distances = (abs(each.stated - each.true) * each.pairs for each in bins(pairs))
    return sum(distances) / max(len(pairs), 1)
