"""The techniques by name: how a profile becomes a logical model."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from fluid_build.errors import UsageError
from fluid_build.modeling import flat
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile

TECHNIQUES: Mapping[str, Callable[[Profile], LogicalModel]] = {"flat": flat.build}


def check_technique(technique: str) -> None:
    """Raise UsageError for a technique that is not known, naming those that are."""
    if technique in TECHNIQUES:
        return
    near = get_close_matches(technique.strip().lower(), TECHNIQUES, n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(
        f"there is no technique {technique!r}",
        hint=f"{meant}Known techniques: {', '.join(sorted(TECHNIQUES))}.",
    )


def build_model(profile: Profile, technique: str = "flat") -> LogicalModel:
    """The logical model of a profile; UsageError for an unknown technique."""
    check_technique(technique)
    return TECHNIQUES[technique](profile)
