"""The OSI semantic model of a profile: datasets, fields, relationships and metrics."""

import json

from fluid_build.modeling.conceptual import ConceptualModel, Entity, Relationship
from fluid_build.modeling.identifiers import identifiers
from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.osi import (
    CustomExtension,
    Dataset,
    DialectExpression,
    DimensionMetadata,
    Expression,
    Metric,
    OsiDocument,
    OsiField,
    OsiRelationship,
    SemanticModel,
)
from fluid_build.modeling.types import family
from fluid_build.profiling.profile import Profile
from fluid_build.sources.sql import quote


def osi_document(profile: Profile, conceptual: ConceptualModel) -> OsiDocument | None:
    """Return the semantic model; None for a source without tables, which OSI can't express."""
    if not conceptual.entities:
        return None
    measures = {
        entity.name: {a.name: a.measure for a in entity.attributes if a.measure is not None}
        for entity in conceptual.entities
    }
    model = SemanticModel(
        name=profile.source_name,
        description=f"The tables of {profile.source_name}, how they relate, and their metrics.",
        datasets=tuple(
            _dataset(profile.source_name, entity, measures[entity.name])
            for entity in conceptual.entities
        ),
        relationships=tuple(map(_relationship, conceptual.relationships)) or None,
        metrics=_metrics(conceptual, measures) or None,
    )
    return OsiDocument(dialects=("ANSI_SQL",), vendors=("COMMON",), semantic_model=(model,))


def _dataset(source: str, entity: Entity, measures: dict[str, MeasureRole]) -> Dataset:
    primary = entity.primary_key
    unique = tuple(key.attributes for key in entity.keys if key.kind != "primary" and key.holds)
    return Dataset(
        name=entity.name,
        source=f"{source}.{entity.name}",
        primary_key=primary.attributes if primary else None,
        unique_keys=unique or None,
        description=entity.description or None,
        fields=tuple(
            OsiField(
                name=attribute.name,
                expression=_ansi(quote(attribute.name)),
                dimension=_dimension(attribute.type, attribute.name in measures),
                label=attribute.semantic_type,
                description=attribute.description or None,
                custom_extensions=_extension(pii=True) if attribute.pii else None,
            )
            for attribute in entity.attributes
        ),
        custom_extensions=_extension(reason=primary.reason) if primary else None,
    )


def _dimension(type_: str, is_measure: bool) -> DimensionMetadata | None:
    if is_measure:
        return None
    return DimensionMetadata(is_time=family(type_) in {"date", "timestamp"})


def _relationship(relationship: Relationship) -> OsiRelationship:
    evidence = relationship.evidence
    return OsiRelationship(
        name=relationship.name,
        from_=relationship.from_entity,
        to=relationship.to_entity,
        from_columns=relationship.from_attributes,
        to_columns=relationship.to_attributes,
        custom_extensions=_extension(
            origin=relationship.origin,
            implied=relationship.implied,
            cardinality=relationship.cardinality,
            rows=evidence.rows,
            orphans=evidence.orphans,
        ),
    )


def _metrics(
    conceptual: ConceptualModel, measures: dict[str, dict[str, MeasureRole]]
) -> tuple[Metric, ...]:
    columns = [
        (entity.name, column, role)
        for entity in conceptual.entities
        for column, role in measures[entity.name].items()
    ]
    labels = [
        json.dumps([role.aggregation, table, column], ensure_ascii=False)
        for table, column, role in columns
    ]
    names = identifiers(labels)
    return tuple(
        Metric(
            name=names[label],
            expression=_ansi(f"{role.aggregation.upper()}({quote(table)}.{quote(column)})"),
            description=f"{role.additivity.capitalize()}: {role.reason}.",
        )
        for label, (table, column, role) in zip(labels, columns, strict=True)
    )


def _ansi(expression: str) -> Expression:
    return Expression(dialects=(DialectExpression(dialect="ANSI_SQL", expression=expression),))


def _extension(**data: object) -> tuple[CustomExtension, ...]:
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    return (CustomExtension(vendor_name="COMMON", data=text),)
