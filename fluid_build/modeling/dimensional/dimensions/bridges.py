"""Bridges: which rows belong together where two entities are related many to many."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import is_share
from fluid_build.modeling.dimensional.dimensions.references import reference_to_member
from fluid_build.modeling.dimensional.elements import Bridge, Dimension, FactAttribute
from fluid_build.modeling.dimensional.judging.reference_graph import bridge_ends
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import source_columns
from fluid_build.text import listed


def describe_bridges(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    facts: Mapping[str, str],
    used_relations: set[str],
) -> tuple[Bridge, ...]:
    """Return the bridges in the order of the source.

    ``dimensions`` are by entity, ``facts`` are the names of facts by entity.
    """
    ends = _Ends(layout, dimensions, facts)
    return tuple(
        _bridge(ends, layout.graph.entities[name], used_relations)
        for name, role in layout.roles.items()
        if role.kind == "bridge"
    )


@dataclass(frozen=True, slots=True)
class _Ends:
    """What the two ends of a bridge may be."""

    layout: StarLayout
    dimensions: Mapping[str, Dimension]
    facts: Mapping[str, str]

    def is_fact(self, reference: Relationship) -> bool:
        return reference.to_entity in self.facts

    def name(self, reference: Relationship) -> str:
        """Return the name of the fact or dimension that a reference leads to."""
        if self.is_fact(reference):
            return self.facts[reference.to_entity]
        return self.dimensions[self.layout.whole(reference.to_entity)].name


def _bridge(ends: _Ends, entity: Entity, used_relations: set[str]) -> Bridge:
    layout = ends.layout
    # The event, where there is one, is the left end: it has several members of the other.
    left, right = sorted(
        bridge_ends(layout.graph, entity.name), key=lambda reference: not ends.is_fact(reference)
    )
    used_columns: set[str] = set()
    references = tuple(
        reference_to_member(layout, ends.dimensions, end, used_columns)
        for end in (left, right)
        if not ends.is_fact(end)
    )
    attributes = tuple(_attributes(ends, entity, (left, right), used_columns))
    columns = {attribute.attribute: attribute.name for attribute in attributes}
    key = layout.graph.keys[entity.name]
    kinds = [name for name in key if name not in {*left.from_attributes, *right.from_attributes}]
    of_kind = f", and each {listed(kinds)}" if kinds else ""
    return Bridge(
        name=free_column(f"brg_{layout.names.stem(entity.name)}", used_relations),
        entity_name=entity.name,
        description=entity.description,
        left=ends.name(left),
        right=ends.name(right),
        left_columns=left.from_attributes,
        right_columns=right.from_attributes,
        grain=f"One row for each pair of {left.to_entity} and {right.to_entity}{of_kind}.",
        grain_columns=tuple(dict.fromkeys(columns[name] for name in key)),
        references=references,
        attributes=attributes,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, (*left.from_attributes, *right.from_attributes)),
        reason=layout.roles[entity.name].reason,
        alternatives=layout.roles[entity.name].alternatives,
    )


def _attributes(
    ends: _Ends,
    entity: Entity,
    references: tuple[Relationship, Relationship],
    used_columns: set[str],
) -> Iterator[FactAttribute]:
    referring = {name for r in references for name in r.from_attributes}
    shares = ends.layout.graph.observations.whole_shares
    weights = {share.share for share in shares if share.table == entity.name}
    event_numbers = {name for r in references if ends.is_fact(r) for name in r.from_attributes}
    for attribute in entity.attributes:
        if attribute.name in event_numbers:
            reason = "The key of the event."
        elif attribute.name in referring:
            reason = "The original foreign key, kept so that orphaned values aren't lost."
        elif attribute.name in weights or is_share(
            attribute, *ends.layout.graph.bounds[entity.name, attribute.name]
        ):
            reason = "The weighting factor: measures times it aren't counted more than once."
        else:
            reason = "It describes the pair, such as a rank or a share."
        column = ends.layout.names.column(entity.name, attribute.name)
        yield FactAttribute(
            name=free_column(column, used_columns),
            type=attribute.type,
            attribute=attribute.name,
            description=attribute.description,
            mapped_source_tables=(entity.name,),
            source_columns=source_columns(entity.name, (attribute.name,)),
            reason=reason,
        )
