"""Why an entity is an event to count rather than a dimension to count by.

An event is dated, measured, or brings several entities together. What has a name of its own is no
event, since people look it up rather than count it.
"""

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    is_calendar,
    is_date,
    is_descriptive,
    is_distinctive,
    is_naming,
    is_own_name,
    is_weak_measure,
)
from fluid_build.modeling.dimensional.reference_graph import (
    ReferenceGraph,
    is_filled,
    is_mandatory,
)
from fluid_build.text import listed

_MOST_LINES = 50
"""Rows that refer to one row of a header, on average. An order seldom has more lines; what has more
is something that is used over and over, such as a promotion."""


def event_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity is an event; "" where it isn't one."""
    parents, children = graph.direct_parents(entity.name), graph.children[entity.name]
    if not parents and not children:
        return _isolated_event_reason(graph, entity)
    if _has_own_name(entity) or is_calendar(entity):
        return ""
    if children:
        return _header_reason(graph, entity, parents)
    return _leaf_reason(graph, entity, parents)


def describes(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> bool:
    """Return whether an attribute describes its row: no key, reference, measure or date."""
    if not is_descriptive(attribute) or is_date(attribute):
        return False
    if graph.is_referring(entity.name, attribute.name):
        return False
    return attribute.name not in graph.keys[entity.name]


def name_parents(references: tuple[Relationship, ...]) -> str:
    """Return the entities that references lead to, as a list in a sentence."""
    return listed(sorted({reference.to_entity for reference in references}))


def _isolated_event_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity without references in either direction is an event."""
    dates, measures = event_dates(entity), _sums(graph, entity)
    if dates and measures and not _has_own_name(entity):
        return f"It has a date ({dates[0].name}) and a measure ({measures[0].name})."
    has_name = _has_distinctive_name(entity)
    if measures and not has_name:
        return f"It has a measure ({measures[0].name}), and no column names its rows."
    if len(graph.keys[entity.name]) > 1 and not has_name:
        return "Its key has several columns, and no column names its rows."
    return ""


def _header_reason(graph: ReferenceGraph, entity: Entity, parents: tuple[Relationship, ...]) -> str:
    """Return why an entity that others refer to is an event all the same: a header of lines."""
    if _lines_per_row(graph, entity) > _MOST_LINES:
        return ""
    dates, measures = event_dates(entity), _sums(graph, entity)
    if dates and measures and not parents:
        return f"It has a date ({dates[0].name}) and a measure ({measures[0].name})."
    filled = tuple(filter(is_filled, parents))
    if not filled:
        return ""
    calendars = tuple(p for p in parents if is_calendar(graph.entities[p.to_entity]))
    if calendars and measures:
        ends = name_parents(calendars)
        return f"It refers to {ends} for its date and has a measure ({measures[0].name})."
    has_name = _has_distinctive_name(entity)
    if dates and (measures or not has_name):
        return (
            f"An event with lines: it has a date ({dates[0].name}), refers to"
            f" {name_parents(filled)}, and has at most {_MOST_LINES} lines per row on average."
        )
    describes_nothing = not any(describes(graph, entity, a) for a in entity.attributes)
    relates_several = len({p.to_entity for p in parents}) > 1 and all(map(is_mandatory, parents))
    if relates_several and (measures or describes_nothing) and not has_name:
        return f"It links {name_parents(filled)}, and no column names its rows."
    return ""


def _leaf_reason(graph: ReferenceGraph, entity: Entity, parents: tuple[Relationship, ...]) -> str:
    """Return why an entity that nothing refers to is an event."""
    filled = tuple(filter(is_filled, parents))
    if not filled:
        return ""
    ends = name_parents(filled)
    dates = event_dates(entity)
    if dates:
        return f"No table refers to it. It has a date ({dates[0].name}) and refers to {ends}."
    has_name = _has_distinctive_name(entity)
    measures = [a for a in entity.attributes if a.measure is not None]
    if measures and not has_name:
        return f"No table refers to it. It has a measure ({measures[0].name}) and refers to {ends}."
    if len({reference.to_entity for reference in filled}) > 1 and not has_name:
        return f"No table refers to it, and it links {ends}."
    if len(graph.keys[entity.name]) > 1:
        return f"No table refers to it. It refers to {ends}, and its key has several columns."
    return ""


def _has_own_name(entity: Entity) -> bool:
    """Return whether a column names the entity's rows."""
    is_dated = bool(event_dates(entity))
    return any(
        is_own_name(attribute, entity)
        and is_distinctive(attribute, entity)
        # A dated event may hold the address that somebody wrote from.
        and not (is_dated and attribute.semantic_type == "email")
        for attribute in entity.attributes
    )


def _has_distinctive_name(entity: Entity) -> bool:
    return any(is_naming(a) and is_distinctive(a, entity) for a in entity.attributes)


def _lines_per_row(graph: ReferenceGraph, entity: Entity) -> float:
    children = (graph.entities[c.from_entity].rows for c in graph.children[entity.name])
    return max(children) / entity.rows if entity.rows else 0.0


def _sums(graph: ReferenceGraph, entity: Entity) -> list[Attribute]:
    """Return the measures that add up at least across members, the certain ones first.

    A weak one (a small whole number, which may be a rank) counts only if it's fully additive.
    """
    weak, certain = [], []
    for attribute in entity.attributes:
        measure = attribute.measure
        if measure is None or measure.additivity == "non-additive":
            continue
        if not is_weak_measure(attribute, *graph.bounds[entity.name, attribute.name]):
            certain.append(attribute)
        elif measure.additivity == "additive":
            weak.append(attribute)
    return certain + weak
