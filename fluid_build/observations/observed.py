"""What was observed of a source: one tuple for each kind of observation."""

from dataclasses import dataclass

from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.closures import Closure
from fluid_build.observations.contradicted_references import ContradictedReference
from fluid_build.observations.date_orders import DateOrder
from fluid_build.observations.header_totals import HeaderTotal
from fluid_build.observations.key_overlaps import KeyOverlap
from fluid_build.observations.key_uses import KeyUse
from fluid_build.observations.recurring_services import RecurringService
from fluid_build.observations.row_formulas import RowFormula
from fluid_build.observations.row_identities import RowIdentity
from fluid_build.observations.running_levels import RunningLevel
from fluid_build.observations.same_moment import SameMoment, TwinMoment
from fluid_build.observations.shared_identifiers import (
    PartOfKeyReference,
    SplitReference,
    UnlistedIdentifier,
)


@dataclass(frozen=True, slots=True)
class Observations:
    """All observations of a source, each about tables and columns by their names there.

    An absent observation says nothing: it may not have been looked for.
    """

    same_moments: tuple[SameMoment, ...] = ()
    twin_moments: tuple[TwinMoment, ...] = ()
    date_orders: tuple[DateOrder, ...] = ()
    row_identities: tuple[RowIdentity, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    closures: tuple[Closure, ...] = ()
    key_overlaps: tuple[KeyOverlap, ...] = ()
    key_uses: tuple[KeyUse, ...] = ()
    header_totals: tuple[HeaderTotal, ...] = ()
    row_formulas: tuple[RowFormula, ...] = ()
    running_levels: tuple[RunningLevel, ...] = ()
    part_of_key_references: tuple[PartOfKeyReference, ...] = ()
    split_references: tuple[SplitReference, ...] = ()
    recurring_services: tuple[RecurringService, ...] = ()
    contradicted_references: tuple[ContradictedReference, ...] = ()
    unlisted_identifiers: tuple[UnlistedIdentifier, ...] = ()


NO_OBSERVATIONS = Observations()
"""For a source without rows, and for models of a profile alone."""
