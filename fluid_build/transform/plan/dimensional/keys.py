"""The keys of the source that a star is built by, each tested on its staging view."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.dimensional.elements import Bridge, Dimension, Fact, Join
from fluid_build.transform.plan.dimensional.columns import is_generated
from fluid_build.transform.plan.dimensional.facts import is_derived, references_of
from fluid_build.transform.plan.dimensional.star import Star, natural_key
from fluid_build.transform.plan.relied_keys import ReliedKey


def mart_keys(star: Star) -> Iterator[ReliedKey]:
    """Natural keys, grains, and what rows are joined or looked up by: a join finds one row each."""
    for dimension in star.model.dimensions:
        yield from _of_dimension(star, dimension)
    for fact in star.model.facts:
        yield from _of_owner(star, fact)
    for bridge in star.model.bridges:
        yield from _of_owner(star, bridge)


def _of_dimension(star: Star, dimension: Dimension) -> Iterator[ReliedKey]:
    yield from _joined(star, dimension.joins)
    facts = {fact.entity_name for fact in star.model.facts}
    if not is_generated(dimension) and dimension.entity_name not in facts:
        key = tuple(attribute.name for attribute in natural_key(star, dimension))
        yield _key(star, dimension.entity_name, key)


def _of_owner(star: Star, owner: Fact | Bridge) -> Iterator[ReliedKey]:
    primary = star.entities[owner.entity_name].primary_key
    if owner.grain_columns and primary is not None and primary.holds:
        yield _key(star, owner.entity_name, primary.attributes)
    yield from _joined(star, owner.joins if isinstance(owner, Fact) else ())
    for reference in references_of(owner):
        dimension = star.dimensions[reference.dimension]
        if not is_generated(dimension) and not is_derived(star, reference):
            own = {one.name: one.attribute for one in dimension.attributes if not one.source}
            columns = tuple(own[name] for name in reference.to_columns)
            yield _key(star, dimension.entity_name, columns, complete=False)


def _joined(star: Star, joins: Sequence[Join]) -> Iterator[ReliedKey]:
    for join in joins:
        one = star.relationships[join.relationship]
        columns = one.from_attributes if join.backwards else one.to_attributes
        yield _key(star, join.entity, columns, complete=False)


def _key(star: Star, entity: str, columns: tuple[str, ...], *, complete: bool = True) -> ReliedKey:
    return ReliedKey(star.names.staging(entity), entity, columns, complete=complete)
