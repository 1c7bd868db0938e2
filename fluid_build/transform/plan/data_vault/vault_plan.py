"""Everything that a plan needs of a vault."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carriers
from fluid_build.transform.plan.data_vault.bridge_tables import bridge_builds
from fluid_build.transform.plan.data_vault.carriers import reference_tests, vault_carriers
from fluid_build.transform.plan.data_vault.counted_rows import counted_builds
from fluid_build.transform.plan.data_vault.hashed_staging import hashed_staging
from fluid_build.transform.plan.data_vault.hubs import hub_builds
from fluid_build.transform.plan.data_vault.keys import vault_keys
from fluid_build.transform.plan.data_vault.link_checks import link_checks
from fluid_build.transform.plan.data_vault.links import link_builds
from fluid_build.transform.plan.data_vault.point_in_time import point_in_time_builds
from fluid_build.transform.plan.data_vault.rebuilds import vault_rebuilds
from fluid_build.transform.plan.data_vault.reference_tables import reference_builds
from fluid_build.transform.plan.data_vault.satellites import satellite_builds
from fluid_build.transform.plan.data_vault.snapshots import calendar_builds, calendar_name
from fluid_build.transform.plan.data_vault.sources import VaultSources, vault_sources
from fluid_build.transform.plan.deliveries import as_at_source
from fluid_build.transform.plan.elements import Build, BuildTest, Check, Rebuild
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.quarantine import keys_by_table
from fluid_build.transform.plan.relied_keys import ReliedKey
from fluid_build.transform.plan.sql_layout import join, nested, query

# The figures of a business vault: through each of its tables, every row of the source is reached.
# The counts are of the last snapshot, which shows the vault as it is.


def business_checks(sources: VaultSources) -> tuple[Check, ...]:
    """Return a check for each satellite that a point-in-time table or a bridge leads to."""
    return tuple(_checks(sources))


def _checks(sources: VaultSources) -> Iterator[Check]:
    business = sources.vault.business_vault
    if business is None:
        return
    for table in business.point_in_time_tables:
        for each in table.satellites:
            key = ((sources.satellite(each.satellite).hash_key, each.hash_key),)
            yield _check(sources, table.name, each.satellite, (*key, ("load_date", each.load_date)))
    for bridge in business.bridges:
        satellite = sources.satellite(bridge.satellite)
        parts = sources.names.columns_of(satellite.table, satellite.multi_active_keys)
        keys = ((key, key) for key in (bridge.hash_key, *parts))
        load_date = ("load_date", bridge.load_date)
        yield _check(sources, bridge.name, bridge.satellite, (*keys, load_date))


def _check(
    sources: VaultSources, relation: str, satellite: str, pairs: tuple[tuple[str, str], ...]
) -> Check:
    table = sources.satellite(satellite).table
    conditions = [f"satellite.{theirs} = business.{ours}" for theirs, ours in pairs]
    latest = nested(query(["MAX(snapshot_date)"], f"model.{calendar_name(sources)}"))
    return Check(
        name=f"rows of {table} in {satellite}, by {relation}",
        kind="rows",
        table=table,
        expected=query(
            ["COUNT(*)"],
            as_at_source(sources.conceptual.entity(table), sources.names, sources.present),
        ),
        actual=query(
            [_rows(sources, satellite)],
            f"model.{relation} AS business",
            join("JOIN", f"model.{satellite}", "satellite", conditions),
            where=[f"business.snapshot_date = {latest}", "NOT satellite.is_deleted"],
        ),
        reason=f"The last snapshot of {relation} leads to every row that {table} has.",
    )


def _rows(sources: VaultSources, satellite: str) -> str:
    """Return SQL for how many rows of the source there are: a link of rows counts equal ones."""
    if satellite not in sources.counted_links:
        return "COUNT(*)"
    return "CAST(COALESCE(SUM(satellite.multiplicity), 0) AS BIGINT)"


@dataclass(frozen=True, slots=True)
class VaultPlan:
    """A Data Vault on its staging."""

    sources: VaultSources

    def builds(self) -> tuple[Build, ...]:
        """Return every relation beyond the staging views, in the order of building."""
        return (
            *hashed_staging(self.sources),
            *reference_builds(self.sources),
            *hub_builds(self.sources),
            *counted_builds(self.sources),
            *link_builds(self.sources),
            *satellite_builds(self.sources),
            *calendar_builds(self.sources),
            *point_in_time_builds(self.sources),
            *bridge_builds(self.sources),
        )

    def relied_keys(self) -> Iterator[ReliedKey]:
        """Return the keys of the source that the vault is loaded by."""
        return vault_keys(self.sources)

    def reference_tests(self) -> Mapping[str, tuple[BuildTest, ...]]:
        """Return by relation the tests that what it refers to was in the source."""
        return reference_tests(self.sources)

    def carriers(self) -> Carriers:
        """Return which relations hold the columns of each table."""
        return vault_carriers(self.sources)

    def rebuilds(self) -> tuple[Rebuild, ...]:
        """Return for each source table the query that rebuilds it from the vault."""
        return vault_rebuilds(self.sources)

    def checks(self) -> tuple[Check, ...]:
        """Return the figures of links and the business vault, which tables come back without."""
        return (*link_checks(self.sources), *business_checks(self.sources))


def vault_plan(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build], present: PresentSource
) -> VaultPlan:
    """Return the plan of a model's vault; ``staging`` has one build for each entity.

    Its methods raise KeyError where the vault refers to a table or column that the model lacks.
    """
    sources = vault_sources(model, names, staging, present)
    relied_keys = (key for key in vault_keys(sources) if present.has(key.table, *key.columns))
    return VaultPlan(replace(sources, keys=keys_by_table(relied_keys, model.conceptual)))
