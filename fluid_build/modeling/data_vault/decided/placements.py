"""Where tables go in a vault when somebody has decided the place of some of them.

What the vault can't carry is left out, and everything else is placed around what is decided. Since
one decision may take away what another needs, the placing is repeated until all that remain hold.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Self

from fluid_build.decisions.language import BusinessKey, Classify, Merge, Role, Split
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.decided.keys import key_obstacle, with_decided_keys, with_keys
from fluid_build.modeling.data_vault.decided.merged_entities import (
    mergeable,
    merged_keys,
    reference_to_merged,
)
from fluid_build.modeling.data_vault.decided.references_through_links import through_links
from fluid_build.modeling.data_vault.decided.role_obstacles import (
    Places,
    described_parent,
    role_obstacle,
)
from fluid_build.modeling.data_vault.decided.shared_hubs import with_shared_hubs
from fluid_build.modeling.data_vault.decided.split_entities import (
    contradicting_role,
    split_obstacle,
    with_split_entities,
)
from fluid_build.modeling.data_vault.decided.unlisted_entities import with_unlisted_entities
from fluid_build.modeling.data_vault.entity_evidence import is_event
from fluid_build.modeling.data_vault.own_hubs import hub_keys, own_hubs
from fluid_build.modeling.data_vault.placements import Placement, PlacementKind, placements
from fluid_build.modeling.data_vault.reference_lists import calendars
from fluid_build.modeling.data_vault.relating import outward_references
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.subtypes import extends
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
    followed = _feasible(known, decisions)
    while followed:
        keyed = with_keys(
            with_decided_keys(known, followed.keys), merged_keys(known, followed.merges)
        )
        split = with_split_entities(keyed, followed.splits)
        tables = _prepared(split, {table: each.role for table, each in followed.roles.items()})
        decided = _decided(tables, followed.roles, draft, followed.merges.keys())
        decided |= _merged(tables, followed.merges, draft, decided)
        decided |= _split(tables, draft, decided)
        placed = placements(profile, tables, decided)
        keyless = _without_key(tables, placed)
        # Only with the keys that others need are there hubs to look at.
        unsplit = set() if keyless else _unsplit(tables, placed)
        if unsplit:
            followed = followed.without_splits(unsplit)
            continue
        impossible = _impossible(tables, followed.roles, draft, decided, placed)
        if not keyless and not impossible:
            return tables, placed
        followed = followed.without(keyless) if keyless else followed.without_roles(impossible)
    return draft_tables, draft


@dataclass(frozen=True, slots=True)
class _Followed:
    """The decisions that a vault may be able to follow, by their table."""

    roles: Mapping[str, Classify]
    keys: Mapping[str, BusinessKey]
    merges: Mapping[str, Merge]
    splits: tuple[Split, ...]

    def __bool__(self) -> bool:
        return bool(self.roles or self.keys or self.merges or self.splits)

    def without(self, hubs: Set[str]) -> Self:
        """Return these decisions without those on what the hubs of some tables are built on."""
        merges = {
            table: merge for table, merge in self.merges.items() if merge.into_table not in hubs
        }
        keys = {table: key for table, key in self.keys.items() if table not in hubs}
        return replace(self, keys=keys, merges=merges)

    def without_splits(self, tables: Set[str]) -> Self:
        """Return these decisions without the splits of some tables."""
        return replace(self, splits=tuple(s for s in self.splits if s.table not in tables))

    def without_roles(self, tables: Set[str]) -> Self:
        """Return these decisions without those on the place of some tables."""
        return replace(self, roles={t: r for t, r in self.roles.items() if t not in tables})


def _feasible(known: SourceTables, decisions: ModelDecisions) -> _Followed:
    """Return the decisions that no figure and no other decision rules out at once."""
    roles = {
        table: decision
        for table, decision in decisions.vault_roles.items()
        if table in known.entities
    }
    keys = {
        table: decision
        for table, decision in decisions.business_keys.items()
        if not key_obstacle(known, table, decision.columns, decision.evidence)
    }
    merges = mergeable(known, decisions)
    splits = tuple(
        split
        for split in decisions.splits
        if not (split_obstacle(known, split) or contradicting_role(decisions, split))
    )
    return _Followed(roles, keys, merges, splits)


def _merged(
    tables: SourceTables,
    merges: Mapping[str, Merge],
    draft: Mapping[str, Placement],
    decided: Mapping[str, Placement],
) -> dict[str, Placement]:
    """Return the placements of tables that are merged, and of those that they're merged into."""
    placed: dict[str, Placement] = {}
    for merge in merges.values():
        target, before = merge.into_table, draft[merge.into_table]
        if target not in merges and target not in decided:
            placed[target] = (
                before
                if before.kind == "hub"
                else Placement("hub", decided_reason(merge), alternatives=(_overruled(before),))
            )
    for table, merge in merges.items():
        before = draft[table]
        parent = reference_to_merged(tables, merge)
        alternatives = (_overruled(before), *before.alternatives)
        placed[table] = Placement("subtype", decided_reason(merge), parent, alternatives)
    return placed


def _split(
    tables: SourceTables, draft: Mapping[str, Placement], decided: Mapping[str, Placement]
) -> dict[str, Placement]:
    """Return the placements of tables that are split, which keep theirs, and of what they lose."""
    placed = {
        split.table: draft[split.table]
        for split in tables.splits.values()
        if split.table not in decided
    }
    return placed | {name: Placement("hub", split.reason) for name, split in tables.splits.items()}


def _unsplit(tables: SourceTables, placed: Mapping[str, Placement]) -> set[str]:
    """Return the split tables that can't give columns away: no hub has each of their rows once."""
    split = {split.table for split in tables.splits.values()}
    if not split:
        return set()
    hubs = own_hubs(tables, placed, hub_keys(tables, placed))
    return {table for table in split if table not in hubs or hubs[table].rows_by}


def _without_key(tables: SourceTables, placed: Mapping[str, Placement]) -> set[str]:
    """Return the tables that others describe by columns that aren't the decided key."""
    return {
        parent.to_entity
        for placement in placed.values()
        if placement.kind == "subtype"
        and (parent := placement.parent) is not None
        and placed[parent.to_entity].kind == "hub"
        and (decided := tables.decided_keys.get(parent.to_entity)) is not None
        and not (decided.key.holds and set(decided.key.attributes) == set(parent.to_attributes))
    }


def _prepared(known: SourceTables, roles: Mapping[str, Role]) -> SourceTables:
    lists = {table for table, role in roles.items() if role == "reference"}
    days = {table for table in calendars(known) if roles.get(table, "reference") == "reference"}
    links = {table for table, role in roles.items() if role == "link"}
    listed = with_unlisted_entities(known, days)
    followed = through_links(listed, days | lists, links, roles.keys() - links)
    return with_shared_hubs(followed)


def _decided(
    tables: SourceTables,
    roles: Mapping[str, Classify],
    draft: Mapping[str, Placement],
    merged: Set[str],
) -> dict[str, Placement]:
    """Return the placements that were decided, those without a parent to describe left out.

    Tables that are ``merged`` have a key of their own choice, which others may not refer to.
    """
    hubs = {name for name in tables.entities if _may_have_hub(name, roles, draft)} - merged
    decided: dict[str, Placement] = {}
    for table, decision in roles.items():
        before = draft[table]
        reason = decided_reason(decision)
        # No table describes one that describes it already, directly or through others.
        descendants = {table}
        for _ in decided:
            descendants |= {
                name
                for name, placement in decided.items()
                if placement.parent is not None and placement.parent.to_entity in descendants
            }
        parents = hubs - descendants
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
    return _has_hub(draft, table)


def _has_hub(draft: Mapping[str, Placement], table: str) -> bool:
    # An entity that no table lists may be new, and always has a hub.
    return table not in draft or draft[table].has_hub


def _keeps_parent(placement: Placement, hubs: Set[str]) -> bool:
    return placement.parent is None or placement.parent.to_entity in hubs


def _overruled(placement: Placement) -> Alternative:
    """Return what we'd have made of a table, and why."""
    # Reasons of places begin with a word of ours, never with a name.
    clause = f"{placement.reason[:1].lower()}{placement.reason[1:]}".rstrip(".")
    return Alternative(choice=_CHOICES[placement.kind], reason=clause)


def _impossible(
    tables: SourceTables,
    roles: Mapping[str, Classify],
    draft: Mapping[str, Placement],
    decided: Mapping[str, Placement],
    placed: Mapping[str, Placement],
) -> set[str]:
    """Return the tables of the first role that the vault can't carry for all of them.

    A role that we'd choose too is given up last: without the others, it may be possible.
    """
    hubs = {name for name, placement in placed.items() if placement.has_hub}
    undecided = {
        name: draft[name] for name in draft if name in tables.entities and name not in roles
    }
    relating: dict[str, set[str]] = {}
    for name, placement in undecided.items():
        if placement.kind in {"link", "transaction"}:
            relating[name] = {r.to_entity for r in outward_references(tables, name)}
        elif placement.parent is not None:
            relating[name] = {placement.parent.to_entity}
    places = Places(hubs, relating)
    for role in _ROLE_ORDER:
        impossible = {
            table
            for table, decision in roles.items()
            if decision.role == role
            and (table not in decided or not _holds(tables, places, table, role, decided, draft))
        }
        overruling = {t for t in impossible if draft[t].kind not in _OF_ROLE[role]}
        if impossible:
            return overruling or impossible
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
    lost = {name for name in related - places.hubs if _has_hub(draft, name)}
    if is_as_before and not (role == "link" and lost):
        return True
    return not role_obstacle(tables, places, table, role)
