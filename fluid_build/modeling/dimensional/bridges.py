"""Bridges: who belongs to whom where many belong to many."""

from collections.abc import Iterator, Mapping

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.dimensional.dimensions import StarLayout
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionReference,
    FactAttribute,
)
from fluid_build.modeling.dimensional.facts import refer
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import SourceColumn


def draw_bridges(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    facts: Mapping[str, str],
    taken: set[str],
) -> tuple[Bridge, ...]:
    """The bridges in the order of the source; ``facts`` names the fact of each event."""
    return tuple(
        _bridge(layout, layout.graph.entities[name], dimensions, facts, taken)
        for name, role in layout.roles.items()
        if role.kind == "bridge"
    )


def _bridge(
    layout: StarLayout,
    entity: Entity,
    dimensions: Mapping[str, Dimension],
    facts: Mapping[str, str],
    taken: set[str],
) -> Bridge:
    # The event, where there is one, is the left end: it is what has several of the other.
    ends = sorted(
        (one for one in layout.graph.parents[entity.name] if not one.implied),
        key=lambda one: one.to_entity not in facts,
    )
    columns: set[str] = set()
    references: list[DimensionReference] = []
    for one in ends:
        if one.to_entity in facts:
            continue
        references.append(refer(layout, dimensions, one, columns, by_member=True))
    attributes = tuple(_attributes(layout, entity, ends, facts, columns))
    named = {one.attribute: one.name for one in attributes}
    left, right = ends
    return Bridge(
        name=free_column(f"brg_{layout.names.stem(entity.name)}", taken),
        entity_name=entity.name,
        description=entity.description,
        left=_end(layout, dimensions, facts, left),
        right=_end(layout, dimensions, facts, right),
        left_columns=left.from_attributes,
        right_columns=right.from_attributes,
        grain=f"One row for each pair of {left.to_entity} and {right.to_entity}.",
        grain_columns=tuple(dict.fromkeys(named[one] for one in layout.graph.keys[entity.name])),
        references=tuple(references),
        attributes=attributes,
        mapped_source_tables=(entity.name,),
        source_columns=tuple(
            SourceColumn(table=entity.name, column=one)
            for one in (*left.from_attributes, *right.from_attributes)
        ),
        reason=layout.roles[entity.name].reason,
    )


def _attributes(
    layout: StarLayout,
    entity: Entity,
    ends: list[Relationship],
    facts: Mapping[str, str],
    taken: set[str],
) -> Iterator[FactAttribute]:
    numbers = {name for one in ends if one.to_entity in facts for name in one.from_attributes}
    referring = {name for one in ends for name in one.from_attributes}
    for one in entity.attributes:
        yield FactAttribute(
            name=free_column(layout.names.column(entity.name, one.name), taken),
            type=one.type,
            attribute=one.name,
            description=one.description,
            mapped_source_tables=(entity.name,),
            source_columns=(SourceColumn(table=entity.name, column=one.name),),
            reason=(
                "The number by which the event is found."
                if one.name in numbers
                else "What it refers by: a value that comes to lead nowhere is not forgotten."
                if one.name in referring
                else "It says something of the pair, such as its rank or share."
            ),
        )


def _end(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    facts: Mapping[str, str],
    one: Relationship,
) -> str:
    if one.to_entity in facts:
        return facts[one.to_entity]
    return dimensions[layout.whole(one.to_entity)].name
