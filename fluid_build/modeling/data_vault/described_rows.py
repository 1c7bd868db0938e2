"""Which rows satellites describe: those of their table, or what these refer to."""

from fluid_build.modeling.data_vault.elements import DataVaultModel


def of_references(vault: DataVaultModel) -> frozenset[str]:
    """Return the satellites that describe what their table's rows refer to, not these rows.

    Several rows of the table have the same columns of it.
    """
    referred = {
        (link.table, hub.hash_key)
        for link in vault.links
        if not link.of_rows
        for hub in link.hubs[1:]
    }
    return frozenset(
        satellite.name
        for satellite in vault.satellites
        if satellite.via is not None and (satellite.table, satellite.via.hash_key) in referred
    )


def of_hub_rows(vault: DataVaultModel) -> frozenset[str]:
    """Return the satellites of hubs that describe the rows of their table."""
    hubs = {hub.name for hub in vault.hubs}
    here = {satellite.name for satellite in vault.satellites if satellite.parent in hubs}
    return frozenset(here - of_references(vault))
