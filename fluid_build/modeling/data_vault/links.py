"""The links of a vault: one for each reference of a thing, for each event, each relating table.

What a thing refers to changes independently: a product gets another supplier and stays in its
category. An event comes with all that it refers to at once, which is one unit of work.
"""

from collections.abc import Iterator, Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.column_purposes import names_writer
from fluid_build.modeling.data_vault.elements import HubReference, Link, LinkType
from fluid_build.modeling.data_vault.entity_evidence import is_event
from fluid_build.modeling.data_vault.hub_references import (
    ResolvedReference,
    VaultDecisions,
    identifies_alike,
    own_reference,
    payload_columns,
    resolved_references,
)
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.relating import is_about_record, name_parents
from fluid_build.modeling.data_vault.table_names import names_hierarchy
from fluid_build.modeling.data_vault.vault_names import LINK_PREFIXES
from fluid_build.modeling.element import Alternative, SourceColumn, source_columns
from fluid_build.profiling.names.words import words
from fluid_build.text import listed


def links(decisions: VaultDecisions) -> Iterator[Link]:
    """Return all links, in the order of the source."""
    for name, placement in decisions.placements.items():
        entity = decisions.tables.entities[name]
        if placement.kind in {"hub", "subtype"}:
            yield from _links_of_hub(decisions, entity)
        elif placement.kind in {"link", "transaction"}:
            yield _link_of_table(decisions, entity)


def _links_of_hub(decisions: VaultDecisions, entity: Entity) -> Iterator[Link]:
    references = resolved_references(decisions, entity.name)
    of_event = _unit_of_work(decisions, entity, references)
    if of_event:
        yield _link_of_event(decisions, entity, of_event)
    for reference in references:
        if reference not in of_event:
            yield _link_of_reference(decisions, entity, reference)


def _unit_of_work(
    decisions: VaultDecisions, entity: Entity, references: Sequence[ResolvedReference]
) -> tuple[ResolvedReference, ...]:
    """Return the references of an event that belong together; none where at most one does.

    An event is dated or measured: the menus of a site's settings change independently. Who wrote
    the record last and which event came before are no part of what happened. Several rows with one
    key may refer to different things, so that no combination is the key's own.
    """
    happens = entity.name in decisions.events and is_event(entity)
    if not happens or decisions.own_hubs[entity.name].rows_by:
        return ()
    of_event = tuple(
        reference
        for reference in references
        if _link_type(decisions, entity.name, reference) == "standard"
        and not is_about_record(decisions.tables, reference.relationship)
        and not any(map(names_writer, reference.relationship.from_attributes))
    )
    return of_event if len(of_event) > 1 else ()


def _link_of_event(
    decisions: VaultDecisions, entity: Entity, references: Sequence[ResolvedReference]
) -> Link:
    own = own_reference(decisions, entity.name)
    ends = (own, *(_with_ghost(decisions, entity, reference.hub) for reference in references))
    name = decisions.relation(LINK_PREFIXES["standard"], entity.name)
    parents = name_parents([reference.relationship for reference in references])
    reasons = " ".join(map(_why_it_refers, references))
    return Link(
        name=name,
        table=entity.name,
        description=f"What each row of {entity.name} refers to: {parents}.",
        link_type="standard",
        hubs=ends,
        hash_key=decisions.vault_names.link_key(name),
        mapped_source_tables=(entity.name,),
        source_columns=_source_columns(entity.name, ends),
        reason=f"Each row of {entity.name} is read as an event, and what an event refers to is one"
        f" unit of work. {reasons}{_lookup_note(ends)}",
        alternatives=(
            Alternative(
                choice="a link for each reference",
                reason="what belongs to one event would have to be joined together again",
            ),
        ),
    )


def _link_of_reference(
    decisions: VaultDecisions, entity: Entity, reference: ResolvedReference
) -> Link:
    own, relationship = own_reference(decisions, entity.name), reference.relationship
    link_type = _link_type(decisions, entity.name, reference)
    parent, role = relationship.to_entity, reference.hub.role
    prefix = LINK_PREFIXES[link_type]
    name = decisions.relation(prefix, entity.name, decisions.stems.plain[parent], role)
    ends = (own, reference.hub)
    return Link(
        name=name,
        table=entity.name,
        description=f"Which {parent} each {entity.name} refers to{f' as {role}' if role else ''}.",
        link_type=link_type,
        hubs=ends,
        hash_key=decisions.vault_names.link_key(name),
        mapped_source_tables=(entity.name,),
        source_columns=_source_columns(entity.name, ends),
        reason=f"{_why_it_refers(reference)}{_lookup_note((reference.hub,))}",
    )


def _why_it_refers(reference: ResolvedReference) -> str:
    relationship = reference.relationship
    columns, reason = relationship.from_attributes, relationship.reason.rstrip(".")
    verb = "refers" if len(columns) == 1 else "refer"
    return f"{listed(columns)} {verb} to {relationship.to_entity}: {reason}."


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
