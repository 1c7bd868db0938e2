"""What happens when an attribute of a dimension changes: its slowly changing dimension (SCD) type.

Type 0 never changes, type 1 is overwritten, type 2 is versioned. Type 2 is for what events are
grouped by and what may change for a member: a category, a place, a reference. It pays only where a
dated event refers to the dimension. Such attributes are versioned from the first load, because a
past that was overwritten can't be restored.
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
from fluid_build.text import counted

_OVERWRITTEN_NUMBER = (
    "Overwritten: it's a number that changes often, and events record its value at the time."
)
_OVERWRITTEN_NAME = (
    "Overwritten: changes to names and dates are usually corrections, and reports rarely group by"
    " them."
)

_FEWEST_MEMBERS = 10
"""Members that a dimension needs before the values of its columns say which of them group."""
_FEWEST_ATTRIBUTES = 3
"""Columns of its own that a dimension needs. A key and a label are a lookup: a new label is a
correction."""
_LONGEST_LABEL = 64
"""Characters of a value that events are grouped by; longer text is a description."""
_PLACES = frozenset({"city", "country", "country_code", "region", "region_code"})
"""What a member may move to. It's versioned even where too many values occur to group by."""


def with_scd_types(
    graph: ReferenceGraph,
    names: StarNames,
    dimension: Dimension,
    used_relations: set[str],
    *,
    is_dated: bool,
) -> Dimension:
    """Return the dimension with each attribute's type, and a relation for versions if it needs one.

    ``is_dated`` says that a dated event refers to it.
    """
    if dimension.dimension_type in {"junk", "date"} or not dimension.natural_key_columns:
        return dimension
    entity = graph.entities[dimension.entity_name]
    obstacle = _obstacle(entity, dimension, is_dated)
    attributes = tuple(
        _with_scd_type(graph, entity, attribute, obstacle) for attribute in dimension.attributes
    )
    dimension = dimension.model_copy(update={"attributes": attributes})
    if all(attribute.scd_type != 2 for attribute in attributes):
        return dimension
    used_names = {attribute.name for attribute in attributes}
    used_names |= {link.key for link in dimension.links}
    used_names.add(dimension.surrogate_key)
    member = names.member(entity.name)
    return dimension.model_copy(
        update={
            "durable_key": free_column(f"{member}_durable_key", used_names),
            "history": free_column(f"{dimension.name}_history", used_relations),
        }
    )


def _obstacle(entity: Entity, dimension: Dimension, is_dated: bool) -> str:
    """Return why no attribute of a dimension is versioned, "" where some may be."""
    if not is_dated:
        return "no event with a date refers to the dimension, so nothing would use its history"
    if len([a for a in dimension.attributes if not a.source]) < _FEWEST_ATTRIBUTES:
        return "it belongs to a simple lookup, so past events show the current value too"
    if entity.rows < _FEWEST_MEMBERS:
        return (
            f"with {counted(entity.rows, 'member')}, there is too little data to tell which columns"
            " are used for grouping"
        )
    return ""


def _with_scd_type(
    graph: ReferenceGraph, entity: Entity, attribute: DimensionAttribute, obstacle: str
) -> DimensionAttribute:
    if attribute.source:
        reason = f"{attribute.reason} Overwritten: past events show the current value too."
        return attribute.model_copy(update={"scd_type": 1, "reason": reason})
    scd_type, reason = _scd_type(graph, entity, entity.attribute(attribute.attribute))
    if scd_type == 2 and obstacle:
        scd_type, reason = 1, f"Overwritten: {obstacle}."
    return attribute.model_copy(update={"scd_type": scd_type, "reason": reason})


def _scd_type(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> tuple[ScdType, str]:
    if attribute.name in graph.keys[entity.name]:
        return 0, "It identifies the member and never changes."
    if is_life_date(attribute):
        return 0, "It happened once: only a correction at the source could change it."
    if is_record_stamp(attribute):
        return 1, "Overwritten: it's about the record, not about the member."
    if attribute.pii:
        return 1, "Overwritten: history isn't kept for personal data."
    if graph.is_referring(entity.name, attribute.name):
        return 2, "Versioned: events are grouped by it, and its value may change."
    if attribute.measure is not None or kind(attribute) in {"decimal", "float"}:
        return 1, _OVERWRITTEN_NUMBER
    if is_date(attribute) or is_naming(attribute):
        return 1, _OVERWRITTEN_NAME
    is_short = graph.longest_texts[entity.name, attribute.name] <= _LONGEST_LABEL
    if is_short and (_is_place(attribute) or _is_group(attribute)):
        members = counted(attribute.evidence.rows, "member")
        values = counted(attribute.evidence.distinct or 0, "value")
        return 2, (
            f"Versioned: {members} share {values}, so reports may group by it, and overwriting it"
            " would lose the history."
        )
    return 1, "Overwritten: it describes single members, so reports don't group by it."


def _is_group(attribute: Attribute) -> bool:
    """Return whether events are grouped by a column; of whole numbers only codes are."""
    return is_flag(attribute) if kind(attribute) == "integer" else is_category(attribute)


def _is_place(attribute: Attribute) -> bool:
    return attribute.semantic_type in _PLACES and (attribute.evidence.distinct or 0) > 1
