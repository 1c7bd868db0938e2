"""The keys of the source that a star is built by, each tested on its staging view."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.dimensional.elements import Dimension, Join
from fluid_build.transform.plan.dimensional.star import (
    FactOrBridge,
    Star,
    joins_of,
    natural_key,
    own_attributes,
    references_of,
)
from fluid_build.transform.plan.relied_keys import ReliedKey


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
