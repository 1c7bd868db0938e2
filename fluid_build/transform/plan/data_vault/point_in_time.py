"""The point-in-time tables: for each key and snapshot the row of each satellite that was valid.

A row that says that the source had deleted it isn't valid. Where none was valid, the table leads to
the ghost record of the satellite, so that inner joins on equality find a row for every key.
"""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.business_elements import (
    PointInTimeSatellite,
    PointInTimeTable,
)
from fluid_build.modeling.data_vault.elements import Hub
from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.construction_tests import every_key_exists, reference
from fluid_build.transform.plan.data_vault.columns import hub_key, in_key
from fluid_build.transform.plan.data_vault.snapshots import (
    SNAPSHOT_DATE,
    load_date_column,
    row_reference,
    snapshot_build,
    snapshot_tests,
    valid_at_snapshot,
    versions,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import BEFORE_ANY_LOAD, Build, BuildTest, PlanColumn
from fluid_build.transform.plan.hashing import zero_key
from fluid_build.transform.plan.sql_layout import Column, join, query, with_ctes


def point_in_time_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each point-in-time table."""
    business = sources.vault.business_vault
    for table in () if business is None else business.point_in_time_tables:
        yield _point_in_time_table(sources, table)


def _point_in_time_table(sources: VaultSources, table: PointInTimeTable) -> Build:
    hub = sources.hub(table.hub)
    return snapshot_build(
        sources,
        table,
        lambda snapshots: _sql(sources, table, hub, snapshots),
        relations=(hub.name, *(satellite.satellite for satellite in table.satellites)),
        columns=_columns(sources, table, hub),
        key=(hub.hash_key, "snapshot_date"),
        tests=_tests(sources, table, hub),
    )


def _sql(sources: VaultSources, table: PointInTimeTable, hub: Hub, snapshots: str) -> str:
    key = hub.hash_key
    zero = zero_key(sources.vault.hash_key_strategy)
    ctes = [("snapshots", snapshots)]
    columns: list[Column] = [f"hub.{key}", "snapshots.snapshot_date"]
    joins = [join("JOIN", f"model.{hub.name}", "hub", ["hub.load_date <= snapshots.snapshot_date"])]
    for number, satellite in enumerate(table.satellites, start=1):
        alias = f"versions_{number}"
        cte = fit(satellite.satellite, "versions")
        own_key = sources.satellite(satellite.satellite).hash_key
        ctes.append((cte, versions(satellite.satellite, own_key)))
        columns += [
            (f"COALESCE({alias}.{own_key}, {zero})", satellite.hash_key),
            (f"COALESCE({alias}.valid_from, {BEFORE_ANY_LOAD})", satellite.load_date),
        ]
        same_key = f"{alias}.{own_key} = hub.{key}"
        joins.append(join("LEFT JOIN", cte, alias, (same_key, *valid_at_snapshot(alias))))
    return with_ctes(ctes, query(columns, "snapshots", *joins))


def _columns(sources: VaultSources, table: PointInTimeTable, hub: Hub) -> Iterator[PlanColumn]:
    own = hub_key(sources, hub)
    yield own.model_copy(update={"tags": ("hash-key", "primary-key", "foreign-key")})
    yield in_key(SNAPSHOT_DATE)
    for satellite in table.satellites:
        yield technical(
            satellite.hash_key,
            "VARCHAR",
            f"The hash key of the row of {satellite.satellite} that was valid; the zero key leads"
            " to its ghost record.",
            tags=("hash-key", "foreign-key"),
            sources=hub.source_columns,
        )
        yield load_date_column(satellite.load_date, satellite.satellite)


def _tests(sources: VaultSources, table: PointInTimeTable, hub: Hub) -> Iterator[BuildTest]:
    yield from snapshot_tests(sources, table.name, (hub.hash_key, "snapshot_date"))
    yield reference(table.name, hub.hash_key, hub.name, hub.hash_key, every_key_exists(hub.name))
    for satellite in table.satellites:
        own_key = sources.satellite(satellite.satellite).hash_key
        yield _leads_to_a_row(table, own_key, satellite)


def _leads_to_a_row(
    table: PointInTimeTable, own_key: str, satellite: PointInTimeSatellite
) -> BuildTest:
    return row_reference(
        table.name,
        satellite.satellite,
        ((satellite.hash_key, own_key), (satellite.load_date, "load_date")),
        f"Each row leads to the row of {satellite.satellite} that was valid, or to its ghost"
        " record.",
    )
