"""The weights of the judgement: every number that decides which key or reference is believed.

They are set by hand, from reasoning about what each sign is worth; none is fitted to a database.
``bench/accuracy.py --weight composite.name=6`` shows what a change does.
"""

from dataclasses import dataclass

from fluid_build.profiling.weights.composites import CompositeWeights
from fluid_build.profiling.weights.keys import KeySearchWeights, PrimaryKeyWeights
from fluid_build.profiling.weights.names import NameWeights
from fluid_build.profiling.weights.references import (
    CandidateWeights,
    ReferenceWeights,
    ValueWeights,
)

__all__ = [
    "CandidateWeights",
    "CompositeWeights",
    "DEFAULT_WEIGHTS",
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

    names: NameWeights = NameWeights()
    values: ValueWeights = ValueWeights()
    reference: ReferenceWeights = ReferenceWeights()
    candidate: CandidateWeights = CandidateWeights()
    composite: CompositeWeights = CompositeWeights()
    key_search: KeySearchWeights = KeySearchWeights()
    primary_key: PrimaryKeyWeights = PrimaryKeyWeights()


DEFAULT_WEIGHTS = Weights()
