"""Everything that a plan needs of a star."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.dimensional.elements import Dimension
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carriers
from fluid_build.transform.plan.dimensional.calendar import calendar_build
from fluid_build.transform.plan.dimensional.carriers import mart_carriers
from fluid_build.transform.plan.dimensional.dimension_checks import dimension_checks
from fluid_build.transform.plan.dimensional.dimensions import current_build, derived_build
from fluid_build.transform.plan.dimensional.fact_checks import fact_checks
from fluid_build.transform.plan.dimensional.facts import fact_build
from fluid_build.transform.plan.dimensional.keys import mart_keys
from fluid_build.transform.plan.dimensional.orphans import orphan_tests
from fluid_build.transform.plan.dimensional.rebuilds import finder_of, mart_rebuilds
from fluid_build.transform.plan.dimensional.service_days import (
    service_days_build,
    service_days_check,
    service_years,
)
from fluid_build.transform.plan.dimensional.snapshots import (
    snapshot_build,
    snapshot_checks,
    snapshot_days,
)
from fluid_build.transform.plan.dimensional.star import Star, is_generated, star_of
from fluid_build.transform.plan.dimensional.versioned_dimensions import versioned_builds
from fluid_build.transform.plan.elements import Build, BuildTest, Check, Rebuild
from fluid_build.transform.plan.relied_keys import ReliedKey


@dataclass(frozen=True, slots=True)
class MartPlan:
    """The marts of a dimensional model on its staging."""

    star: Star

    def builds(self) -> tuple[Build, ...]:
        """Return the dimensions, facts and bridges, in the order of building.

        The calendar has the days of snapshots, so these are built before it.
        """
        star = self.star
        calendars = [d for d in star.model.dimensions if is_generated(d)]
        return (
            *(
                build
                for dimension in star.model.dimensions
                if not is_generated(dimension)
                for build in _dimension(star, dimension)
            ),
            *(snapshot_build(star, snapshot) for snapshot in star.snapshots),
            *(_calendar(star, calendar) for calendar in calendars),
            *(fact_build(star, owner) for owner in star.owners),
            *(service_days_build(star, fact) for fact in star.service_facts),
        )

    def relied_keys(self) -> Iterator[ReliedKey]:
        """Return the keys of the source that the marts are built by."""
        return mart_keys(self.star)

    def reference_tests(self) -> Mapping[str, tuple[BuildTest, ...]]:
        """Return by relation the tests that what it refers to was in the source."""
        return orphan_tests(self.star)

    def carriers(self) -> Carriers:
        """Return which marts hold the columns of each table."""
        return mart_carriers(self.star)

    def rebuilds(self) -> tuple[Rebuild, ...]:
        """Return for each source table the query that rebuilds it from the star."""
        return mart_rebuilds(self.star)

    def checks(self) -> tuple[Check, ...]:
        """Return rows at each grain, sums of measures, and where each reference leads."""
        star, finder = self.star, finder_of(self.star)
        return (
            *(
                check
                for dimension in star.model.dimensions
                for check in dimension_checks(star, dimension)
            ),
            *(check for owner in star.owners for check in fact_checks(star, owner, finder)),
            *(service_days_check(star, fact) for fact in star.service_facts),
            *(check for fact in star.snapshots for check in snapshot_checks(star, fact)),
        )


def mart_plan(model: LogicalModel, names: SqlNames, staging: Sequence[Build]) -> MartPlan:
    """Return the plan of a model's marts; ``staging`` has one build for each entity."""
    return MartPlan(star_of(model, names, staging))


def _calendar(star: Star, dimension: Dimension) -> Build:
    """Return the calendar, with the days that aren't in columns of the source."""
    years = [service_years(star, fact) for fact in star.service_facts]
    return calendar_build(star, dimension, [*map(snapshot_days, star.snapshots), *years])


def _dimension(star: Star, dimension: Dimension) -> tuple[Build, ...]:
    if star.is_derived(dimension):
        return (derived_build(star, dimension),)
    if dimension.history:
        return versioned_builds(star, dimension)
    return (current_build(star, dimension),)
