"""Where tables go in a vault when somebody has decided the place of some of them.

What the vault can't carry is left out, and everything else is placed around what is decided. Since
one decision may take away what another needs, the placing is repeated until all that remain hold.
"""

from collections.abc import Mapping, Set
from dataclasses import replace

from fluid_build.decisions.language import Classify, Role
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.entity_evidence import is_event
from fluid_build.modeling.data_vault.placements import Placement, PlacementKind, placements
from fluid_build.modeling.data_vault.reference_lists import calendars
from fluid_build.modeling.data_vault.references_through_links import through_links
from fluid_build.modeling.data_vault.relating import outward_references
from fluid_build.modeling.data_vault.role_obstacles import (
    VAULT_ROLES,
    Places,
    described_parent,
    role_obstacle,
)
from fluid_build.modeling.data_vault.shared_hubs import with_shared_hubs
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.subtypes import extends
from fluid_build.modeling.data_vault.unlisted_entities import with_unlisted_entities
from fluid_build.modeling.element import Alternative
from fluid_build.profiling.profile import Profile

_ROLE_ORDER: tuple[Role, ...] = ("hub", "reference", "satellite", "link")
"""The order in which roles are checked: each needs only what those before it have settled."""
_OF_ROLE: Mapping[Role, Set[PlacementKind]] = {
    "hub": {"hub"},
    "link": {"link", "transaction"},
    "satellite": {"subtype", "multi-active"},
    "reference": {"reference"},
}
_CHOICES: Mapping[PlacementKind, str] = {
    "hub": "a hub",
    "subtype": "a satellite of another table's hub",
    "link": "a link",
    "transaction": "a transactional link",
    "multi-active": "a multi-active satellite",
    "reference": "a reference table",
    "keyless": "a table stored as it is",
}


def placed_tables(
    profile: Profile, known: SourceTables, decisions: ModelDecisions
) -> tuple[SourceTables, dict[str, Placement]]:
    """Return the tables as a vault needs them, and where each goes.

    ``known`` has the references of all tables, without those through links.
    """
    draft_tables = _prepared(known, {})
    draft = placements(profile, draft_tables)
    roles = {
        table: decision
        for table, decision in decisions.roles.items()
        if decision.role in VAULT_ROLES and table in known.entities
    }
    while roles:
        tables = _prepared(known, {table: decision.role for table, decision in roles.items()})
        decided = _decided(tables, roles, draft)
        placed = placements(profile, tables, decided)
        impossible = _impossible(tables, roles, draft, decided, placed)
        if not impossible:
            return tables, placed
        roles = {table: roles[table] for table in roles if table not in impossible}
    return draft_tables, draft


def _prepared(known: SourceTables, roles: Mapping[str, Role]) -> SourceTables:
    lists = {table for table, role in roles.items() if role == "reference"}
    days = {table for table in calendars(known) if roles.get(table, "reference") == "reference"}
    links = {table for table, role in roles.items() if role == "link"}
    listed = with_unlisted_entities(known, days)
    followed = through_links(listed, days | lists, links, roles.keys() - links)
    return with_shared_hubs(followed)


def _decided(
    tables: SourceTables, roles: Mapping[str, Classify], draft: Mapping[str, Placement]
) -> dict[str, Placement]:
    """Return the placements that were decided, those without a parent to describe left out."""
    hubs = {name for name in tables.entities if _may_have_hub(name, roles, draft)}
    decided: dict[str, Placement] = {}
    for table, decision in roles.items():
        before = draft[table]
        reason = decided_reason(decision)
        parents = hubs - _descendants(decided, table)
        if before.kind in _OF_ROLE[decision.role] and _keeps_parent(before, parents):
            decided[table] = replace(before, reason=reason)
            continue
        alternatives = (_overruled(before), *before.alternatives)
        kind, parent = _kind(tables, decision.role, table, parents)
        if kind is not None:
            decided[table] = Placement(kind, reason, parent, alternatives)
    return decided


def _kind(
    tables: SourceTables, role: Role, table: str, hubs: Set[str]
) -> tuple[PlacementKind | None, Relationship | None]:
    """Return the kind of placement of a role, and the reference to what a satellite describes."""
    if role == "hub":
        return "hub", None
    if role == "reference":
        return "reference", None
    if role == "link":
        return ("transaction" if is_event(tables.entities[table]) else "link"), None
    parent = described_parent(tables, hubs, table)
    if parent is None:
        return None, None
    return ("subtype" if extends(tables, parent) else "multi-active"), parent


def _may_have_hub(
    table: str, roles: Mapping[str, Classify], draft: Mapping[str, Placement]
) -> bool:
    if table in roles:
        return roles[table].role in {"hub", "satellite"}
    return draft[table].has_hub


def _keeps_parent(placement: Placement, hubs: Set[str]) -> bool:
    return placement.parent is None or placement.parent.to_entity in hubs


def _descendants(decided: Mapping[str, Placement], table: str) -> set[str]:
    """Return the tables that describe a table's rows already, directly or through others."""
    descendants = {table}
    for _ in decided:
        descendants |= {
            name
            for name, placement in decided.items()
            if placement.parent is not None and placement.parent.to_entity in descendants
        }
    return descendants


def _overruled(placement: Placement) -> Alternative:
    """Return what we'd have made of a table, and why."""
    reason = placement.reason.rstrip(".")
    return Alternative(choice=_CHOICES[placement.kind], reason=f"{reason[:1].lower()}{reason[1:]}")


def _impossible(
    tables: SourceTables,
    roles: Mapping[str, Classify],
    draft: Mapping[str, Placement],
    decided: Mapping[str, Placement],
    placed: Mapping[str, Placement],
) -> set[str]:
    """Return the tables of the first role that the vault can't carry for all of them."""
    hubs = {name for name, placement in placed.items() if placement.has_hub}
    undecided = {name: draft[name] for name in draft if name not in roles}
    places = Places(hubs, _relating(tables, undecided))
    for role in _ROLE_ORDER:
        impossible = {
            table
            for table, decision in roles.items()
            if decision.role == role
            and (table not in decided or not _holds(tables, places, table, role, decided, draft))
        }
        if impossible:
            return impossible
    return set()


def _holds(
    tables: SourceTables,
    places: Places,
    table: str,
    role: Role,
    decided: Mapping[str, Placement],
    draft: Mapping[str, Placement],
) -> bool:
    placement = decided[table]
    if not _keeps_parent(placement, places.hubs):
        return False
    is_as_before = placement.kind == draft[table].kind and placement.parent == draft[table].parent
    related = {r.to_entity for r in outward_references(tables, table)}
    lost = {name for name in related - places.hubs if draft[name].has_hub}
    if is_as_before and not (role == "link" and lost):
        return True
    return not role_obstacle(tables, places, table, role)


def _relating(tables: SourceTables, placed: Mapping[str, Placement]) -> dict[str, set[str]]:
    """Return the tables that relate others or describe one, with those that they lead to."""
    relating: dict[str, set[str]] = {}
    for name, placement in placed.items():
        if placement.kind in {"link", "transaction"}:
            relating[name] = {r.to_entity for r in outward_references(tables, name)}
        elif placement.parent is not None:
            relating[name] = {placement.parent.to_entity}
    return relating
