"""Which decisions a finished vault doesn't follow, and why.

What counts is the vault as it is: a decision is followed if an element shows it.
"""

from collections.abc import Iterator

from fluid_build.decisions.language import AnyDecision, Classify, Role
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import DataVaultModel, Link
from fluid_build.modeling.data_vault.role_obstacles import VAULT_ROLES, Places, role_obstacle
from fluid_build.modeling.data_vault.source_tables import SourceTables, source_tables


def unfollowed(
    vault: DataVaultModel, conceptual: ConceptualModel, decisions: ModelDecisions
) -> dict[AnyDecision, Refusal]:
    """Return the decisions about a vault's tables that it doesn't show, each with the reason."""
    tables = source_tables(conceptual)
    return dict(_unfollowed_roles(vault, tables, decisions))


def _unfollowed_roles(
    vault: DataVaultModel, tables: SourceTables, decisions: ModelDecisions
) -> Iterator[tuple[Classify, Refusal]]:
    for table, decision in decisions.roles.items():
        if decision.role not in VAULT_ROLES:
            message = f"A Data Vault has no {decision.role} tables, so `{table}` isn't one."
            yield decision, Refusal("unused", message)
        elif table not in tables.entities:
            yield decision, Refusal("refused", f"The model has no table `{table}`.")
        elif not _has_role(vault, table, decision.role):
            obstacle = role_obstacle(tables, _places(vault), table, decision.role)
            message = obstacle or f"The other decisions leave no {decision.role} for `{table}`."
            yield decision, Refusal("refused", message)


def _has_role(vault: DataVaultModel, table: str, role: Role) -> bool:
    """Return whether the vault has a table's rows where the role says."""
    if role == "hub":
        return table in _own_hubs(vault)
    if role == "link":
        return any(link.table == table for link in _links_of_tables(vault))
    if role == "reference":
        return any(reference.table == table for reference in vault.reference_tables)
    return table not in _own_hubs(vault) and any(
        satellite.table == table and satellite.via is not None for satellite in vault.satellites
    )


def _own_hubs(vault: DataVaultModel) -> dict[str, str]:
    """Return the hub of each table that has one of its own, or shares one with other sources."""
    shared = {
        (match_table, hub.name)
        for hub in vault.hubs
        for match in hub.key_matches or ()
        for match_table in (match.table, match.other_table)
    }
    described = {s.table: s.via.hub for s in vault.satellites if s.via is not None}
    names = {hub.entity_name: hub.name for hub in vault.hubs}
    return {
        table: hub
        for table, hub in described.items()
        if names.get(table) == hub or (table, hub) in shared
    }


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
