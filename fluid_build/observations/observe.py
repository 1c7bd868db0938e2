"""Every observation of a profiled source."""

from collections.abc import Set
from dataclasses import dataclass, fields, replace
from itertools import chain

from fluid_build.observations.aggregates import Aggregate, aggregates
from fluid_build.observations.closures import Closure, closures
from fluid_build.observations.contradicted_references import (
    ContradictedReference,
    contradicted_references,
    without_contradicted,
)
from fluid_build.observations.date_orders import DateOrder, date_orders
from fluid_build.observations.header_totals import HeaderTotal, header_totals
from fluid_build.observations.hierarchies import Hierarchy, hierarchies
from fluid_build.observations.key_overlaps import KeyOverlap, key_overlaps
from fluid_build.observations.key_uses import KeyUse, key_uses
from fluid_build.observations.observed_tables import observed_tables, reporting_failures
from fluid_build.observations.period_levels import PeriodLevel, period_levels
from fluid_build.observations.recurring_services import RecurringService, recurring_services
from fluid_build.observations.repeated_references import (
    RepeatedReference,
    repeated_references,
    without_repeated,
)
from fluid_build.observations.row_formulas import RowFormula, row_formulas
from fluid_build.observations.row_identities import RowIdentity, row_identities
from fluid_build.observations.running_levels import RunningLevel, running_levels
from fluid_build.observations.same_moment import SameMoment, TwinMoment, same_moments, twin_moments
from fluid_build.observations.shared_identifiers import (
    PartOfKeyReference,
    SplitReference,
    UnlistedIdentifier,
    part_of_key_references,
    split_references,
    unlisted_identifiers,
)
from fluid_build.observations.times_of_day import TimesOfDay, times_of_day
from fluid_build.observations.whole_shares import WholeShares, whole_shares
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource


@dataclass(frozen=True, slots=True)
class Observations:
    """All observations of a source, each about tables and columns by their names there.

    An absent observation says nothing: it may not have been looked for.
    """

    same_moments: tuple[SameMoment, ...] = ()
    twin_moments: tuple[TwinMoment, ...] = ()
    date_orders: tuple[DateOrder, ...] = ()
    times_of_day: tuple[TimesOfDay, ...] = ()
    row_identities: tuple[RowIdentity, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    closures: tuple[Closure, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    key_overlaps: tuple[KeyOverlap, ...] = ()
    key_uses: tuple[KeyUse, ...] = ()
    header_totals: tuple[HeaderTotal, ...] = ()
    row_formulas: tuple[RowFormula, ...] = ()
    running_levels: tuple[RunningLevel, ...] = ()
    period_levels: tuple[PeriodLevel, ...] = ()
    part_of_key_references: tuple[PartOfKeyReference, ...] = ()
    split_references: tuple[SplitReference, ...] = ()
    recurring_services: tuple[RecurringService, ...] = ()
    contradicted_references: tuple[ContradictedReference, ...] = ()
    repeated_references: tuple[RepeatedReference, ...] = ()
    unlisted_identifiers: tuple[UnlistedIdentifier, ...] = ()
    whole_shares: tuple[WholeShares, ...] = ()


NO_OBSERVATIONS = Observations()
"""For a source without rows, and for models of a profile alone."""


def observe(source: Source, profile: Profile, on_progress: OnProgress = ignore) -> Observations:
    """Return what the rows of a profiled source show; nothing where there is only structure.

    Nothing is written to the source. A table that a query fails on has fewer observations. Raises
    SourceUnreadableError if memory runs out or a file can't be read.
    """
    if not profile.has_data:
        return NO_OBSERVATIONS
    on_progress(Progress("observations", 0, 1))
    with reporting_failures(source):
        by_name = observed_tables(source, profile)
        tables, connection = list(by_name.values()), source.connection
        contradicted = tuple(contradicted_references(connection, by_name, profile.foreign_keys))
        profile = without_contradicted(profile, contradicted)
        repeated = tuple(repeated_references(connection, by_name, profile.foreign_keys))
        profile = without_repeated(profile, repeated)
        observations = Observations(
            same_moments=tuple(same_moments(connection, tables)),
            twin_moments=tuple(twin_moments(connection, tables)),
            date_orders=tuple(date_orders(connection, tables)),
            times_of_day=tuple(times_of_day(connection, tables)),
            row_identities=tuple(row_identities(connection, by_name, profile.foreign_keys)),
            closures=tuple(closures(connection, by_name, profile)),
            hierarchies=tuple(hierarchies(connection, by_name, profile.foreign_keys)),
            aggregates=tuple(aggregates(connection, by_name, profile)),
            header_totals=tuple(header_totals(connection, by_name, profile.foreign_keys)),
            row_formulas=tuple(row_formulas(connection, tables, profile.foreign_keys)),
            running_levels=tuple(running_levels(connection, tables, profile.foreign_keys)),
            period_levels=tuple(period_levels(connection, tables, profile.foreign_keys)),
            part_of_key_references=tuple(
                part_of_key_references(connection, by_name, profile.foreign_keys)
            ),
            split_references=tuple(split_references(connection, by_name, profile.foreign_keys)),
            recurring_services=tuple(recurring_services(connection, by_name, profile)),
            contradicted_references=contradicted,
            repeated_references=repeated,
            unlisted_identifiers=tuple(
                unlisted_identifiers(connection, by_name, profile.foreign_keys)
            ),
            whole_shares=tuple(whole_shares(connection, by_name, profile.foreign_keys)),
        )
    on_progress(Progress("observations", 1, 1))
    return observations


def observe_combined(
    source: CombinedSource, profile: Profile, on_progress: OnProgress = ignore
) -> Observations:
    """Return what the rows of several profiled sources show, as ``observe`` does for one."""
    parts = [
        observe(part, _only(profile, {table.name for table in part.tables}), on_progress)
        for part in source.parts
    ]
    merged = Observations(
        **{
            field.name: tuple(chain.from_iterable(getattr(part, field.name) for part in parts))
            for field in fields(Observations)
        }
    )
    tables = list(observed_tables(source, profile).values())
    with reporting_failures(source):
        return replace(
            merged,
            key_overlaps=tuple(key_overlaps(source.connection, tables)),
            key_uses=tuple(key_uses(source.connection, tables, profile.foreign_keys)),
        )


def _only(profile: Profile, tables: Set[str]) -> Profile:
    """Return the profile of some tables; references between sources aren't in it."""
    return profile.model_copy(
        update={
            "tables": tuple(table for table in profile.tables if table.name in tables),
            "foreign_keys": tuple(k for k in profile.foreign_keys if k.from_table in tables),
            "candidates": tuple(c for c in profile.candidates if c.from_table in tables),
        }
    )
