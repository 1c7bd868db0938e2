"""Which decisions a finished vault doesn't follow, and why.

What counts is the vault as it is: a decision is followed if an element shows it.
"""

from collections.abc import Iterator
from itertools import chain

from fluid_build.decisions.language import AnyDecision, BusinessKey, Classify, Merge, Split
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.reasons import decided_reason
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.decided.keys import key_obstacle
from fluid_build.modeling.data_vault.decided.merged_entities import conflict, merge_obstacle
from fluid_build.modeling.data_vault.decided.role_obstacles import Places, role_obstacle
from fluid_build.modeling.data_vault.decided.split_entities import (
    contradicting_role,
    split_obstacle,
)
from fluid_build.modeling.data_vault.elements import DataVaultModel, Link, Satellite
from fluid_build.modeling.data_vault.source_tables import SourceTables, source_tables
from fluid_build.text import listed


def unfollowed(
    vault: DataVaultModel, conceptual: ConceptualModel, decisions: ModelDecisions
) -> dict[AnyDecision, Refusal]:
    """Return the decisions about a vault's tables that it doesn't show, each with the reason."""
    tables = source_tables(conceptual)
    return dict(
        chain(
            _unfollowed_roles(vault, tables, decisions),
            _unfollowed_keys(vault, tables, decisions),
            _unfollowed_merges(vault, tables, decisions),
            _unfollowed_splits(vault, tables, decisions),
        )
    )


def _unfollowed_roles(
    vault: DataVaultModel, tables: SourceTables, decisions: ModelDecisions
) -> Iterator[tuple[Classify, Refusal]]:
    merged = {merge.table for merge in decisions.merges if _shares_hub(vault, merge)}
    for table, decision in decisions.star_roles.items():
        message = f"A Data Vault has no {decision.role} tables, so `{table}` isn't one."
        yield decision, Refusal("unused", message)
    for table, decision in decisions.vault_roles.items():
        if table not in tables.entities:
            yield decision, Refusal("refused", f"The model has no table `{table}`.")
        elif not _has_role(vault, decision) and not (decision.role == "hub" and table in merged):
            obstacle = role_obstacle(tables, _places(vault), table, decision.role)
            message = obstacle or f"The other decisions leave no {decision.role} for `{table}`."
            yield decision, Refusal("refused", message)


def _unfollowed_keys(
    vault: DataVaultModel, tables: SourceTables, decisions: ModelDecisions
) -> Iterator[tuple[BusinessKey, Refusal]]:
    for table, decision in decisions.business_keys.items():
        hub = _hub_of(vault, table)
        if hub is not None and set(_key_columns(vault, hub, table)) == set(decision.columns):
            continue
        obstacle = key_obstacle(tables, table, decision.columns, decision.evidence)
        yield decision, Refusal("refused", obstacle or _other_key(vault, table, hub))


def _other_key(vault: DataVaultModel, table: str, hub: str | None) -> str:
    """Return why a table's hub isn't built on a key that could build one."""
    if hub is None:
        return f"`{table}` has no hub, so it has no business key."
    columns = listed(f"`{column}`" for column in _key_columns(vault, hub, table))
    sharing = dict.fromkeys(s.table for s in vault.satellites if s.parent == hub)
    names = listed(f"`{name}`" for name in sharing if name != table)
    because = f", which it shares with {names}" if names else ""
    return f"The rows of `{table}` are in {hub} by {columns}{because}."


def _unfollowed_merges(
    vault: DataVaultModel, tables: SourceTables, decisions: ModelDecisions
) -> Iterator[tuple[Merge, Refusal]]:
    for merge in decisions.merges:
        if not _shares_hub(vault, merge):
            obstacle = merge_obstacle(tables, merge) or conflict(decisions, merge)
            message = obstacle or (
                f"The rows of `{merge.table}` and `{merge.into_table}` are in hubs with other keys,"
                " which other decisions or tables need."
            )
            yield merge, Refusal("refused", message)


def _shares_hub(vault: DataVaultModel, merge: Merge) -> bool:
    """Return whether both tables of a merge are in one hub, by the columns that pair."""
    hub = _hub_of(vault, merge.table)
    if hub is None or hub != _hub_of(vault, merge.into_table):
        return False
    own, into = (_key_columns(vault, hub, t) for t in (merge.table, merge.into_table))
    pairs = set(zip(merge.columns, merge.into_columns, strict=True))
    return set(zip(own, into, strict=True)) == pairs


def _unfollowed_splits(
    vault: DataVaultModel, tables: SourceTables, decisions: ModelDecisions
) -> Iterator[tuple[Split, Refusal]]:
    for split in decisions.splits:
        if not _is_split(vault, split):
            obstacle = split_obstacle(tables, split) or contradicting_role(decisions, split)
            message = obstacle or (
                f"No hub has each row of `{split.table}` once, so nothing can be split off."
            )
            yield split, Refusal("refused", message)


def _is_split(vault: DataVaultModel, split: Split) -> bool:
    """Return whether a hub has the split columns, and the table's own satellites no attribute."""
    own = _hub_of(vault, split.table)
    hubs = {
        end.hub
        for link in vault.links
        for end in link.hubs
        if link.table == split.table and end.columns == split.columns and end.hub != own
    }
    listing = {
        hub.name
        for hub in vault.hubs
        if hub.entity_name == split.table and hub.business_key_columns == split.columns
    }
    staying = {
        column
        for satellite in vault.satellites
        if satellite.table == split.table and satellite.parent == own
        for column in satellite.columns
    }
    return bool(hubs & listing) and staying.isdisjoint(split.attributes)


def _hub_of(vault: DataVaultModel, table: str) -> str | None:
    """Return the hub that a table's own rows are instances of; None where there's none."""
    own = _own_hubs(vault).get(table)
    if own is not None:
        return own
    return next(
        (
            satellite.via.hub
            for satellite in _of_rows(vault)
            if satellite.table == table
            and satellite.via is not None
            and satellite.via.lookup is None
            and not satellite.multi_active_keys
        ),
        None,
    )


def _key_columns(vault: DataVaultModel, hub: str, table: str) -> tuple[str, ...]:
    """Return the columns by which a table's rows are in their hub."""
    return next(
        satellite.via.columns
        for satellite in vault.satellites
        if satellite.table == table and satellite.via is not None and satellite.via.hub == hub
    )


def _has_role(vault: DataVaultModel, decision: Classify) -> bool:
    """Return whether the vault has a table's rows where the role says.

    A hub of a table with several rows for each key looks like one that a table describes, so a
    satellite says by its reason that it was decided.
    """
    table, role = decision.table, decision.role
    if role == "hub":
        return table in _own_hubs(vault)
    if role == "link":
        return any(link.table == table for link in _links_of_tables(vault))
    if role == "reference":
        return any(reference.table == table for reference in vault.reference_tables)
    return any(
        satellite.table == table
        and satellite.via is not None
        and (table not in _own_hubs(vault) or decided_reason(decision) in satellite.reason)
        for satellite in vault.satellites
    )


def _own_hubs(vault: DataVaultModel) -> dict[str, str]:
    """Return the hub of each table that has one of its own, or shares one with other sources."""
    shared = {
        (match_table, hub.name)
        for hub in vault.hubs
        for match in hub.key_matches or ()
        for match_table in (match.table, match.other_table)
    }
    described = {s.table: s.via.hub for s in _of_rows(vault) if s.via is not None}
    # An entity that no table lists comes after the tables, and is named for one of them.
    names = {hub.entity_name: hub.name for hub in reversed(vault.hubs)}
    return {
        table: hub
        for table, hub in described.items()
        if names.get(table) == hub or (table, hub) in shared
    }


def _of_rows(vault: DataVaultModel) -> list[Satellite]:
    """Return the satellites that describe rows of their table, not what these refer to."""
    referred = {(link.table, hub.hash_key) for link in vault.links for hub in link.hubs[1:]}
    return [
        satellite
        for satellite in vault.satellites
        if satellite.via is None or (satellite.table, satellite.via.hash_key) not in referred
    ]


def _links_of_tables(vault: DataVaultModel) -> list[Link]:
    """Return the links that represent a table's rows, not a reference of a hub's table."""
    described = {s.table for s in vault.satellites if s.via is not None}
    return [link for link in vault.links if link.table not in described]


def _places(vault: DataVaultModel) -> Places:
    entities = {hub.name: hub.entity_name for hub in vault.hubs}
    described = {
        (satellite.table, satellite.via.hub): bool(satellite.multi_active_keys)
        for satellite in vault.satellites
        if satellite.via is not None
    }
    relating = {
        link.table: {entities[end.hub] for end in link.hubs} for link in _links_of_tables(vault)
    }
    relating |= {table: {entities[hub]} for table, hub in described if entities[hub] != table}
    own = set(_own_hubs(vault))
    subtypes = {table for (table, _), is_multi_active in described.items() if not is_multi_active}
    return Places(own | subtypes, relating)
