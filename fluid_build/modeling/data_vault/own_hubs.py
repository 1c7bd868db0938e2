"""The hub that each table's own rows are instances of, and the business key of every hub."""

from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.business_keys import (
    BusinessKey,
    business_key,
    decided_business_key,
)
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.text import listed


@dataclass(frozen=True, slots=True)
class OwnHub:
    """The hub that a table's rows are instances of, by the entity that the hub is named for.

    ``columns`` are the table's own, in the order of the hub's business key. ``rows_by`` are those
    that tell apart rows with the same key: parts or versions of what the hub lists.
    """

    hub_entity: str
    columns: tuple[str, ...]
    rows_by: tuple[str, ...] = ()


def hub_keys(tables: SourceTables, placements: Mapping[str, Placement]) -> dict[str, BusinessKey]:
    """Return the business key of every hub, by its entity."""
    subtypes: dict[str, list[str]] = {}
    for name, placement in placements.items():
        if placement.kind == "subtype" and placement.parent is not None:
            subtypes.setdefault(placement.parent.to_entity, []).append(name)
    keys = {}
    shared = shared_columns(tables, placements)
    for name, entity in tables.entities.items():
        identity = tables.identities[name]
        if name in shared:
            columns = shared[name]
            if name == next(iter(columns)):
                keys[name] = shared_key(tables, columns)
        elif placements[name].kind == "hub" and identity is not None:
            choose = decided_business_key if name in tables.decided_keys else business_key
            keys[name] = choose(tables, entity, identity, subtypes.get(name, ()))
    return keys


def shared_columns(
    tables: SourceTables, placements: Mapping[str, Placement]
) -> dict[str, Mapping[str, str]]:
    """Return for each table with a shared hub the key column of every table of that hub.

    The first of them gives the hub its name. A table that is placed elsewhere has no part in it.
    """
    shared: dict[str, Mapping[str, str]] = {}
    for hub in tables.shared_hubs:
        columns = {
            name: column for name, column in hub.columns.items() if placements[name].kind == "hub"
        }
        if len(columns) > 1:
            shared |= dict.fromkeys(columns, columns)
    return shared


def shared_key(tables: SourceTables, columns: Mapping[str, str]) -> BusinessKey:
    """Return the business key of a hub that tables of several sources share."""
    (lead, column), *others = columns.items()
    hub = tables.shared_hub(lead)
    assert hub is not None, f"{lead} shares no hub"
    entity = tables.entities[lead]
    key = next(key for key in entity.keys if key.attributes == (column,) and key.holds)
    also = listed(f"{name}.{other}" for name, other in others)
    verb = "identifies" if len(others) == 1 else "identify"
    reasons = [tables.decided_keys[t].reason for t in columns if t in tables.decided_keys]
    return BusinessKey(
        key,
        "surrogate" if hub.is_numbered else "natural",
        " ".join((f"{column} is the key of {lead}, and {also} {verb} the same.", *reasons)),
    )


def own_hubs(
    tables: SourceTables, placements: Mapping[str, Placement], keys: Mapping[str, BusinessKey]
) -> dict[str, OwnHub]:
    """Return the own hub of every table that is placed as a hub or as a subtype."""
    hubs = {name: OwnHub(name, key.key.attributes, key.rows_by) for name, key in keys.items()}
    for name, columns in shared_columns(tables, placements).items():
        hubs.setdefault(name, OwnHub(next(iter(columns)), (columns[name],)))
    for name in tables.entities:
        if placements[name].kind == "subtype":
            to_supertypes: list[Relationship] = []
            while name not in hubs:
                parent = placements[name].parent
                assert parent is not None, f"{name} is a subtype of nothing"
                to_supertypes.append(parent)
                name = parent.to_entity
            for reference in reversed(to_supertypes):
                hub = hubs[reference.to_entity]
                paired = paired_columns(reference, hub.columns)
                hubs[reference.from_entity] = OwnHub(hub.hub_entity, paired)
    return hubs


def paired_columns(reference: Relationship, parent_columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the referring columns in the order of the parent's columns."""
    pairs = dict(zip(reference.to_attributes, reference.from_attributes, strict=True))
    return tuple(pairs[column] for column in parent_columns)
