"""The links of a vault: one for each reference of an entity, one for each table that relates."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.elements import HubReference, Link, LinkType
from fluid_build.modeling.data_vault.hub_references import (
    Reached,
    VaultDecisions,
    own_reference,
    reached,
)
from fluid_build.modeling.element import SourceColumn, source_columns
from fluid_build.profiling.names import words

_SAME = frozenset("alias canonical duplicate duplicated merged same".split())
_PREFIXES: dict[LinkType, str] = {
    "standard": "lnk",
    "hierarchical": "hal",
    "same-as": "sal",
    "transactional": "tl",
}


def links(draft: VaultDecisions) -> Iterator[Link]:
    """All links, in the order of the source."""
    for name, shape in draft.shapes.items():
        entity = draft.schema.entities[name]
        if shape.kind in {"hub", "extension"}:
            for found in reached(draft, name):
                yield _of_a_reference(draft, entity, found)
        elif shape.kind in {"link", "transaction"}:
            yield _of_a_table(draft, entity)


def _of_a_reference(draft: VaultDecisions, entity: Entity, found: Reached) -> Link:
    own, relationship = own_reference(draft, entity.name), found.relationship
    kind = _kind(draft, entity.name, found)
    parent = relationship.to_entity
    stems = dict.fromkeys(
        (draft.names.table(entity.name), draft.names.table(parent), found.hub.role)
    )
    name = draft.given.relation(_PREFIXES[kind], *stems)
    return Link(
        name=name,
        table=entity.name,
        description=f"Which {parent} a {entity.name} refers to"
        + (f" as {found.hub.role}." if found.hub.role else "."),
        link_type=kind,
        hubs=(own, found.hub),
        hash_key=draft.given.link_key(name),
        mapped_source_tables=(entity.name,),
        source_columns=_columns(entity.name, (own, found.hub)),
        reason=f"{', '.join(relationship.from_attributes)} refers to {parent}:"
        f" {relationship.reason.rstrip('.')}.{_looked_up((found.hub,))}",
    )


def _kind(draft: VaultDecisions, table: str, found: Reached) -> LinkType:
    if found.hub.hub != draft.hub_of(table).name:
        return "standard"
    says = {word for column in found.relationship.from_attributes for word in words(column)}
    return "same-as" if says & _SAME else "hierarchical"


def _of_a_table(draft: VaultDecisions, entity: Entity) -> Link:
    shape = draft.shapes[entity.name]
    kind: LinkType = "transactional" if shape.kind == "transaction" else "standard"
    identity = draft.schema.identity(entity.name)
    found = sorted(
        reached(draft, entity.name),
        key=lambda one: not set(one.relationship.from_attributes) <= set(identity),
    )
    hubs = tuple(_bound(draft, entity, one.hub) for one in found)
    direct = {column for hub in hubs if hub.lookup is None for column in hub.columns}
    dependent = tuple(column for column in identity if column not in direct)
    name = draft.given.relation(_PREFIXES[kind], draft.names.table(entity.name))
    return Link(
        name=name,
        table=entity.name,
        description=entity.description or f"How {entity.name} relates what it refers to.",
        link_type=kind,
        hubs=hubs,
        dependent_child_keys=dependent,
        hash_key=draft.given.link_key(name),
        mapped_source_tables=(entity.name,),
        source_columns=(
            *_columns(entity.name, hubs),
            *source_columns(entity.name, dependent),
        ),
        reason=f"{shape.reason}{_looked_up(hubs)}",
    )


def _bound(draft: VaultDecisions, entity: Entity, hub: HubReference) -> HubReference:
    """The reference as part of a link that a row has with or without it."""
    complete = draft.schema.complete(entity.name, hub.columns)
    return hub.model_copy(update={"optional": hub.lookup is not None or not complete})


def _looked_up(hubs: Sequence[HubReference]) -> str:
    tables = dict.fromkeys(hub.lookup.table for hub in hubs if hub.lookup is not None)
    return f" The business key is looked up in {', '.join(tables)}." if tables else ""


def _columns(table: str, hubs: tuple[HubReference, ...]) -> tuple[SourceColumn, ...]:
    return source_columns(table, tuple(dict.fromkeys(c for hub in hubs for c in hub.columns)))
