"""The builds of a star, in the order of building: dimensions, then what refers to them."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.dimensional.elements import Dimension
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carriers
from fluid_build.transform.plan.dimensional.calendar import calendar_build
from fluid_build.transform.plan.dimensional.carriers import mart_carriers
from fluid_build.transform.plan.dimensional.columns import is_generated
from fluid_build.transform.plan.dimensional.dimensions import derived_build, dimension_builds
from fluid_build.transform.plan.dimensional.facts import bridge_build, fact_build
from fluid_build.transform.plan.dimensional.keys import mart_keys
from fluid_build.transform.plan.dimensional.star import Star, star_of
from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.relied_keys import ReliedKey


def mart_builds(
    model: LogicalModel, names: SqlNames, _staging: Sequence[Build]
) -> tuple[Build, ...]:
    """The marts on the staging of a dimensional model."""
    star = star_of(model, names)
    return (
        *(build for one in star.model.dimensions for build in _dimension(star, one)),
        *(fact_build(star, one) for one in star.model.facts),
        *(bridge_build(star, one) for one in star.model.bridges),
    )


def mart_relation_carriers(
    model: LogicalModel, names: SqlNames, _staging: Sequence[Build]
) -> Carriers:
    """Which marts hold the columns of each table."""
    return mart_carriers(star_of(model, names))


def mart_relied_keys(
    model: LogicalModel, names: SqlNames, _staging: Sequence[Build]
) -> Iterator[ReliedKey]:
    """The keys of the source that the marts are built by."""
    return mart_keys(star_of(model, names))


def _dimension(star: Star, dimension: Dimension) -> tuple[Build, ...]:
    if is_generated(dimension):
        return (calendar_build(star, dimension),)
    if any(fact.entity_name == dimension.entity_name for fact in star.model.facts):
        return (derived_build(star, dimension),)
    return dimension_builds(star, dimension)
