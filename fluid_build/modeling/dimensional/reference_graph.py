"""Who refers to whom: the references of a conceptual model that a star may be built on.

A reference counts where what it points at identifies a row, so that following it neither loses
nor doubles a row; any other one is left as a plain column.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import ConceptualModel, Entity, Relationship
from fluid_build.profiling.profile import Profile

Names = tuple[str, ...]
_FILLED = 0.5


@dataclass(frozen=True, slots=True)
class ReferenceGraph:
    """Entities by name, with what identifies their rows and the references between them.

    ``parents`` are the references of an entity to others, ``loops`` those to itself,
    ``children`` those of others to it. ``keys`` holds the natural key, () where there is none.
    """

    conceptual: ConceptualModel
    entities: Mapping[str, Entity]
    keys: Mapping[str, Names]
    parents: Mapping[str, tuple[Relationship, ...]]
    loops: Mapping[str, tuple[Relationship, ...]]
    children: Mapping[str, tuple[Relationship, ...]]
    unique: Mapping[str, frozenset[frozenset[str]]]
    named: Mapping[str, Relationship]
    longest: Mapping[tuple[str, str], int]
    """By entity and attribute, the characters of the longest text."""

    def relationship(self, name: str) -> Relationship:
        """The reference of that name; KeyError if there is none."""
        return self.named[name]

    def is_unique(self, entity: str, attributes: Names) -> bool:
        """Whether no two rows of an entity share the values of these attributes."""
        return frozenset(attributes) in self.unique[entity]

    def is_referring(self, entity: str, attribute: str) -> bool:
        """Whether an attribute is part of a reference to another entity or to the same one."""
        refs = (*self.parents[entity], *self.loops[entity])
        return any(attribute in reference.from_attributes for reference in refs)


def reference_graph(profile: Profile, conceptual: ConceptualModel) -> ReferenceGraph:
    """The graph of a profiled source."""
    unique = {
        table.name: frozenset(
            {
                *(frozenset(key) for key in table.candidate_keys),
                *(
                    frozenset(key.attributes)
                    for key in conceptual.entity(table.name).keys
                    if key.holds or (key.kind == "declared" and not key.evidence.violations)
                ),
            }
        )
        for table in profile.tables
    }
    usable = tuple(_usable(conceptual, unique))
    names = [entity.name for entity in conceptual.entities]
    between = [one for one in usable if one.from_entity != one.to_entity]
    return ReferenceGraph(
        conceptual=conceptual,
        entities={entity.name: entity for entity in conceptual.entities},
        keys={
            entity.name: _natural_key(entity, usable) or _key_of_nothing(entity, profile)
            for entity in conceptual.entities
        },
        parents={n: tuple(one for one in between if one.from_entity == n) for n in names},
        loops={
            n: tuple(
                one for one in usable if one.from_entity == one.to_entity == n and not one.implied
            )
            for n in names
        },
        children={n: tuple(one for one in between if one.to_entity == n) for n in names},
        unique=unique,
        named={one.name: one for one in conceptual.relationships},
        longest={
            (table.name, column.name): column.max_length or 0
            for table in profile.tables
            for column in table.columns
        },
    )


def is_filled(relationship: Relationship) -> bool:
    """Whether at least half of the child's rows have a value there, or nothing is known of it."""
    evidence = relationship.evidence
    seen = evidence.rows + evidence.nulls
    return seen == 0 or evidence.rows >= _FILLED * seen


def is_mandatory(relationship: Relationship) -> bool:
    """Whether every child row has its parent."""
    return relationship.from_participation == "mandatory"


def may_miss(relationship: Relationship) -> bool:
    """Whether a child row may lack its parent: it has no value, or one that leads nowhere."""
    return not is_mandatory(relationship)


def _usable(
    conceptual: ConceptualModel, unique: Mapping[str, frozenset[frozenset[str]]]
) -> Iterator[Relationship]:
    seen: set[tuple[str, str, frozenset[tuple[str, str]]]] = set()
    for one in sorted(conceptual.relationships, key=lambda one: one.implied):
        pairs = frozenset(zip(one.from_attributes, one.to_attributes, strict=True))
        place = (one.from_entity, one.to_entity, pairs)
        if place in seen or frozenset(one.to_attributes) not in unique[one.to_entity]:
            continue
        if one.from_entity == one.to_entity and one.from_attributes == one.to_attributes:
            continue
        seen.add(place)
        yield one


def _natural_key(entity: Entity, usable: tuple[Relationship, ...]) -> Names:
    """The chosen key where it holds, else what others refer to."""
    primary = entity.primary_key
    if primary is not None and primary.holds:
        return primary.attributes
    referred = [one.to_attributes for one in usable if one.to_entity == entity.name]
    return max(referred, key=referred.count) if referred else ()


def _key_of_nothing(entity: Entity, profile: Profile) -> Names:
    """All columns of a table that holds no row, since no two rows of it are alike."""
    if not profile.has_data or entity.rows:
        return ()
    return tuple(attribute.name for attribute in entity.attributes)
