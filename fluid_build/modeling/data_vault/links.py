"""The links of a vault: one for each reference of a hub's table, one for each relating table."""

from collections.abc import Iterator, Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.elements import HubReference, Link, LinkType
from fluid_build.modeling.data_vault.hub_references import (
    ResolvedReference,
    VaultDecisions,
    identifies_alike,
    own_reference,
    payload_columns,
    resolved_references,
)
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.relating import is_about_record
from fluid_build.modeling.data_vault.table_names import names_hierarchy
from fluid_build.modeling.data_vault.vault_names import LINK_PREFIXES
from fluid_build.modeling.element import SourceColumn, source_columns
from fluid_build.profiling.names.words import words
from fluid_build.text import listed


def links(decisions: VaultDecisions) -> Iterator[Link]:
    """Return all links, in the order of the source."""
    for name, placement in decisions.placements.items():
        entity = decisions.tables.entities[name]
        if placement.kind in {"hub", "subtype"}:
            for reference in resolved_references(decisions, name):
                yield _link_of_reference(decisions, entity, reference)
        elif placement.kind in {"link", "transaction"}:
            yield _link_of_table(decisions, entity)


def _link_of_reference(
    decisions: VaultDecisions, entity: Entity, reference: ResolvedReference
) -> Link:
    own, relationship = own_reference(decisions, entity.name), reference.relationship
    link_type = _link_type(decisions, entity.name, reference)
    parent, role = relationship.to_entity, reference.hub.role
    prefix = LINK_PREFIXES[link_type]
    name = decisions.relation(prefix, entity.name, decisions.stems.plain[parent], role)
    ends = (own, reference.hub)
    verb = "refers" if len(relationship.from_attributes) == 1 else "refer"
    return Link(
        name=name,
        table=entity.name,
        description=f"Which {parent} each {entity.name} refers to{f' as {role}' if role else ''}.",
        link_type=link_type,
        hubs=ends,
        hash_key=decisions.vault_names.link_key(name),
        mapped_source_tables=(entity.name,),
        source_columns=_source_columns(entity.name, ends),
        reason=f"{listed(relationship.from_attributes)} {verb} to {parent}:"
        f" {relationship.reason.rstrip('.')}.{_lookup_note((reference.hub,))}",
    )


def _link_type(decisions: VaultDecisions, table: str, reference: ResolvedReference) -> LinkType:
    if reference.hub.hub != decisions.hub_of(table).name:
        return "standard"
    columns = reference.relationship.from_attributes
    name_words = {word for column in columns for word in words(column)}
    return "same-as" if name_words & terms("same_as") else "hierarchical"


def _link_of_table(decisions: VaultDecisions, entity: Entity) -> Link:
    placement = decisions.placements[entity.name]
    identity = decisions.tables.identity(entity.name)
    # The references in the key come first: they're what the link is about.
    references = sorted(
        (
            reference
            for reference in resolved_references(decisions, entity.name)
            if not is_about_record(decisions.tables, reference.relationship)
            or set(reference.relationship.from_attributes) <= set(identity)
        ),
        key=lambda reference: not set(reference.relationship.from_attributes) <= set(identity),
    )
    parents = dict.fromkeys(reference.relationship.to_entity for reference in references)
    hubs = tuple(_with_ghost(decisions, entity, reference.hub) for reference in references)
    in_hubs = {
        column
        for reference in references
        if identifies_alike(decisions, reference)
        for column in reference.hub.columns
    }
    dependent_child_keys = tuple(column for column in identity if column not in in_hubs)
    payload = () if identity else payload_columns(decisions, entity, hubs)
    link_type = _type_of_table(placement, hubs)
    name = decisions.relation(LINK_PREFIXES[link_type], entity.name)
    return Link(
        name=name,
        table=entity.name,
        description=entity.description
        or f"The link between rows of {listed(parents)}, from {entity.name}.",
        link_type=link_type,
        hubs=hubs,
        dependent_child_keys=dependent_child_keys,
        of_rows=not identity,
        columns=payload,
        hash_key=decisions.vault_names.link_key(name),
        mapped_source_tables=(entity.name,),
        source_columns=(
            *_source_columns(entity.name, hubs),
            *source_columns(entity.name, (*dependent_child_keys, *payload)),
        ),
        reason=f"{placement.reason}{_lookup_note(hubs)}",
        alternatives=placement.alternatives,
    )


def _type_of_table(placement: Placement, hubs: Sequence[HubReference]) -> LinkType:
    """Return the type of a table's link: hierarchical where it relates wholes and their parts."""
    if placement.kind == "transaction":
        return "transactional"
    is_hierarchy = len(hubs) == 2 and len({hub.hub for hub in hubs}) == 1
    columns = [column for hub in hubs for column in hub.columns]
    return "hierarchical" if is_hierarchy and names_hierarchy(columns) else "standard"


def _with_ghost(decisions: VaultDecisions, entity: Entity, hub: HubReference) -> HubReference:
    """Return the reference, optional where a row of the link may come without it."""
    is_complete = decisions.tables.is_complete(entity.name, hub.columns)
    return hub.model_copy(update={"optional": hub.lookup is not None or not is_complete})


def _lookup_note(hubs: Sequence[HubReference]) -> str:
    tables = dict.fromkeys(hub.lookup.table for hub in hubs if hub.lookup is not None)
    return f" The business key is looked up in {listed(tables)}." if tables else ""


def _source_columns(table: str, hubs: tuple[HubReference, ...]) -> tuple[SourceColumn, ...]:
    return source_columns(table, tuple(dict.fromkeys(c for hub in hubs for c in hub.columns)))
