"""The weights of the judgement: every number that decides which key or reference is believed.

They are set by hand, from reasoning about what each sign is worth; none is fitted to a database.
``bench/accuracy.py --weight composite.name=6`` shows what a change does.
"""

from dataclasses import dataclass, field

from fluid_build.profiling.weights.keys import KeySearchWeights, PrimaryKeyWeights
from fluid_build.profiling.weights.names import NameWeights
from fluid_build.profiling.weights.references import (
    CandidateWeights,
    CompositeWeights,
    ReferenceWeights,
    ValueWeights,
)

__all__ = [
    "DEFAULT_WEIGHTS",
    "CandidateWeights",
    "CompositeWeights",
    "KeySearchWeights",
    "NameWeights",
    "PrimaryKeyWeights",
    "ReferenceWeights",
    "ValueWeights",
    "Weights",
]


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights; a bench passes others to ``profile_source``."""

    names: NameWeights = field(default_factory=NameWeights)
    values: ValueWeights = field(default_factory=ValueWeights)
    reference: ReferenceWeights = field(default_factory=ReferenceWeights)
    candidate: CandidateWeights = field(default_factory=CandidateWeights)
    composite: CompositeWeights = field(default_factory=CompositeWeights)
    key_search: KeySearchWeights = field(default_factory=KeySearchWeights)
    primary_key: PrimaryKeyWeights = field(default_factory=PrimaryKeyWeights)


DEFAULT_WEIGHTS = Weights()
