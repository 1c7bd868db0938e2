"""What was observed of a source: one tuple for each kind of observation."""

from dataclasses import dataclass

from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.key_overlaps import KeyOverlap
from fluid_build.observations.same_moment import SameMoment


@dataclass(frozen=True, slots=True)
class Observations:
    """All observations of a source, each about tables and columns by their names there.

    An absent observation says nothing: it may not have been looked for.
    """

    same_moments: tuple[SameMoment, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    key_overlaps: tuple[KeyOverlap, ...] = ()


NO_OBSERVATIONS = Observations()
"""For a source without rows, and for models of a profile alone."""
