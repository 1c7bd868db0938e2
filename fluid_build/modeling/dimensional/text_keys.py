"""Keys that are read as what they refer to.

Text that holds numbers is read as numbers where a star is built. A key in text may not be: ``007``
and ``7`` would become one member, and a reference would no longer be spelled like what it points
at.
"""

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.types import type_name

_Place = tuple[str, str]


def with_comparable_keys(conceptual: ConceptualModel) -> ConceptualModel:
    """The model with keys and references left as text, unless both ends are read exactly alike."""
    kept = _kept_as_text(conceptual)
    if not kept:
        return conceptual
    entities = tuple(_entity(entity, kept) for entity in conceptual.entities)
    return conceptual.model_copy(update={"entities": entities})


def _kept_as_text(conceptual: ConceptualModel) -> set[_Place]:
    attributes = {
        (entity.name, attribute.name): attribute
        for entity in conceptual.entities
        for attribute in entity.attributes
    }
    pairs = [
        ((one.from_entity, child), (one.to_entity, parent))
        for one in conceptual.relationships
        for child, parent in zip(one.from_attributes, one.to_attributes, strict=True)
    ]
    keys = {
        (entity.name, name)
        for entity in conceptual.entities
        for key in entity.keys
        if key.kind != "candidate"
        for name in key.attributes
    }
    keys |= {place for pair in pairs for place in pair}
    kept = {
        place
        for place in keys
        if (found := attributes[place].conversion) is not None and not found.reversible
    }
    changed = True
    while changed:
        changed = False
        for child, parent in pairs:
            types = {_read_as(attributes[place], place in kept) for place in (child, parent)}
            if len(types) == 1:
                continue
            for place in (child, parent):
                if attributes[place].conversion is not None and place not in kept:
                    kept.add(place)
                    changed = True
    return kept


def _read_as(attribute: Attribute, as_text: bool) -> str:
    if attribute.conversion is None or as_text:
        return attribute.source_type
    return attribute.conversion.to_type


def _entity(entity: Entity, kept: set[_Place]) -> Entity:
    attributes = tuple(
        one.model_copy(
            update={
                "conversion": None,
                "type": type_name(one.source_type),
                "measure": None,
                "reason": f"{one.reason} A key in text stays text.",
            }
        )
        if (entity.name, one.name) in kept
        else one
        for one in entity.attributes
    )
    return entity.model_copy(update={"attributes": attributes})
