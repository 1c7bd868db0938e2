"""Every observation of a profiled source."""

from fluid_build.observations.aggregates import aggregates
from fluid_build.observations.closures import closures
from fluid_build.observations.contradicted_references import (
    contradicted_references,
    without_contradicted,
)
from fluid_build.observations.date_orders import date_orders
from fluid_build.observations.header_totals import header_totals
from fluid_build.observations.observed import NO_OBSERVATIONS, Observations
from fluid_build.observations.observed_tables import observed_tables, reporting_failures
from fluid_build.observations.recurring_services import recurring_services
from fluid_build.observations.row_formulas import row_formulas
from fluid_build.observations.row_identities import row_identities
from fluid_build.observations.running_levels import running_levels
from fluid_build.observations.same_moment import same_moments, twin_moments
from fluid_build.observations.shared_identifiers import (
    part_of_key_references,
    split_references,
    unlisted_identifiers,
)
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source


def observe(source: Source, profile: Profile, on_progress: OnProgress = ignore) -> Observations:
    """Return what the rows of a profiled source show; nothing where there is only structure.

    Nothing is written to the source. A table that a query fails on has fewer observations. Raises
    SourceUnreadableError if memory runs out or a file can't be read.
    """
    if not profile.has_data:
        return NO_OBSERVATIONS
    on_progress(Progress("observations", 0, 1))
    with reporting_failures(source):
        observations = _observe(source, profile)
    on_progress(Progress("observations", 1, 1))
    return observations


def _observe(source: Source, profile: Profile) -> Observations:
    by_name = observed_tables(source, profile)
    tables, connection = list(by_name.values()), source.connection
    contradicted = tuple(contradicted_references(connection, by_name, profile.foreign_keys))
    profile = without_contradicted(profile, contradicted)
    return Observations(
        same_moments=tuple(same_moments(connection, tables)),
        twin_moments=tuple(twin_moments(connection, tables)),
        date_orders=tuple(date_orders(connection, tables)),
        row_identities=tuple(row_identities(connection, by_name, profile.foreign_keys)),
        closures=tuple(closures(connection, by_name, profile)),
        aggregates=tuple(aggregates(connection, by_name, profile)),
        header_totals=tuple(header_totals(connection, by_name, profile.foreign_keys)),
        row_formulas=tuple(row_formulas(connection, tables, profile.foreign_keys)),
        running_levels=tuple(running_levels(connection, tables, profile.foreign_keys)),
        part_of_key_references=tuple(
            part_of_key_references(connection, by_name, profile.foreign_keys)
        ),
        split_references=tuple(split_references(connection, by_name, profile.foreign_keys)),
        recurring_services=tuple(recurring_services(connection, by_name, profile)),
        contradicted_references=contradicted,
        unlisted_identifiers=tuple(unlisted_identifiers(connection, by_name, profile.foreign_keys)),
    )
