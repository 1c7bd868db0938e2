"""Which relations of a star hold the columns of each table of the source."""

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY, Bridge, Dimension, Fact
from fluid_build.transform.plan.carried_tests import Carrier, Carriers
from fluid_build.transform.plan.dimensional.columns import is_generated
from fluid_build.transform.plan.dimensional.dimensions import DELETED, is_kept
from fluid_build.transform.plan.dimensional.facts import columns_of_owner
from fluid_build.transform.plan.dimensional.star import Star
from fluid_build.transform.plan.elements import RowScope


def mart_carriers(star: Star) -> Carriers:
    """By table its own dimension, fact or bridge, then dimensions that it was joined into."""
    whole: dict[str, list[Carrier]] = {name: [] for name in star.entities}
    joined: dict[str, list[Carrier]] = {name: [] for name in star.entities}
    for dimension in star.model.dimensions:
        if is_generated(dimension):
            continue
        own = _of_dimension(star, dimension, "")
        (whole if is_kept(star, dimension) else joined)[dimension.entity_name].append(own)
        for join in dimension.joins:
            joined[join.entity].append(_of_dimension(star, dimension, join.name))
    owners: tuple[Fact | Bridge, ...] = (*star.model.facts, *star.model.bridges)
    for owner in owners:
        if owner.entity_name:
            carrier = Carrier(owner.name, columns_of_owner(owner))
            whole[owner.entity_name].append(carrier)
    return {name: (*whole[name], *joined[name]) for name in star.entities}


def _of_dimension(star: Star, dimension: Dimension, source: str) -> Carrier:
    attributes = [one for one in dimension.attributes if one.attribute and one.source == source]
    scope = RowScope(
        other_than=((dimension.surrogate_key, UNKNOWN_KEY),),
        current="is_current" if dimension.history else "",
        gone=DELETED if is_kept(star, dimension) and not dimension.history else "",
    )
    return Carrier(
        relation=dimension.name,
        columns={one.attribute: one.name for one in attributes},
        scope=scope,
        is_whole=not source,
        is_once=is_kept(star, dimension),
        unknown={one.attribute: one.unknown for one in attributes if source and one.unknown},
    )
