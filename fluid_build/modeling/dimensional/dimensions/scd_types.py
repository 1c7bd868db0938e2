"""What happens when an attribute of a dimension changes: its slowly changing dimension (SCD) type.

Type 0 never changes, type 1 is overwritten, type 2 is versioned. What describes a member is of type
2: names, places, categories, prices, references. A past that was overwritten can't be restored, and
a single load can't show which changes are corrections. The exceptions, each stated for its column:

- type 0: the key of the member;
- type 1: other numbers of the member, and dates that happened once in its life, of which a change
  is a correction; what is about the record; what identifies a person, since versions would keep
  what the source corrects or erases; long text and documents, which nobody groups by; and what
  changes with every event, such as the date of the last order, a running total, or a level that a
  snapshot fact or the events themselves record.

A dimension is overwritten as a whole where history is of no use: no fact refers to it, it's a code
with its label, or the source keeps versions itself, each in a row of its own.
"""

from collections.abc import Mapping
from math import prod

from fluid_build.lexicon import terms
from fluid_build.modeling.business_codes import is_code_key
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    is_date,
    is_life_date,
    is_naming,
    is_numbering,
    is_person,
    is_record_stamp,
    is_remark,
    kind,
)
from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, ScdType
from fluid_build.modeling.dimensional.judging.date_roles import period_start
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph
from fluid_build.modeling.dimensional.star_names import StarNames, free_column
from fluid_build.modeling.measures import is_category_name
from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.profiling.names.words import singular, stem, strip_key_words, words

_CREDIT_LIMIT = frozenset({"credit", "limit"})
"""What is granted at a time, though a limit of something else isn't a level."""


def is_level(attribute: Attribute) -> bool:
    """Return whether a column holds a level that events change: a balance, a stock, a salary.

    A size isn't one, such as a population: it describes. Nor is a running total.
    """
    if attribute.measure is None or attribute.evidence.distinct == 1:
        return False
    parts = {singular(word) for word in words(attribute.name)}
    if attribute.measure.additivity != "semi-additive":
        return parts >= _CREDIT_LIMIT
    return (
        not parts & terms("size")
        and not parts & terms("bound")
        and not _is_running_total(attribute)
    )


def _is_running_total(attribute: Attribute) -> bool:
    """Return whether a number is added up over all events so far: ``visits``, ``view_count``."""
    if kind(attribute) not in {"integer", "decimal", "float"}:
        return False
    running = terms("running", "cumulative")
    parts = set(words(attribute.name))
    if read_number_name(attribute.name).meaning != "count":
        return bool(running & parts)
    return not {*map(singular, running)}.isdisjoint(map(singular, parts))


def _totals_lines(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> bool:
    """Return whether a number is the total of rows that refer to it, or is named as their count.

    It's another one whenever something happens, so that versions of it would be a diary. A number
    that isn't a measure is no total: the round of a race equals the wins of all drivers so far.
    """
    if attribute.measure is None:
        return False
    if any(
        (total.header, total.total) == (entity.name, attribute.name)
        for total in graph.observations.header_totals
    ):
        return True
    if read_number_name(attribute.name).meaning != "count":
        return False
    parts = {singular(word) for word in words(attribute.name)}
    return any(
        singular(words(child.from_entity)[-1]) in parts
        for child in graph.children[entity.name]
        if words(child.from_entity)
    )


_VERSIONED = (
    "Versioned: it's read as describing the member, and a report on the past needs what was true"
    " then. One load can't show whether changes are corrections."
)
_PERSONAL = (
    "Overwritten: it's personal data, and versions would keep what the source corrects or erases."
)
_READ_NOT_GROUPED = (
    "Overwritten: it's read and not grouped by, and each version would repeat all of it."
)
_WITH_EVENTS = "Overwritten: it's read as a total or level that events change, and they are kept."
_FEWEST_ATTRIBUTES = 3
"""Columns of its own that a dimension needs. A key and a label are a lookup: a new label is a
correction."""
_LONGEST_LABEL = 255
"""Characters of a value that describes: a usual limit of names and titles. Longer text is prose."""
_AREAS = frozenset({"city", "country", "country_code", "postal_code", "region", "region_code"})
"""Areas that are too large to say who lives there."""
_ADDRESSES = frozenset({"address", "latitude", "longitude", "street_address"})
_FEWEST_ROWS = 20
"""Rows in which a number must be unique to identify a member. In fewer, many are by accident."""
_REPEATED_ID = 0.95
"""Distinct values per row up to which an identifier has several rows: those are its versions."""


def with_scd_types(
    graph: ReferenceGraph,
    names: StarNames,
    dimension: Dimension,
    used_relations: set[str],
    *,
    is_used: bool,
    recorded: Mapping[str, str],
) -> Dimension:
    """Return the dimension with each attribute's type, and a relation for versions if it needs one.

    ``is_used`` says that a fact refers to it; ``recorded`` are the attributes whose history is in a
    snapshot fact, each with the name of that fact.
    """
    if dimension.dimension_type in {"junk", "date"} or not dimension.natural_key_columns:
        return dimension
    entity = graph.entities[dimension.entity_name]
    obstacle = _obstacle(graph, entity, dimension, is_used=is_used)
    attributes = tuple(
        _with_scd_type(graph, entity, attribute, obstacle, recorded)
        for attribute in dimension.attributes
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


def _obstacle(graph: ReferenceGraph, entity: Entity, dimension: Dimension, *, is_used: bool) -> str:
    """Return why no attribute of a dimension is versioned, "" where those that may change are."""
    if not is_used:
        return "no fact refers to the dimension, so nothing would use its history"
    if len([a for a in dimension.attributes if not a.source]) < _FEWEST_ATTRIBUTES:
        return "it belongs to a simple lookup, so past events show the current value too"
    # (yes, no) of two flags in four rows: another value is another member.
    columns = [a for a in entity.attributes if a.name not in graph.keys[entity.name]]
    values = [(a.evidence.distinct or 0) + bool(a.evidence.nulls) for a in columns]
    if len([number for number in values if number > 1]) > 1 and prod(values) == entity.rows:
        return "each member is another combination of values, so another value is another member"
    versioned_id = _versioned_id(graph, entity)
    if versioned_id:
        return (
            f"{versioned_id} repeats, and rows with the same one are read as its versions, which"
            " the source keeps"
        )
    return ""


def _versioned_id(graph: ReferenceGraph, entity: Entity) -> str:
    """Return the identifier of members that have a row for each version; "" where they haven't.

    Each row has a period, a key of its own (``customer_sk``), and an identifier called like it that
    repeats (``customer_id``).
    """
    dates = [attribute for attribute in entity.attributes if is_date(attribute)]
    key = graph.keys[entity.name]
    if len(key) != 1 or not any(period_start(date, entity) for date in dates):
        return ""
    key_name = set(stem(strip_key_words(words(key[0]))))
    for attribute in entity.attributes:
        filled = attribute.evidence.rows - attribute.evidence.nulls
        name = set(stem(strip_key_words(words(attribute.name))))
        is_repeated = 1 < (attribute.evidence.distinct or 0) <= _REPEATED_ID * filled
        if (
            is_repeated
            and attribute.name not in key
            and key_name
            and key_name <= name <= key_name | terms("alternate_key")
            and is_numbering(attribute)
            and not is_category_name(attribute.name)
            and not graph.is_referring(entity.name, attribute.name)
        ):
            return attribute.name
    return ""


def _with_scd_type(
    graph: ReferenceGraph,
    entity: Entity,
    attribute: DimensionAttribute,
    obstacle: str,
    recorded: Mapping[str, str],
) -> DimensionAttribute:
    if attribute.source:
        reason = f"{attribute.reason} Overwritten: past events show the current value too."
        return attribute.model_copy(update={"scd_type": 1, "reason": reason})
    scd_type, reason = _scd_type(graph, entity, entity.attribute(attribute.attribute))
    if attribute.attribute in recorded:
        fact = recorded[attribute.attribute]
        scd_type, reason = 1, f"Overwritten: {fact} records its value at each load."
    elif scd_type == 2 and obstacle:
        scd_type, reason = 1, f"Overwritten: {obstacle}."
    return attribute.model_copy(update={"scd_type": scd_type, "reason": reason})


def _scd_type(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> tuple[ScdType, str]:
    if attribute.name in graph.keys[entity.name]:
        return 0, "It identifies the member: another value is another member."
    if is_life_date(attribute):
        return 1, "Overwritten: it's read as a date that happens once, so a change corrects it."
    if is_record_stamp(attribute):
        return 1, "Overwritten: it's read as about the record, not about the member."
    if attribute.pii and not _is_place(entity, attribute):
        return 1, _PERSONAL
    if graph.is_referring(entity.name, attribute.name):
        return 2, "Versioned: what the member belongs to may change, and events are grouped by it."
    if _identifies(graph, entity, attribute):
        return 1, "Overwritten: it identifies the member too, so a change corrects it."
    if is_remark(attribute) or _is_document(graph, entity, attribute):
        return 1, _READ_NOT_GROUPED
    if _changes_with_events(attribute) or _totals_lines(graph, entity, attribute):
        return 1, _WITH_EVENTS
    return 2, _VERSIONED


def _is_place(entity: Entity, attribute: Attribute) -> bool:
    """Return whether a column is where a member is: it may move, and reports group by it.

    A street is personal where people live there, and not where a shop is.
    """
    if attribute.semantic_type in _AREAS:
        return True
    return attribute.semantic_type in _ADDRESSES and not is_person(entity)


def _identifies(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> bool:
    """Return whether a column is another key of the member: a number or code that is unique."""
    if not graph.is_unique(entity.name, (attribute.name,)) or is_naming(attribute):
        return False
    if attribute.semantic_type in _AREAS:
        return False
    is_referred_to = any(
        child.to_attributes == (attribute.name,) for child in graph.children[entity.name]
    )
    own_words = {singular(word) for word in words(entity.own_name)}
    is_known = any(
        key.attributes == (attribute.name,) and is_code_key(entity, key, own_words)
        for key in entity.keys
    )
    # A status of 139 kinds is unique in the list of them, and describes each.
    is_number = is_numbering(attribute) and not is_category_name(attribute.name)
    is_numbered = entity.rows >= _FEWEST_ROWS and is_number
    return is_referred_to or is_known or is_numbered


def _is_document(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> bool:
    if kind(attribute) in {"nested", "other"}:
        return True
    if kind(attribute) == "text" and terms("media") & set(words(attribute.name)):
        return True
    return graph.longest_texts[entity.name, attribute.name] > _LONGEST_LABEL


def _changes_with_events(attribute: Attribute) -> bool:
    if is_date(attribute):
        return bool(terms("newest") & set(words(attribute.name)))
    return _is_running_total(attribute) or is_level(attribute)
