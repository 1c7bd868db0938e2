"""The ``semantics`` of a table: what a row is and refers to, what to group by and to add up."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fluid_build.contract.fluid import (
    Dimension,
    DimensionParams,
    Measure,
    SemanticEntity,
    Semantics,
)
from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.naming import identifier, identifiers
from fluid_build.modeling.types import family
from fluid_build.sources.sql import quote, quote_all

_NOT_FOR_GROUPING = {"nested", "other", "time", "float", "decimal"}


def semantics(
    entity: Entity,
    references: Sequence[Relationship],
    measures: Mapping[str, MeasureRole],
    key_columns: set[str],
    ids: Mapping[str, str],
) -> Semantics:
    """The semantic model of one table; ``ids`` are the identifiers of all tables."""
    names = identifiers(attribute.name for attribute in entity.attributes)
    entities = _entities(entity, references, ids)
    taken = {item.name for item in entities}
    dimensions = _dimensions(entity, measures, key_columns, names, taken)
    times = [dimension.name for dimension in dimensions if dimension.type == "time"]
    return Semantics(
        name=ids[entity.name],
        description=entity.description or None,
        default_agg_time_dimension=times[0] if len(times) == 1 else None,
        entities=entities or None,
        measures=_measures(measures, names, taken),
        dimensions=dimensions or None,
    )


def _entities(
    entity: Entity, references: Sequence[Relationship], ids: Mapping[str, str]
) -> list[SemanticEntity]:
    """The table's own keys, and one entity for each reference, named after what it refers to.

    A reference has the name of its parent's primary entity, by which the two join, except where
    several lead to the same parent: then each has the name of its role.
    """
    taken: set[str] = set()
    result = []
    for key in entity.keys:
        if key.kind == "primary":
            name = _free(ids[entity.name], taken)
            result.append(_entity(name, "primary", key.attributes, key.reason))
        elif key.kind == "declared" and key.holds:
            name = _free(identifier(" ".join(key.attributes)), taken)
            result.append(_entity(name, "unique", key.attributes, key.reason))
    shown = [relationship for relationship in references if not relationship.implied]
    times = Counter(relationship.to_entity for relationship in shown)
    for reference in shown:
        name = ids[reference.to_entity]
        if times[reference.to_entity] > 1 or reference.to_entity == entity.name:
            role = reference.role or " ".join(reference.from_attributes)
            name = identifier(f"{name} {role}")
        result.append(
            _entity(_free(name, taken), "foreign", reference.from_attributes, reference.reason)
        )
    return result


def _entity(name: str, type_: str, columns: tuple[str, ...], reason: str) -> SemanticEntity:
    expression = quote(columns[0]) if len(columns) == 1 else f"({quote_all(columns)})"
    return SemanticEntity.model_validate(
        {"name": name, "type": type_, "expr": expression, "description": reason}
    )


def _dimensions(
    entity: Entity,
    measures: Mapping[str, MeasureRole],
    key_columns: set[str],
    names: Mapping[str, str],
    taken: set[str],
) -> list[Dimension]:
    return [
        _dimension(attribute, _free(names[attribute.name], taken))
        for attribute in entity.attributes
        if attribute.name not in measures
        and attribute.name not in key_columns
        and _groups(attribute)
    ]


def _groups(attribute: Attribute) -> bool:
    """Whether one may group by it: no personal data, no free text, nothing nested, not empty."""
    if attribute.pii or attribute.semantic_type == "free_text":
        return False
    evidence = attribute.evidence
    if evidence.rows > 0 and evidence.nulls == evidence.rows:
        return False
    return family(attribute.type) not in _NOT_FOR_GROUPING


def _dimension(attribute: Attribute, name: str) -> Dimension:
    is_time = family(attribute.type) in {"date", "timestamp"}
    return Dimension(
        name=name,
        type="time" if is_time else "categorical",
        expr=quote(attribute.name),
        description=attribute.description or None,
        type_params=DimensionParams(time_granularity="day") if is_time else None,
    )


def _measures(
    measures: Mapping[str, MeasureRole], names: Mapping[str, str], taken: set[str]
) -> list[Measure]:
    columns = [
        Measure(
            name=_free(names[column], taken),
            agg=role.aggregation,
            expr=quote(column),
            description=f"{role.additivity.capitalize()}: {role.reason}.",
        )
        for column, role in measures.items()
    ]
    rows = Measure(name=_free("row_count", taken), agg="count", expr="1", description="Rows.")
    return [rows, *columns]


def _free(name: str, taken: set[str]) -> str:
    """The name, or where it is taken in this table the name with the lowest free number."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free
