"""What becomes of an attribute's past: kept as it was (0), overwritten (1), or versioned (2).

Type 2 is for what events are grouped by and that may change for one member: a category, a place, a
reference. It pays only where an event of a known day refers to the dimension. What cannot be
versioned later is versioned now, for a past that was overwritten is gone.
"""

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    is_category,
    is_date,
    is_flag,
    is_life_date,
    is_naming,
    is_record_stamp,
    kind,
)
from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, ScdType
from fluid_build.modeling.dimensional.reference_graph import ReferenceGraph
from fluid_build.modeling.dimensional.star_names import StarNames, free_column

_FEWEST_MEMBERS = 10
_FEWEST_ATTRIBUTES = 3
_LONGEST_LABEL = 64
_PLACES = frozenset({"city", "country", "country_code", "region", "region_code"})


def with_history(
    graph: ReferenceGraph, names: StarNames, dimension: Dimension, dated: bool, relations: set[str]
) -> Dimension:
    """The dimension with the type of each attribute, and a relation for its versions if need be.

    ``dated`` says that an event of a known day refers to it; ``relations`` are the names taken.
    """
    if dimension.dimension_type in {"junk", "date"} or dimension.natural_key_columns == ():
        return dimension
    entity = graph.entities[dimension.entity_name]
    reason = _why_unversioned(entity, dimension, dated)
    attributes = tuple(
        _judged(graph, entity, attribute, reason) for attribute in dimension.attributes
    )
    dimension = dimension.model_copy(update={"attributes": attributes})
    if all(one.scd_type != 2 for one in attributes):
        return dimension
    taken = {one.name for one in attributes} | {one.key for one in dimension.links}
    taken.add(dimension.surrogate_key)
    member = names.member(entity.name)
    return dimension.model_copy(
        update={
            "durable_key": free_column(f"{member}_durable_key", taken),
            "history": free_column(f"{dimension.name}_history", relations),
        }
    )


def _why_unversioned(entity: Entity, dimension: Dimension, dated: bool) -> str:
    """Why nothing of a dimension is versioned, "" where it may be."""
    if not dated:
        return "no event of a known day refers to it, so that no version would be met"
    if len([one for one in dimension.attributes if not one.source]) < _FEWEST_ATTRIBUTES:
        return "a mere lookup: a new wording is meant for all of the past"
    if entity.rows < _FEWEST_MEMBERS:
        return f"{entity.rows} members are too few to see how they differ"
    return ""


def _judged(
    graph: ReferenceGraph, entity: Entity, attribute: DimensionAttribute, unversioned: str
) -> DimensionAttribute:
    if attribute.source:
        reason = f"{attribute.reason} Overwritten: the wording of the day is meant for all."
        return attribute.model_copy(update={"scd_type": 1, "reason": reason})
    type_, reason = _type(graph, entity, entity.attribute(attribute.attribute))
    if type_ == 2 and unversioned:
        type_, reason = 1, f"Overwritten: {unversioned}."
    return attribute.model_copy(update={"scd_type": type_, "reason": reason})


def _type(graph: ReferenceGraph, entity: Entity, one: Attribute) -> tuple[ScdType, str]:
    if one.name in graph.keys[entity.name]:
        return 0, "It identifies the member, and never changes."
    if is_life_date(one):
        return 0, "It happened once: a change could only be a correction of the source's."
    if is_record_stamp(one):
        return 1, "Overwritten: it is about the record and not about the member."
    if one.pii:
        return 1, "Overwritten: of what is personal no past is kept."
    if graph.is_referring(entity.name, one.name):
        return 2, "Versioned: events are grouped by it, and a member may be moved elsewhere."
    if one.measure is not None or kind(one) in {"decimal", "float"}:
        return 1, "Overwritten: a number that moves; the events have their own."
    if is_date(one) or is_naming(one):
        return 1, "Overwritten: a name or date is corrected, and seldom grouped by."
    short = graph.longest[entity.name, one.name] <= _LONGEST_LABEL
    if short and (_is_place(one) or _is_group(one)):
        distinct = one.evidence.distinct or 0
        return 2, (
            f"Versioned: {distinct} values in {one.evidence.rows} members are what events are "
            "grouped by, and what was is lost if it is overwritten."
        )
    return 1, "Overwritten: it tells members apart rather than grouping them."


def _is_group(one: Attribute) -> bool:
    """Whether a column is one that events are grouped by, and no number that moves."""
    if kind(one) == "integer":
        return is_flag(one)
    return is_category(one)


def _is_place(one: Attribute) -> bool:
    return one.semantic_type in _PLACES and (one.evidence.distinct or 0) > 1
