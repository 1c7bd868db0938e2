"""Keys in text that stay text.

A star reads text that holds numbers as numbers. That would spoil keys: ``007`` and ``7`` would be
one member, in this load or the next; a reference would no longer be spelled like the key that it
refers to; and the first key with a letter would stop a load.
"""

from collections.abc import Iterable, Mapping

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.types import is_number, type_name

_Column = tuple[str, str]


def keep_text_keys(conceptual: ConceptualModel) -> ConceptualModel:
    """Return the model with keys and references left as text.

    Numbers in text are numbers where what they refer to, or what refers to them, is stored as a
    number; dates are dates where both ends convert alike.
    """
    text_columns = _text_columns(conceptual)
    if not text_columns:
        return conceptual
    entities = tuple(_without_conversions(entity, text_columns) for entity in conceptual.entities)
    return conceptual.model_copy(update={"entities": entities})


def _text_columns(conceptual: ConceptualModel) -> set[_Column]:
    """Return the columns of keys and references that stay text.

    Those that lose their spelling do, and so does each that refers to one or is referred to by one.
    """
    attributes = {
        (entity.name, attribute.name): attribute
        for entity in conceptual.entities
        for attribute in entity.attributes
    }
    pairs = [
        ((relationship.from_entity, child), (relationship.to_entity, parent))
        for relationship in conceptual.relationships
        for child, parent in zip(
            relationship.from_attributes, relationship.to_attributes, strict=True
        )
    ]
    columns = {
        (entity.name, name)
        for entity in conceptual.entities
        for key in entity.keys
        if key.kind != "candidate"
        for name in key.attributes
    }.union(*pairs)
    counted = _paired_with_numbers(attributes, pairs)
    text_columns = {
        column
        for column in columns
        if _loses_spelling(attributes[column])
        or (_becomes_number(attributes[column]) and column not in counted)
    }
    has_changed = True
    while has_changed:
        has_changed = False
        for pair in pairs:
            types = {_type_in_star(attributes[c], is_text=c in text_columns) for c in pair}
            if len(types) == 1:
                continue
            for column in pair:
                if attributes[column].conversion is not None and column not in text_columns:
                    text_columns.add(column)
                    has_changed = True
    return text_columns


def _paired_with_numbers(
    attributes: Mapping[_Column, Attribute], pairs: Iterable[tuple[_Column, _Column]]
) -> set[_Column]:
    """Return the columns that refer to a stored number, or that one refers to, also by others."""
    partners: dict[_Column, set[_Column]] = {}
    for child, parent in pairs:
        partners.setdefault(child, set()).add(parent)
        partners.setdefault(parent, set()).add(child)
    waiting = [
        column
        for column in partners
        if attributes[column].conversion is None and is_number(attributes[column].source_type)
    ]
    found: set[_Column] = set()
    while waiting:
        column = waiting.pop()
        if column not in found:
            found.add(column)
            waiting += partners[column]
    return found


def _becomes_number(attribute: Attribute) -> bool:
    return attribute.conversion is not None and is_number(attribute.conversion.to_type)


def _loses_spelling(attribute: Attribute) -> bool:
    return attribute.conversion is not None and not attribute.conversion.reversible


def _type_in_star(attribute: Attribute, *, is_text: bool) -> str:
    if attribute.conversion is None or is_text:
        return attribute.source_type
    return attribute.conversion.to_type


def _without_conversions(entity: Entity, text_columns: set[_Column]) -> Entity:
    attributes = tuple(
        attribute.model_copy(
            update={
                "conversion": None,
                "type": type_name(attribute.source_type),
                "measure": None,
                "reason": f"{attribute.reason} It's in a key stored as text, so it stays text.",
            }
        )
        if (entity.name, attribute.name) in text_columns
        else attribute
        for attribute in entity.attributes
    )
    return entity.model_copy(update={"attributes": attributes})
