"""The business behind a source: its entities, what is said of them, and how they relate.

It shows what a modeller would draw on a whiteboard. Columns that only refer or keep records aren't
drawn, and a table that only pairs two others is a relationship between these.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity, Relationship
from fluid_build.modeling.data_vault.column_purposes import is_technical
from fluid_build.modeling.dimensional.column_purposes import names_record_author
from fluid_build.report.diagrams.diagram import Diagram, DiagramBox, DiagramEdge, Mark, Row
from fluid_build.report.diagrams.relationships import (
    child_count,
    entity_groups,
    keys_first,
    parent_count,
)

_SHARED_KEY = "same key"


@dataclass(frozen=True, slots=True)
class _Pairing:
    """A table that only pairs two others, by its references to them."""

    entity: Entity
    first: Relationship
    second: Relationship


def conceptual_diagram(model: ConceptualModel) -> Diagram:
    """Return the entities and relationships that aren't implied by others.

    Boxes have the names of the tables as ids, and the names that decisions gave them.
    """
    relationships = [each for each in model.relationships if not each.implied]
    entities = {entity.name: entity for entity in model.entities}
    pairings = {each.entity.name: each for each in _pairings(entities, relationships)}
    groups = entity_groups(model.entities)
    referring = {
        (each.from_entity, attribute)
        for each in relationships
        for attribute in each.from_attributes
    }
    return Diagram(
        "The business",
        boxes=tuple(
            DiagramBox(
                id=entity.name,
                name=entity.label,
                kind="entity",
                rows=_rows(entity, referring),
                group=groups[entity.name],
                tables=(entity.name,),
            )
            for entity in model.entities
            if entity.name not in pairings
        ),
        edges=tuple(_edges(relationships, entities, pairings)),
    )


def _pairings(
    entities: Mapping[str, Entity], relationships: Sequence[Relationship]
) -> Iterator[_Pairing]:
    parents = {each.to_entity for each in relationships}
    by_child: dict[str, list[Relationship]] = defaultdict(list)
    for relationship in relationships:
        by_child[relationship.from_entity].append(relationship)
    for entity in entities.values():
        references = by_child[entity.name]
        if len(references) == 2 and entity.name not in parents:
            first, second = references
            columns = {*first.from_attributes, *second.from_attributes}
            are_mandatory = first.from_participation == second.from_participation == "mandatory"
            if are_mandatory and all(
                attribute.name in columns or _keeps_records(attribute)
                for attribute in entity.attributes
            ):
                yield _Pairing(entity, first, second)


def _rows(entity: Entity, referring: Set[tuple[str, str]]) -> tuple[Row, ...]:
    primary = set(entity.primary_key.attributes) if entity.primary_key else set()
    declared = {
        name
        for key in entity.keys
        if key.kind == "declared" and key.holds
        for name in key.attributes
    }
    return keys_first(
        [
            Row(
                attribute.label, attribute.semantic_type or "", _marks(attribute, primary, declared)
            )
            for attribute in entity.attributes
            if (entity.name, attribute.name) not in referring
            and (attribute.name in primary or not _keeps_records(attribute))
        ]
    )


def _marks(attribute: Attribute, primary: Set[str], declared: Set[str]) -> tuple[Mark, ...]:
    if attribute.name in primary:
        return ("PK",)
    return ("BK",) if attribute.name in declared else ()


def _keeps_records(attribute: Attribute) -> bool:
    """Return whether an attribute is about the row as a record, and not about the business."""
    return is_technical(attribute) or names_record_author(attribute)


def _edges(
    relationships: Sequence[Relationship],
    entities: Mapping[str, Entity],
    pairings: Mapping[str, _Pairing],
) -> Iterator[DiagramEdge]:
    for number, relationship in enumerate(relationships, start=1):
        pairing = pairings.get(relationship.from_entity)
        if pairing is None:
            yield _relationship_edge(f"r{number}", relationship, entities)
        elif relationship is pairing.first:
            yield _pairing_edge(f"r{number}", pairing, entities)


def _relationship_edge(
    id_: str, relationship: Relationship, entities: Mapping[str, Entity]
) -> DiagramEdge:
    child, parent = entities[relationship.from_entity], entities[relationship.to_entity]
    shares_key = _shares_key(relationship, child, parent)
    orphans = relationship.evidence.orphans
    return DiagramEdge(
        id=id_,
        child=child.name,
        child_rows=(),
        parent=parent.name,
        parent_rows=(),
        child_count=child_count(relationship),
        parent_count=parent_count(relationship),
        state="broken" if orphans else "sound",
        orphans=orphans,
        label=relationship.role or (_SHARED_KEY if shares_key else ""),
        text=_describe(relationship, child, parent, shares_key=shares_key),
    )


def _shares_key(relationship: Relationship, child: Entity, parent: Entity) -> bool:
    """Return whether the child's whole key is the parent's, as that of a subtype would be."""
    return (
        relationship.cardinality == "one-to-one"
        and relationship.from_participation == "mandatory"
        and child.primary_key is not None
        and parent.primary_key is not None
        and set(child.primary_key.attributes) == set(relationship.from_attributes)
        and set(parent.primary_key.attributes) == set(relationship.to_attributes)
    )


def _describe(
    relationship: Relationship, child: Entity, parent: Entity, *, shares_key: bool
) -> str:
    if shares_key:
        return (
            f"Each {child.label} shares its key with one {parent.label},"
            " as a subtype or an extension does."
        )
    is_optional = relationship.from_participation == "optional"
    number = "at most one" if is_optional else "one"
    role = f" as {relationship.role}" if relationship.role else ""
    return f"Each {child.label} refers to {number} {parent.label}{role}."


def _pairing_edge(id_: str, pairing: _Pairing, entities: Mapping[str, Entity]) -> DiagramEdge:
    first, second = entities[pairing.first.to_entity], entities[pairing.second.to_entity]
    return DiagramEdge(
        id=id_,
        child=first.name,
        child_rows=(),
        parent=second.name,
        parent_rows=(),
        # Each row of the table pairs one of both: a second has as many firsts as it has rows there.
        child_count=child_count(pairing.second),
        parent_count=child_count(pairing.first),
        label=pairing.entity.label,
        text=f"{pairing.entity.label} pairs {first.label} with {second.label}.",
    )
