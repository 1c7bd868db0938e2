"""References of the source, as promises of a star: what each refers to is there.

A fact or dimension keeps the columns that it refers by, and a dimension keeps deleted members, so
an orphan there refers to something that never existed. Tables that were collapsed have no relation
of their own: their references are tested on the staging, before anything is made of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.dimensional.star import (
    Star,
    columns_of,
    own_columns,
)
from fluid_build.transform.plan.elements import BuildTest
from fluid_build.transform.plan.evidence_tests import is_promised, reference_test


@dataclass(frozen=True, slots=True)
class _Place:
    """A relation, and which of its columns holds an attribute of an entity."""

    relation: str
    columns: Mapping[str, str]


def orphan_tests(star: Star) -> dict[str, tuple[BuildTest, ...]]:
    """Return by relation the tests of what it refers to, within what was measured."""
    marts = _marts(star)
    tests: dict[str, list[BuildTest]] = {}
    for relationship in filter(is_promised, star.conceptual.relationships):
        child, parent = _ends(star, relationship, marts)
        test = reference_test(
            relationship,
            name=fit(child.relation, relationship.name, "orphans"),
            columns=tuple(child.columns[name] for name in relationship.from_attributes),
            to_model=parent.relation,
            to_columns=tuple(parent.columns[name] for name in relationship.to_attributes),
        )
        # No way to join: a dimension has a member as often as it has versions.
        tests.setdefault(child.relation, []).append(test.model_copy(update={"cardinality": None}))
    return {relation: tuple(of_relation) for relation, of_relation in tests.items()}


def _ends(
    star: Star, relationship: Relationship, marts: Mapping[str, _Place]
) -> tuple[_Place, _Place]:
    """Return where the two ends of a relationship are: both in marts, or both in the staging."""
    child, parent = marts.get(relationship.from_entity), marts.get(relationship.to_entity)
    if child is not None and parent is not None:
        here, there = set(relationship.from_attributes), set(relationship.to_attributes)
        if here <= child.columns.keys() and there <= parent.columns.keys():
            return child, parent
    return _staging(star, relationship.from_entity), _staging(star, relationship.to_entity)


def _staging(star: Star, entity: str) -> _Place:
    return _Place(star.names.staging(entity), star.names.columns[entity])


def _marts(star: Star) -> dict[str, _Place]:
    """Return the mart of each entity that has one."""
    marts = {
        dimension.entity_name: _Place(dimension.name, own_columns(dimension))
        for dimension in star.model.dimensions
        if dimension.entity_name
    }
    for owner in star.owners:
        marts[owner.entity_name] = _Place(owner.name, columns_of(owner))
    return marts
