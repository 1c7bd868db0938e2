"""The columns of a vault's relations."""

from collections.abc import Sequence

from fluid_build.modeling.data_vault.elements import (
    Hub,
    HubReference,
    KeylessTable,
    Link,
    Satellite,
)
from fluid_build.modeling.element import source_columns
from fluid_build.text import listed
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import PlanColumn

RECORD_SOURCE = technical(
    "record_source", "VARCHAR", "The source and table that the row was first loaded from."
)
HASH_DIFF = technical(
    "hash_diff",
    "VARCHAR",
    "A hash of the descriptive columns; it changes when any of them changes.",
)
MULTIPLICITY = technical(
    "multiplicity", "BIGINT", "How many times the row was in the source at the load date."
)


def hub_key(sources: VaultSources, hub: Hub) -> PlanColumn:
    """Return the hash key of a hub, in the hub."""
    key = listed(column.name for column in sources.business_key(hub))
    return technical(
        hub.hash_key,
        "VARCHAR",
        f"The hash of {key}.",
        tags=("hash-key", "primary-key"),
        sources=hub.source_columns,
        reason=hub.reason,
    )


def row_key(relation: KeylessTable | Link) -> PlanColumn:
    """Return the hash of whole rows, in a relation that has no other key."""
    name = relation.hash_key if isinstance(relation, Link) else "row_hash"
    return technical(name, "VARCHAR", "A hash of the whole row.", tags=("hash-key", "primary-key"))


def link_key(link: Link) -> PlanColumn:
    """Return the hash key of a link, in the link."""
    business_keys = f"the business keys of {listed(hub.hash_key for hub in link.hubs)}"
    return technical(
        link.hash_key,
        "VARCHAR",
        f"The hash of {listed([*link.dependent_child_keys, business_keys])}.",
        tags=("hash-key", "primary-key"),
        sources=link.source_columns,
        reason=link.reason,
    )


def reference_key(sources: VaultSources, table: str, reference: HubReference) -> PlanColumn:
    """Return the hash key by which the rows of a source table refer to a hub."""
    role = f" as {reference.role}" if reference.role else ""
    has_zero_key = sources.has_zero_key(table, reference)
    missing = " A missing reference has the zero key." if has_zero_key else ""
    return technical(
        reference.hash_key,
        "VARCHAR",
        f"The row of {reference.hub} that it refers to{role}.{missing}",
        tags=("hash-key", "foreign-key"),
        sources=source_columns(table, reference.columns),
        required=sources.is_always_filled(table, reference),
    )


def parent_key(satellite: Satellite, parent: Hub | Link) -> PlanColumn:
    """Return the hash key of the hub or link that a satellite belongs to, in the satellite."""
    return technical(
        satellite.hash_key,
        "VARCHAR",
        f"The row of {parent.name} that it belongs to.",
        tags=("hash-key", "primary-key", "foreign-key"),
        sources=parent.source_columns,
    )


def retagged(columns: Sequence[PlanColumn], *tags: str) -> tuple[PlanColumn, ...]:
    """Return staged columns with these tags alone: what's a key there needn't be one elsewhere."""
    return tuple(column.model_copy(update={"tags": tags}) for column in columns)


def in_key(column: PlanColumn) -> PlanColumn:
    """Return a column as a part of its relation's key."""
    return column.model_copy(update={"tags": (*column.tags, "primary-key")})
