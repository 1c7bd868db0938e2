"""Which entities have a dimension of their own, and what each hands to the ones that refer to it.

A chain of lookups is collapsed into the dimension that it starts from: a product gets the names of
its category and of the category's department.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import get_args

from fluid_build.errors import unknown_name
from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.dimensional.column_purposes import is_naming, is_person, is_record_stamp
from fluid_build.modeling.dimensional.elements import Fact, Variant
from fluid_build.modeling.dimensional.judging.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames, ReferenceGraph
from fluid_build.modeling.dimensional.star_names import StarNames

_WIDEST_COPIED = 6
"""Columns up to which a dimension that facts use is also copied into others. A wider one would make
every dimension that refers to it hard to read; it's a join away."""


@dataclass(frozen=True, slots=True)
class StarLayout:
    """Which entities have dimensions of their own, and what those and their keys are called."""

    graph: ReferenceGraph
    roles: EntityRoles
    names: StarNames
    variant: Variant
    dimensions: Mapping[str, str]
    """Names of dimensions by entity."""
    used: frozenset[str]
    """Entities whose dimension a fact or bridge refers to."""
    keys: Mapping[str, str]
    """Names of surrogate keys by entity."""

    def whole(self, entity: str) -> str:
        """Return the entity that an entity is a part of, by whatever steps; by default itself."""
        while self.roles[entity].kind == "part":
            entity = self.roles[entity].whole
        return entity

    def is_collapsed(self, entity: str) -> bool:
        """Return whether a lookup is copied into what refers to it, with its own lookups."""
        if self.variant == "snowflake" or self.roles[entity].kind == "part":
            return False
        if entity in self.graph.calendars:
            return False
        if entity not in self.dimensions:
            return True
        # A person isn't a property of what refers to them.
        if is_person(self.graph.entities[entity]):
            return False
        return entity not in self.used or self._width(entity) <= _WIDEST_COPIED

    def copied_attributes(self, entity: str) -> frozenset[str]:
        """Return the attributes of an entity that what refers to it takes over.

        All of them where they have no other place. Without record keeping where the entity is
        collapsed and has a dimension too. Only names where that dimension is too wide or a person.
        """
        attributes = self.graph.entities[entity].attributes
        if entity not in self.dimensions and self.is_collapsed(entity):
            return frozenset(attribute.name for attribute in attributes)
        if self.is_collapsed(entity):
            return frozenset(a.name for a in attributes if not is_record_stamp(a))
        if self.variant == "snowflake" or entity in self.graph.calendars:
            return frozenset()
        return frozenset(attribute.name for attribute in attributes if is_naming(attribute))

    def key_of_whole(self, entity: str) -> AttributeNames:
        """Return the attributes of an entity that hold the natural key of its dimension."""
        role = self.roles[entity]
        if role.kind != "part":
            return self.graph.keys[entity]
        by = self.graph.relationship(role.by)
        own_names = dict(zip(by.to_attributes, by.from_attributes, strict=True))
        return tuple(own_names[name] for name in self.key_of_whole(by.to_entity))

    def target_in_whole(self, reference: Relationship) -> AttributeNames:
        """Return the attributes of the whole that a reference leads to, directly or by its part."""
        entity, attributes = reference.to_entity, reference.to_attributes
        while self.roles[entity].kind == "part":
            by = self.graph.relationship(self.roles[entity].by)
            names_in_whole = dict(zip(by.from_attributes, by.to_attributes, strict=True))
            attributes = tuple(names_in_whole[name] for name in attributes)
            entity = by.to_entity
        return attributes

    def _width(self, entity: str) -> int:
        """Return how many columns come with an entity where it's collapsed, lookups included."""
        lookups = {
            parent.to_entity
            for parent in self.graph.direct_parents(entity)
            if self.roles[parent.to_entity].kind == "dimension"
        }
        return sum(
            len(self.graph.entities[name].attributes) - len(self.graph.keys[name])
            for name in {entity, *lookups}
        )


_VARIANTS: tuple[Variant, ...] = get_args(Variant)
_ALIASES: Mapping[str, Variant] = {"flat": "wide"}
_LARGE_DIMENSION = 10_000_000
"""Members from which on a copied lookup costs more, in each member, than the join that it saves."""
_MOST_NAMES = 3


def check_variant(variant: str) -> Variant:
    """Return the variant of that name; raise UsageError for an unknown one."""
    spelling = variant.strip().lower()
    for known in _VARIANTS:
        if known == _ALIASES.get(spelling, spelling):
            return known
    raise unknown_name("variant", variant, _VARIANTS, aliases=_ALIASES)


def suggested_variant(graph: ReferenceGraph, roles: EntityRoles) -> tuple[Variant, str]:
    """Return the variant that the source suggests, and why.

    A star may still turn out as a galaxy once its facts are known, and says why then: see
    ``star_or_galaxy``.
    """
    facts = [name for name, role in roles.items() if role.kind == "fact"]
    dimensions = [name for name, role in roles.items() if role.kind == "dimension"]
    if len(roles) == 1 and facts:
        return "wide", "The only table is already wide: there is nothing to join."
    for name in dimensions:
        rows = graph.entities[name].rows
        has_lookups = any(roles[p.to_entity].kind == "dimension" for p in graph.parents[name])
        if rows >= _LARGE_DIMENSION and has_lookups:
            return "snowflake", f"{name} has {rows:,} rows: too many to copy its lookups into each."
    if not facts:
        return "star", "No table records events, so the model has only dimensions."
    return "star", ""


def star_or_galaxy(facts: Sequence[Fact], generated: Set[str]) -> tuple[Variant, str]:
    """Return a galaxy where facts share dimensions besides ``generated``, else a star, and why."""
    dimensions = [{r.dimension for r in fact.dimensions} - generated for fact in facts]
    uses = Counter(chain.from_iterable(dimensions))
    conformed = sorted(name for name, count in uses.items() if count > 1)
    if conformed:
        sharing = sum(not names.isdisjoint(conformed) for names in dimensions)
        shared = ", ".join(conformed[:_MOST_NAMES])
        return "galaxy", f"{sharing} facts share conformed dimensions ({shared})."
    if len(facts) == 1:
        return "star", f"One fact ({facts[0].name}) with its dimensions."
    return "star", f"{len(facts)} facts, each with its own dimensions."
