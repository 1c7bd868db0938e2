"""A model that follows on an earlier one: what was there is kept, what came is added.

The model of what was there in the first forge is designed of the same input as then. Each arrival
is designed with everything before it, and only what is new is taken from that. What later data
contradicts makes claims weaker, and changes no element.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

from fluid_build.modeling.basis import (
    Arrival,
    Basis,
    Reference,
    observations_until,
    profile_until,
)
from fluid_build.modeling.conceptual import (
    Attribute,
    ConceptualModel,
    Entity,
    EntityKey,
    Relationship,
)
from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, HubReference, Link
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    DimensionalModel,
    DimensionAttribute,
    DimensionReference,
    Fact,
    FactAttribute,
    Measure,
)
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.modeling.types import Family, family
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile

_NOTHING_CAME = Arrival()
_NUMBERS: frozenset[Family] = frozenset({"integer", "decimal", "float"})


@dataclass(frozen=True, slots=True)
class DesignInput:
    """What was known once an arrival was there; the first one has none."""

    profile: Profile
    observations: Observations
    arrival: Arrival = _NOTHING_CAME


@dataclass(frozen=True, slots=True)
class Continuity:
    """How a model follows on an earlier one.

    ``inputs`` are those of the first forge and of each arrival. ``today`` has the claims of the
    last one with today's figures. ``nullable`` columns, ``incomplete`` references and ``domains``
    are weaker than the inputs say, and columns are read with ``wider`` types.
    """

    inputs: tuple[DesignInput, ...]
    today: Profile
    nullable: frozenset[SourceColumn] = frozenset()
    incomplete: frozenset[Reference] = frozenset()
    domains: Mapping[SourceColumn, tuple[str, ...]] = field(default_factory=dict)
    wider: frozenset[SourceColumn] = frozenset()
    evolution: Evolution | None = None


def continuity(basis: Basis, decided: Profile, today: Profile) -> Continuity:
    """Return how the model of a basis follows on the earlier ones.

    ``decided`` is the profile of the basis after the decisions, and ``today`` the same claims with
    today's figures.
    """
    count = len(basis.arrivals)
    read = {table.name for table in decided.tables}
    arrivals = (_NOTHING_CAME, *(_without_ignored(arrival, read) for arrival in basis.arrivals))
    return Continuity(
        inputs=tuple(
            DesignInput(
                _without_replaced(profile_until(basis, decided, number), basis, number),
                observations_until(basis, number),
                arrivals[number],
            )
            for number in range(count + 1)
        ),
        today=today,
        nullable=frozenset(basis.nullable),
        incomplete=frozenset(basis.incomplete),
        domains={
            SourceColumn(table=each.table, column=each.column): each.values
            for each in basis.domains
        },
        wider=frozenset(SourceColumn(table=each.table, column=each.column) for each in basis.wider),
        evolution=basis.evolution if basis.evolution != Evolution() else None,
    )


def _without_replaced(profile: Profile, basis: Basis, arrivals: int) -> Profile:
    """Return a profile without references to what tables were under an earlier key.

    The model has them since they came; what comes now refers to the present key.
    """
    arrived = {table for arrival in basis.arrivals[:arrivals] for table in arrival.tables}
    was = {each.was for each in basis.evolution.rekeyed_tables if each.table in arrived}
    if not was:
        return profile
    keys = tuple(key for key in profile.foreign_keys if key.to_table not in was)
    return profile.model_copy(update={"foreign_keys": keys})


def _without_ignored(arrival: Arrival, tables: Set[str]) -> Arrival:
    """Return what arrived in tables that no decision leaves out."""
    columns = tuple(column for column in arrival.columns if column.table in tables)
    return arrival.model_copy(update={"columns": columns})


# The conceptual layer.


def grown_conceptual(kept: ConceptualModel, fresh: ConceptualModel) -> ConceptualModel:
    """Return the conceptual layer with the tables, columns and references that came."""
    entities = {entity.name: entity for entity in kept.entities}
    labels = {identifier(entity.label) for entity in kept.entities}
    grown = []
    for entity in fresh.entities:
        if entity.name in entities:
            grown.append(_longer_entity(entities[entity.name], entity))
        else:
            grown.append(entity.model_copy(update={"new_name": _free(entity, labels)}))
    return fresh.model_copy(
        update={
            "entities": tuple(grown),
            "relationships": _with_new_relationships(kept.relationships, fresh.relationships),
        }
    )


def _longer_entity(kept: Entity, fresh: Entity) -> Entity:
    known = {attribute.name for attribute in kept.attributes}
    labels = {identifier(attribute.label) for attribute in kept.attributes}
    added = [
        attribute.model_copy(update={"new_name": _free(attribute, labels)})
        for attribute in fresh.attributes
        if attribute.name not in known
    ]
    keys = [key for key in fresh.keys if key.kind != "primary" and not known >= {*key.attributes}]
    return kept.model_copy(
        update={"attributes": (*kept.attributes, *added), "keys": (*kept.keys, *keys)}
    )


def _free(part: Entity | Attribute, labels: set[str]) -> str | None:
    """Return another name where an earlier part would have to give up its own; None for others."""
    name = identifier(part.name)
    if name not in labels:
        labels.add(name)
        return None
    free = free_identifier(name, labels)
    labels.add(free)
    return free


def _with_new_relationships(
    kept: Sequence[Relationship], fresh: Sequence[Relationship]
) -> tuple[Relationship, ...]:
    names = {reference_of(relationship): relationship.name for relationship in kept}
    known = {reference_of(relationship): relationship for relationship in fresh}
    # The figures of one that has become looser are those of the arrival.
    found = [
        now.model_copy(update={"name": relationship.name})
        if (now := known.get(reference_of(relationship))) is not None
        else relationship
        for relationship in kept
    ]
    used = set(names.values())
    for relationship in fresh:
        if reference_of(relationship) not in names:
            name = free_identifier(relationship.name, used)
            used.add(name)
            found.append(relationship.model_copy(update={"name": name}))
    return tuple(found)


def reference_of(relationship: Relationship) -> Reference:
    """Return what identifies a relationship, whatever it's called."""
    return Reference(
        table=relationship.from_entity,
        columns=relationship.from_attributes,
        to_table=relationship.to_entity,
        to_columns=relationship.to_attributes,
    )


def with_claims_of_today(
    conceptual: ConceptualModel, today: ConceptualModel, kept: Continuity
) -> ConceptualModel:
    """Return the conceptual layer with today's figures, and with what they contradict."""
    entities = {entity.name: entity for entity in today.entities}
    found = {reference_of(each): each for each in today.relationships}
    return conceptual.model_copy(
        update={
            "entities": tuple(
                _entity_today(entity, entities.get(entity.name, entity), kept)
                for entity in conceptual.entities
            ),
            "relationships": tuple(
                _relationship_today(each, found.get(reference_of(each)), kept)
                for each in conceptual.relationships
            ),
            "candidates": today.candidates,
            "skipped": today.skipped,
            "ignored": today.ignored,
        }
    )


def _entity_today(entity: Entity, today: Entity, kept: Continuity) -> Entity:
    attributes = {attribute.name: attribute for attribute in today.attributes}
    return entity.model_copy(
        update={
            "rows": today.rows,
            "place": today.place,
            "attributes": tuple(
                _attribute_today(each, attributes.get(each.name), entity.name, kept)
                for each in entity.attributes
            ),
            "keys": tuple(_keys_today(entity, today)),
        }
    )


def _attribute_today(
    attribute: Attribute, today: Attribute | None, table: str, kept: Continuity
) -> Attribute:
    column = SourceColumn(table=table, column=attribute.name)
    required = attribute.required and column not in kept.nullable
    update: dict[str, object] = {
        "required": required,
        "accepted_values": kept.domains.get(column, attribute.accepted_values),
    }
    if today is not None:
        update |= {"evidence": today.evidence, "pii": attribute.pii or today.pii}
        if today.required == required:
            update["reason"] = today.reason
        if column in kept.wider:
            update |= _wider_reading(attribute, today)
    if not required and attribute.required and (today is None or today.required):
        update["reason"] = "It was null in some rows, or not all rows have it."
    return attribute.model_copy(update=update)


def _wider_reading(attribute: Attribute, today: Attribute) -> dict[str, object]:
    """Return how an attribute is read now; words have no sum."""
    is_number = family(today.type) in _NUMBERS
    return {
        "type": today.type,
        "source_type": today.source_type,
        "conversion": today.conversion,
        "measure": attribute.measure if is_number else None,
    }


def _keys_today(entity: Entity, today: Entity) -> Iterable[EntityKey]:
    found = {(key.kind, key.attributes): key for key in today.keys}
    for key in entity.keys:
        now = found.get((key.kind, key.attributes))
        if now is not None and now.holds == key.holds:
            yield now
        elif key.kind != "candidate":
            yield key


def _relationship_today(
    relationship: Relationship, today: Relationship | None, kept: Continuity
) -> Relationship:
    is_broken = reference_of(relationship) in kept.incomplete or any(
        SourceColumn(table=relationship.from_entity, column=column) in kept.nullable
        for column in relationship.from_attributes
    )
    update: dict[str, object] = {}
    if is_broken:
        update["from_participation"] = "optional"
    if today is not None:
        update |= {
            "coverage": today.coverage,
            "confidence": today.confidence,
            "evidence": today.evidence,
            "reason": today.reason,
        }
        if today.to_participation == "optional":
            update["to_participation"] = "optional"
    return relationship.model_copy(update=update)


# The layers of the techniques.


def vault_with_claims(
    vault: DataVaultModel,
    conceptual: ConceptualModel,
    nullable: Set[SourceColumn],
    gone: Set[SourceColumn],
) -> DataVaultModel:
    """Return the vault with the references optional that rows may lack, and today's key figures.

    A link with a key gets no rows without the columns that are ``gone``.
    """
    links = tuple(
        _with_optional(link, nullable if link.of_rows else nullable - gone) for link in vault.links
    )
    ghosts = {hub.hub for link in links for hub in link.hubs if hub.optional}
    keys = {
        (entity.name, key.attributes): key for entity in conceptual.entities for key in entity.keys
    }

    def with_claims(hub: Hub) -> Hub:
        key = keys.get((hub.entity_name, hub.business_key_columns))
        evidence = hub.evidence if key is None else key.evidence
        has_ghost = hub.has_ghost or hub.name in ghosts
        return hub.model_copy(update={"evidence": evidence, "has_ghost": has_ghost})

    return vault.model_copy(update={"hubs": tuple(map(with_claims, vault.hubs)), "links": links})


def _with_optional(link: Link, nullable: Set[SourceColumn]) -> Link:
    hubs = tuple(_optional(link.table, hub, nullable) for hub in link.hubs)
    return link.model_copy(update={"hubs": hubs})


def _optional(table: str, hub: HubReference, nullable: Set[SourceColumn]) -> HubReference:
    columns = (SourceColumn(table=table, column=column) for column in hub.columns)
    if hub.optional or nullable.isdisjoint(columns):
        return hub
    return hub.model_copy(update={"optional": True})


def star_with_claims(
    star: DimensionalModel, conceptual: ConceptualModel, nullable: Set[SourceColumn]
) -> DimensionalModel:
    """Return the star with the references optional that rows may lack, and today's types."""
    incomplete = {
        each.name: each
        for each in conceptual.relationships
        if each.from_participation == "optional"
    }
    broken = {(each.from_entity, each.from_attributes) for each in incomplete.values()}

    def weaker(element: Fact | Bridge, reference: DimensionReference) -> DimensionReference:
        joins = {} if isinstance(element, Bridge) else {j.name: j for j in element.joins}
        source, is_optional = reference.source, reference.optional
        table = joins[source].entity if source else element.entity_name
        while source and not is_optional:
            is_optional = joins[source].relationship in incomplete
            source = joins[source].parent
        columns = {SourceColumn(table=table, column=column) for column in reference.columns}
        is_optional |= (table, reference.columns) in broken or bool(columns & nullable)
        return reference.model_copy(update={"optional": is_optional})

    return star.model_copy(
        update={
            "facts": tuple(
                fact.model_copy(
                    update={
                        "dimensions": tuple(weaker(fact, r) for r in fact.dimensions),
                        "attributes": tuple(_typed(a, conceptual) for a in fact.attributes),
                        "measures": tuple(_counted(m, fact, conceptual) for m in fact.measures),
                    }
                )
                for fact in star.facts
            ),
            "dimensions": tuple(
                dimension.model_copy(
                    update={
                        "attributes": tuple(_typed(a, conceptual) for a in dimension.attributes)
                    }
                )
                for dimension in star.dimensions
            ),
            "bridges": tuple(
                bridge.model_copy(
                    update={
                        "references": tuple(weaker(bridge, r) for r in bridge.references),
                        "attributes": tuple(_typed(a, conceptual) for a in bridge.attributes),
                    }
                )
                for bridge in star.bridges
            ),
        }
    )


_A = TypeVar("_A", FactAttribute, DimensionAttribute)


def _typed(attribute: _A, conceptual: ConceptualModel) -> _A:
    """Return a column of a star with the type that its source is read with today."""
    if not attribute.attribute or len(attribute.source_columns) != 1:
        return attribute
    (column,) = attribute.source_columns
    type_ = conceptual.entity(column.table).attribute(column.column).type
    return attribute.model_copy(update={"type": type_})


def _counted(measure: Measure, fact: Fact, conceptual: ConceptualModel) -> Measure:
    """Return a measure, or the count of one that has words among its values now."""
    of = conceptual.entity(fact.entity_name).attribute(measure.column)
    if family(of.type) in _NUMBERS:
        return measure
    update = {
        "aggregation": "count",
        "additivity": "non-additive",
        "weighted_by": "",
        "reason": "It was a number at first, and words among its values have no sum.",
    }
    return measure.model_copy(update=update)
