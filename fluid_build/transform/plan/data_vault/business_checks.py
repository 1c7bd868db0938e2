"""The figures of a business vault: through each of its tables, every row of the source is reached.

The counts are of the last snapshot, which shows the vault as it is.
"""

from collections.abc import Iterator

from fluid_build.transform.plan.data_vault.snapshots import calendar_name
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Check
from fluid_build.transform.plan.sql_layout import join, nested, query


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
        expected=query(["COUNT(*)"], f"source.{sources.names.source(table)}"),
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
