"""The OSI semantic model of a profile: datasets, fields, relationships and metrics."""

import json
from collections.abc import Iterable, Iterator

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.identifiers import identifiers
from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.metric_terms import price_weights
from fluid_build.modeling.osi import (
    Dataset,
    OsiDocument,
    OsiField,
    OsiRelationship,
    osi_document,
    osi_extension,
    osi_field,
    osi_metric,
)
from fluid_build.modeling.osi_dialects import with_dialects
from fluid_build.modeling.types import family
from fluid_build.profiling.profile import Profile
from fluid_build.sources.sql import quote


def semantic_layer(profile: Profile, conceptual: ConceptualModel) -> OsiDocument | None:
    """Return the semantic model; None for a source without tables, which OSI can't express."""
    if not conceptual.entities:
        return None
    measures = {
        entity.name: {a.name: a.measure for a in entity.attributes if a.measure is not None}
        for entity in conceptual.entities
    }
    columns = [
        (entity.label, entity.attribute(column).label, role)
        for entity in conceptual.entities
        for column, role in measures[entity.name].items()
    ]
    weights = {
        (entity.label, entity.attribute(price).label): entity.attribute(quantity).label
        for entity in conceptual.entities
        for price, quantity in price_weights(entity).items()
    }
    labels = [
        json.dumps([role.aggregation, table, column], ensure_ascii=False)
        for table, column, role in columns
    ]
    names = identifiers(labels)
    document = osi_document(
        profile.source_name,
        f"The tables of {profile.source_name}, how they relate, and their metrics.",
        [_dataset(profile.source_name, e, measures[e.name]) for e in conceptual.entities],
        _relationships(conceptual),
        tuple(
            osi_metric(
                names[label],
                _aggregated(role, table, column, weights.get((table, column))),
                f"{role.additivity.capitalize()}: {role.reason}.",
            )
            for label, (table, column, role) in zip(labels, columns, strict=True)
        ),
    )
    return with_dialects(document).document


def _aggregated(role: MeasureRole, table: str, column: str, weight: str | None) -> str:
    value = f"{quote(table)}.{quote(column)}"
    if weight is None or role.aggregation != "avg":
        return f"{role.aggregation.upper()}({value})"
    weighing = f"{quote(table)}.{quote(weight)}"
    weights = f"SUM(CASE WHEN {value} IS NOT NULL THEN {weighing} END)"
    return f"SUM({value} * {weighing}) / NULLIF({weights}, 0)"


def _dataset(source: str, entity: Entity, measures: dict[str, MeasureRole]) -> Dataset:
    primary = entity.primary_key
    unique = tuple(
        _labels(entity, key.attributes)
        for key in entity.keys
        if key.kind != "primary" and key.holds
    )
    return Dataset(
        name=entity.label,
        source=f"{source}.{entity.name}",
        primary_key=_labels(entity, primary.attributes) if primary else None,
        unique_keys=unique or None,
        description=entity.description or None,
        fields=tuple(
            _field(attribute, attribute.name in measures) for attribute in entity.attributes
        ),
        custom_extensions=osi_extension({"reason": primary.reason}) if primary else None,
    )


def _field(attribute: Attribute, is_measure: bool) -> OsiField:
    is_time = family(attribute.type) in {"date", "timestamp"}
    return osi_field(
        attribute.label,
        quote(attribute.name),
        dimension=None if is_measure else "time" if is_time else "other",
        label=attribute.semantic_type,
        description=attribute.description or None,
        extension={"pii": True if attribute.pii else None},
    )


def _labels(entity: Entity, attributes: Iterable[str]) -> tuple[str, ...]:
    labels = {attribute.name: attribute.label for attribute in entity.attributes}
    return tuple(labels.get(name, name) for name in attributes)


def _relationships(conceptual: ConceptualModel) -> Iterator[OsiRelationship]:
    entities = {entity.name: entity for entity in conceptual.entities}
    for relationship in conceptual.relationships:
        child, parent = entities[relationship.from_entity], entities[relationship.to_entity]
        evidence = relationship.evidence
        yield OsiRelationship(
            name=relationship.name,
            from_=child.label,
            to=parent.label,
            from_columns=_labels(child, relationship.from_attributes),
            to_columns=_labels(parent, relationship.to_attributes),
            custom_extensions=osi_extension(
                {
                    "cardinality": relationship.cardinality,
                    "implied": relationship.implied,
                    "origin": relationship.origin,
                    "orphans": evidence.orphans,
                    "rows": evidence.rows,
                }
            ),
        )
