"""The SQL of dimensions with a history: one row for each version of each member.

Two relations: the versions only ever get rows added (``versions.py``), and the dimension is
rebuilt from them. Overwritten columns come from the source of today, lookups from the version's
own references.
"""

from fluid_build.modeling.dimensional.elements import Dimension
from fluid_build.transform.plan.dimensional.dimensions import (
    dimension_build,
    is_in_versions,
    members_arguments,
    natural_key_argument,
    natural_key_types,
)
from fluid_build.transform.plan.dimensional.mart_calls import (
    hash_as,
    mart_call,
    own_columns_argument,
)
from fluid_build.transform.plan.dimensional.star import Star, held_members
from fluid_build.transform.plan.dimensional.versions import (
    applied_in_star,
    grouping,
    versions_build,
)
from fluid_build.transform.plan.elements import Build, Relation

_MEMBERS = "members"
"""What the versions are called in the dimension's macro."""


def versioned_builds(star: Star, dimension: Dimension) -> tuple[Build, ...]:
    """Return the builds of a dimension's versions and of the dimension itself."""
    return versions_build(star, dimension), _dimension(star, dimension)


def _dimension(star: Star, dimension: Dimension) -> Build:
    entity = dimension.entity_name
    own = [attribute for attribute in dimension.attributes if not attribute.source]
    in_versions = {
        star.column(entity, attribute.attribute): _MEMBERS
        for attribute in own
        if is_in_versions(dimension, attribute)
    }
    columns = [star.column(entity, attribute.attribute) for attribute in own]
    key = natural_key_types(star, dimension, _MEMBERS)
    applied = applied_in_star(star, entity)
    call, made = mart_call(
        "versioned_dimension",
        dimension.name,
        staging=Relation(star.names.staging(entity)),
        history=Relation(dimension.history),
        key=dimension.surrogate_key,
        durable_key=dimension.durable_key,
        natural_key=natural_key_argument(star, dimension),
        columns=own_columns_argument(star, dimension),
        overwritten=[column for column in columns if column not in in_versions],
        grouped_by=grouping(star, dimension),
        hash_as=hash_as(key),
        held=held_members(star, dimension),
        hash_durable_key_as=hash_as(key, is_single=True) if len(key) == 1 else hash_as(key),
        holds_from=applied.column.name if applied else "",
        **members_arguments(star, dimension, in_versions),
    )
    return dimension_build(star, dimension, call, made)
