"""What a dimension hands on to the facts that refer to it.

An inventory number only says which film is in which store: a rental of it is a rental of that film
and in that store, so the fact refers to both itself. So does a line to the customer of an order
that has nothing to add up. A race is looked up by its name, with the circuit that it's on, but what
happened in it happened on its day.
"""

from typing import Literal

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    is_date_of_row,
    is_describing,
    is_own_name,
    is_person,
    is_record_stamp,
)
from fluid_build.modeling.dimensional.judging.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.judging.event_rules import describes
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph, is_mandatory

HandedOn = Literal["nothing", "date", "references"]


def handed_on(graph: ReferenceGraph, roles: EntityRoles, entity: str) -> HandedOn:
    """Return what the entity of a dimension hands on: all of its references, only its date."""
    if roles[entity].kind != "dimension" or entity in graph.calendars:
        return "nothing"
    described = graph.entities[entity]
    is_dated = own_date(described) is not None
    if _only_links(graph, described) or (is_dated and not _has_title(described)):
        return "references"
    return "date" if is_dated else "nothing"


def own_date(entity: Entity) -> Attribute | None:
    """Return the date that is simply the date of the row, such as that of a match.

    Any other date of something that's looked up says when something was done to it.
    """
    if is_person(entity):
        return None
    for date in event_dates(entity):
        if date.required and not is_record_stamp(date) and is_date_of_row(date, entity):
            return date
    return None


def _has_title(entity: Entity) -> bool:
    """Return whether a column names the rows: that of whom an order is sent to doesn't."""
    return any(is_own_name(a, entity) and not is_describing(a) for a in entity.attributes)


def _only_links(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether an entity has nothing but a key and what it refers to, several entities.

    It has more rows than each of these: a shop isn't a pair of an address and a manager.
    """
    parents = graph.direct_parents(entity.name)
    return (
        len({parent.to_entity for parent in parents}) > 1
        and all(map(is_mandatory, parents))
        and all(entity.rows > graph.entities[parent.to_entity].rows for parent in parents)
        and not any(describes(graph, entity, attribute) for attribute in entity.attributes)
    )
