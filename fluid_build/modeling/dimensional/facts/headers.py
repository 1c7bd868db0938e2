"""What a fact takes over from its headers: their dimensions, their number and their status.

A line is grouped by whatever its header is, and filtered by the header's status. Where several ways
lead to one header, it's taken over once: by the row's own reference, or else by the first way whose
columns are the same.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import is_distinctive, is_numbering, is_status
from fluid_build.modeling.dimensional.elements import (
    DimensionReference,
    Fact,
    FactAttribute,
    Join,
)
from fluid_build.modeling.dimensional.judging.reference_graph import (
    ReferenceGraph,
    is_mandatory,
)
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import (
    free_column,
    is_plain_day,
    is_untold_day,
    prefixed,
)
from fluid_build.modeling.element import source_columns
from fluid_build.profiling.names.words import singular, words

_MOST_HEADERS = 2
"""Headers, one behind the other, whose dimensions a fact takes over: its own, and that one's. What
is further away has little to do with the event."""

Way = tuple[str, frozenset[tuple[str, str]]]
"""An entity, and the columns of a fact's own row that refer to its columns."""


def join_path(fact: Fact, source: str) -> list[str]:
    """Return the joins that lead from a fact to one of its sources, the last one first."""
    parents = {join.name: join.parent for join in fact.joins}
    path = []
    while source:
        path.append(source)
        source = parents[source]
    return path


def within_reach(
    graph: ReferenceGraph, headers: Sequence[tuple[Relationship, Fact]]
) -> dict[str, frozenset[str]]:
    """Return by header the sources of its fact from which an event takes over, "" for its own.

    What another way leads to as surely is left to that way.
    """
    direct = {header.to_entity for header, _ in headers}
    taken: set[Way] = set()
    reach = {}
    for header, fact in headers:
        sources = {""}
        entities = {join.name: join.entity for join in fact.joins}
        for join in fact.joins:
            path = join_path(fact, join.name)
            ways = {way for name in path if (way := _way(graph, header, fact, name))}
            if (
                len(path) < _MOST_HEADERS
                and not any(entities[name] in direct for name in path)
                and not ways & taken
            ):
                sources.add(join.name)
        taken |= {way for name in sources - {""} if (way := _way(graph, header, fact, name))}
        reach[header.name] = frozenset(sources)
    return reach


def _way(graph: ReferenceGraph, header: Relationship, fact: Fact, source: str) -> Way | None:
    """Return which columns of a row lead to a source of its header; None if others do."""
    joins = {join.name: join for join in fact.joins}
    columns = dict(zip(header.to_attributes, header.from_attributes, strict=True))
    for name in reversed(join_path(fact, source)):
        step = graph.relationship(joins[name].relationship)
        if not columns.keys() >= set(step.from_attributes):
            return None
        pairs = zip(step.from_attributes, step.to_attributes, strict=True)
        columns = {there: columns[here] for here, there in pairs}
    return joins[source].entity, frozenset(columns.items())


@dataclass(frozen=True, slots=True)
class HeaderColumns:
    """The columns that a line has of the header that a reference leads to, by the join there."""

    layout: StarLayout
    header: Relationship
    fact: Fact

    def attributes(self) -> tuple[FactAttribute, ...]:
        """Return the header's number and its status in its fact, if it has one of each.

        Of several, only the header's own fact can say which is which. What identifies the header is
        in the line already.
        """
        if self.layout.roles[self.header.to_entity].kind != "fact":
            return ()
        entity = self._entity()
        own = [a for a in self.fact.attributes if not a.source and not self._refers(a.attribute)]
        numbers = [a for a in own if self._is_number(entity, a.attribute)]
        states = [a for a in own if is_status(entity.attribute(a.attribute))]
        return tuple(found[0] for found in (numbers, states) if len(found) == 1)

    def taken_over(self, alias: str, used_columns: set[str]) -> Iterator[FactAttribute]:
        """Return the same columns as a line has them, which finds the header by the join."""
        entity = self.header.to_entity
        for attribute in self.attributes():
            name = prefixed(self.layout.names.member(entity), attribute.name)
            yield attribute.model_copy(
                update={
                    "name": free_column(name, used_columns),
                    "source": alias,
                    "mapped_source_tables": (entity,),
                    "source_columns": source_columns(entity, (attribute.attribute,)),
                    "reason": inherited(self.header),
                }
            )

    def _entity(self) -> Entity:
        return self.layout.graph.entities[self.header.to_entity]

    def _refers(self, attribute: str) -> bool:
        graph, entity = self.layout.graph, self.header.to_entity
        in_key = {*graph.keys[entity], *self.header.to_attributes}
        return attribute in in_key or graph.is_referring(entity, attribute)

    def _is_number(self, entity: Entity, name: str) -> bool:
        attribute = entity.attribute(name)
        return is_numbering(attribute) and is_distinctive(attribute, entity) and not attribute.pii


def inherited(header: Relationship) -> str:
    """Return why a fact has what is its header's."""
    return f"Inherited from {header.to_entity}, by the reference to it."


def reference_taken_over(
    layout: StarLayout,
    reference: DimensionReference,
    header: Relationship,
    alias: str,
    references: Sequence[DimensionReference],
    used_columns: set[str],
) -> DimensionReference:
    """Return a reference of a header as its line has it, beside the line's other references."""
    key, role = reference.key, reference.role
    member = layout.names.member(header.to_entity)
    if key in used_columns:
        key = prefixed(member, key)
    used_roles = {r.role for r in references if r.dimension == reference.dimension}
    if role and role in used_roles:
        role = free_column(prefixed(layout.names.role(header) or member, role), used_roles)
    return reference.model_copy(
        update={
            "key": free_column(key, used_columns),
            "role": role,
            "source": alias,
            "optional": reference.optional or not is_mandatory(header),
            "reason": inherited(header),
        }
    )


def with_telling_roles(
    layout: StarLayout,
    entity: Entity,
    joins: Sequence[Join],
    references: Sequence[DimensionReference],
    calendars: Set[str],
    used_columns: set[str],
) -> list[DimensionReference]:
    """Return a fact's references; of several to one dimension, each says which it is.

    So does a day of a header that's called ``date``, or ``valid_from``.
    """
    entities = {"": entity.name, **{join.name: join.entity for join in joins}}
    headers = {"": entity.name}
    by_dimension: dict[str, list[DimensionReference]] = {}
    for join in joins:
        headers[join.name] = headers[join.parent] if join.parent else join.entity
    for reference in references:
        by_dimension.setdefault(reference.dimension, []).append(reference)
    telling = []
    for reference in references:
        alike = by_dimension[reference.dimension]
        if reference.dimension in calendars and reference.role:
            owner = layout.names.member(entities[reference.source])
            role = _role_of_day(reference, owner, len(alike))
        else:
            holder = layout.graph.entities[entities[reference.source]]
            header = layout.names.member(headers[reference.source])
            role = _role_of_member(layout, reference, holder, header, len(alike))
        if role != reference.role:
            used_columns.discard(reference.key)
            role = free_column(role, {r.role for r in alike})
            key = _key_without_role(reference, alike)
            reference = reference.model_copy(
                update={"role": role, "key": free_column(prefixed(role, key), used_columns)}
            )
            alike.append(reference)
        telling.append(reference)
    return telling


def _role_of_day(reference: DimensionReference, owner: str, alike: int) -> str:
    """Return the role of a day, with what has it where the role alone doesn't say which day."""
    is_own = not reference.source
    says_nothing = is_plain_day(reference.role) if is_own else is_untold_day(reference.role)
    is_alone = is_own and alike == 1
    return prefixed(owner, reference.role) if says_nothing and not is_alone else reference.role


def _role_of_member(
    layout: StarLayout, reference: DimensionReference, holder: Entity, header: str, alike: int
) -> str:
    """Return the role of one of several members: what its columns say, or else its header."""
    if reference.role or not reference.source or alike == 1:
        return reference.role
    role = layout.names.role_of_columns(holder, reference.columns)
    says_nothing = {singular(word) for word in words(role)} <= set(words(reference.key))
    return header if says_nothing else role


def _key_without_role(reference: DimensionReference, alike: Sequence[DimensionReference]) -> str:
    """Return what a key is called where it needs no role, as the first of those alike is."""
    if reference.role:
        return reference.key.removeprefix(f"{reference.role}_")
    return next(other.key for other in alike if not other.role)
