"""Everything that a plan needs of a star."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY, Dimension, Join
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carrier, Carriers
from fluid_build.transform.plan.dimensional.calendar import calendar_build, time_of_day_build
from fluid_build.transform.plan.dimensional.dimension_checks import dimension_checks
from fluid_build.transform.plan.dimensional.dimensions import current_build, derived_build
from fluid_build.transform.plan.dimensional.fact_checks import fact_checks
from fluid_build.transform.plan.dimensional.facts import fact_build
from fluid_build.transform.plan.dimensional.hierarchies import (
    hierarchy_build,
    hierarchy_checks,
)
from fluid_build.transform.plan.dimensional.orphans import orphan_tests
from fluid_build.transform.plan.dimensional.rebuilds import finder_of, mart_rebuilds
from fluid_build.transform.plan.dimensional.service_days import (
    service_days_build,
    service_days_check,
    service_years,
)
from fluid_build.transform.plan.dimensional.snapshots import (
    snapshot_checks,
    snapshot_days,
)
from fluid_build.transform.plan.dimensional.star import (
    DELETED,
    FactOrBridge,
    Star,
    columns_of,
    joins_of,
    natural_key,
    own_attributes,
    references_of,
    star_of,
)
from fluid_build.transform.plan.dimensional.versioned_dimensions import versioned_builds
from fluid_build.transform.plan.elements import Build, BuildTest, Check, Rebuild, RowScope
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.quarantine import keys_by_table
from fluid_build.transform.plan.relied_keys import ReliedKey

# The keys of the source that a star is built by, each tested on its staging view.


def mart_keys(star: Star) -> Iterator[ReliedKey]:
    """Return natural keys, grains, and what rows are joined or looked up by.

    A join must find one row at most.
    """
    for dimension in star.model.dimensions:
        yield from _dimension_keys(star, dimension)
    for owner in (*star.owners, *star.snapshots):
        yield from _owner_keys(star, owner)


def _dimension_keys(star: Star, dimension: Dimension) -> Iterator[ReliedKey]:
    yield from _join_keys(star, dimension.joins)
    if star.is_kept(dimension):
        key = tuple(attribute.name for attribute in natural_key(star, dimension))
        yield _key(star, dimension.entity_name, key)


def _owner_keys(star: Star, owner: FactOrBridge) -> Iterator[ReliedKey]:
    primary = star.entities[owner.entity_name].primary_key
    if owner.grain_columns and primary is not None and primary.holds:
        yield _key(star, owner.entity_name, primary.attributes)
    yield from _join_keys(star, joins_of(owner))
    for reference in references_of(owner):
        dimension = star.dimensions[reference.dimension]
        if star.is_kept(dimension):
            own = own_attributes(dimension)
            columns = tuple(own[name] for name in reference.to_columns)
            yield _key(star, dimension.entity_name, columns, complete=False)


def _join_keys(star: Star, joins: Sequence[Join]) -> Iterator[ReliedKey]:
    for join in joins:
        relationship = star.relationships[join.relationship]
        columns = relationship.from_attributes if join.backwards else relationship.to_attributes
        yield _key(star, join.entity, columns, complete=False)


def _key(star: Star, entity: str, columns: tuple[str, ...], *, complete: bool = True) -> ReliedKey:
    return ReliedKey(star.names.staging(entity), entity, columns, complete=complete)


# Which relations of a star hold the columns of each table of the source.


def mart_carriers(star: Star) -> Carriers:
    """Return by table its own dimension, fact or bridge, then the dimensions it's joined into."""
    whole: dict[str, list[Carrier]] = {name: [] for name in star.entities}
    joined: dict[str, list[Carrier]] = {name: [] for name in star.entities}
    for dimension in star.model.dimensions:
        if dimension.is_generated:
            continue
        carriers = whole if star.is_kept(dimension) else joined
        carriers[dimension.entity_name].append(_dimension_carrier(star, dimension, ""))
        for join in dimension.joins:
            joined[join.entity].append(_dimension_carrier(star, dimension, join.name))
    for owner in star.owners:
        if owner.entity_name:
            whole[owner.entity_name].append(Carrier(owner.name, columns_of(owner)))
    return {name: (*whole[name], *joined[name]) for name in star.entities}


def _dimension_carrier(star: Star, dimension: Dimension, source: str) -> Carrier:
    """Return what a dimension carries of its own entity, or of the join named ``source``."""
    is_kept = star.is_kept(dimension)
    attributes = [
        attribute
        for attribute in dimension.attributes
        if attribute.attribute and attribute.source == source
    ]
    return Carrier(
        relation=dimension.name,
        columns={attribute.attribute: attribute.name for attribute in attributes},
        scope=RowScope(
            other_than=((dimension.surrogate_key, UNKNOWN_KEY),),
            current="is_current" if dimension.history else "",
            gone=DELETED if is_kept and not dimension.history else "",
        ),
        is_whole=not source,
        is_once=is_kept,
        unknown={
            attribute.attribute: attribute.unknown
            for attribute in attributes
            if source and attribute.unknown
        },
    )


@dataclass(frozen=True, slots=True)
class MartPlan:
    """The marts of a dimensional model on its staging."""

    star: Star

    def builds(self) -> tuple[Build, ...]:
        """Return the dimensions, facts and bridges, in the order of building.

        The calendar has the days of snapshots, so these are built before it.
        """
        star = self.star
        generated = [d for d in star.model.dimensions if d.is_generated]
        return (
            *(
                build
                for dimension in star.model.dimensions
                if not dimension.is_generated
                for build in _dimension(star, dimension)
            ),
            *(fact_build(star, snapshot) for snapshot in star.snapshots),
            *(_generated(star, dimension) for dimension in generated),
            *(fact_build(star, owner) for owner in star.owners),
            *(service_days_build(star, fact) for fact in star.service_facts),
            *(hierarchy_build(star, bridge) for bridge in star.hierarchies),
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
            *(c for bridge in star.hierarchies for c in hierarchy_checks(star, bridge)),
            *(check for fact in star.snapshots for check in snapshot_checks(star, fact)),
        )


def mart_plan(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build], present: PresentSource
) -> MartPlan:
    """Return the plan of a model's marts; ``staging`` has one build for each entity."""
    star = star_of(model, names, staging, present)
    relied_keys = (key for key in mart_keys(star) if present.has(key.table, *key.columns))
    return MartPlan(replace(star, keys=keys_by_table(relied_keys, model.conceptual)))


def _generated(star: Star, dimension: Dimension) -> Build:
    """Return the times of a day, or the calendar with the days that no column of the source has."""
    if dimension.dimension_type == "time":
        return time_of_day_build(dimension)
    years = [service_years(star, fact) for fact in star.service_facts]
    return calendar_build(star, dimension, [*map(snapshot_days, star.snapshots), *years])


def _dimension(star: Star, dimension: Dimension) -> tuple[Build, ...]:
    if star.is_derived(dimension):
        return (derived_build(star, dimension),)
    if dimension.history:
        return versioned_builds(star, dimension)
    return (current_build(star, dimension),)
