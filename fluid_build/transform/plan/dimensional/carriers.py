"""Which relations of a star hold the columns of each table of the source."""

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY, Dimension
from fluid_build.transform.plan.carried_tests import Carrier, Carriers
from fluid_build.transform.plan.dimensional.star import (
    DELETED,
    Star,
    columns_of,
    is_generated,
)
from fluid_build.transform.plan.elements import RowScope


def mart_carriers(star: Star) -> Carriers:
    """Return by table its own dimension, fact or bridge, then the dimensions it's joined into."""
    whole: dict[str, list[Carrier]] = {name: [] for name in star.entities}
    joined: dict[str, list[Carrier]] = {name: [] for name in star.entities}
    for dimension in star.model.dimensions:
        if is_generated(dimension):
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
