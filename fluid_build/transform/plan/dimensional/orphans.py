"""References of the source, as promises of a star: what each leads to is there.

A fact or dimension keeps the columns that it refers by, and a dimension the members that the source
has lost, so that what leads nowhere there never existed. What was collapsed has no relation of its
own: it is asked for in the staging, before anything is made of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.dimensional.elements import Bridge, Fact
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames, fit
from fluid_build.transform.plan.dimensional.facts import columns_of_owner
from fluid_build.transform.plan.dimensional.star import Star, star_of
from fluid_build.transform.plan.elements import BuildTest
from fluid_build.transform.plan.evidence_tests import reference_test


@dataclass(frozen=True, slots=True)
class _Place:
    """A relation, and which of its columns holds an attribute of an entity."""

    relation: str
    columns: Mapping[str, str]


def orphan_tests(model: LogicalModel, names: SqlNames) -> dict[str, tuple[BuildTest, ...]]:
    """By relation the tests of what it refers to, within what was measured."""
    star = star_of(model, names)
    places = _places(star)
    found: dict[str, list[BuildTest]] = {}
    for one in star.conceptual.relationships:
        if one.implied and one.origin != "declared":
            continue
        for child, parent in _ends(star, one, places):
            test = reference_test(
                one,
                name=fit(child.relation, one.name, "orphans"),
                columns=tuple(child.columns[name] for name in one.from_attributes),
                to_model=parent.relation,
                to_columns=tuple(parent.columns[name] for name in one.to_attributes),
            )
            # Keys are what one joins by: a member is in a dimension as often as it has versions.
            found.setdefault(child.relation, []).append(
                test.model_copy(update={"cardinality": None})
            )
    return {relation: tuple(tests) for relation, tests in found.items()}


def _ends(
    star: Star, one: Relationship, places: Mapping[str, _Place]
) -> Iterator[tuple[_Place, _Place]]:
    """Where the two ends of a relationship are: both in marts, or both in the staging."""
    child, parent = places.get(one.from_entity), places.get(one.to_entity)
    if child is not None and parent is not None:
        here, there = set(one.from_attributes), set(one.to_attributes)
        if here <= child.columns.keys() and there <= parent.columns.keys():
            yield child, parent
            return
    yield _staged(star, one.from_entity), _staged(star, one.to_entity)


def _staged(star: Star, entity: str) -> _Place:
    columns = {one.name: star.column(entity, one.name) for one in star.entities[entity].attributes}
    return _Place(star.names.staging(entity), columns)


def _places(star: Star) -> dict[str, _Place]:
    """The mart of each entity that has one."""
    found = {
        one.entity_name: _Place(
            one.name, {kept.attribute: kept.name for kept in one.attributes if not kept.source}
        )
        for one in star.model.dimensions
        if one.entity_name
    }
    owners: tuple[Fact | Bridge, ...] = (*star.model.facts, *star.model.bridges)
    for owner in owners:
        found[owner.entity_name] = _Place(owner.name, columns_of_owner(owner))
    return found
