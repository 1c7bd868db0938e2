"""The bridges: for each valid row of a link or hub and snapshot what its links led to."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.data_vault.business_elements import (
    BridgeHop,
    BridgeTable,
    hops_by_link,
)
from fluid_build.modeling.data_vault.elements import Hub, Link
from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.construction_tests import (
    every_key_exists,
    not_null,
    reference,
)
from fluid_build.transform.plan.data_vault.columns import (
    hub_key,
    in_key,
    link_key,
    retagged,
    row_key,
)
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
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn, RowScope
from fluid_build.transform.plan.hashing import zero, zero_key
from fluid_build.transform.plan.sql_layout import Column, join, nested, query, with_ctes


def bridge_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each bridge."""
    business = sources.vault.business_vault
    for bridge in () if business is None else business.bridges:
        yield _bridge(sources, bridge)


def _bridge(sources: VaultSources, bridge: BridgeTable) -> Build:
    relations = (
        bridge.start,
        bridge.satellite,
        *(name for hop in bridge.hops for name in (hop.link, hop.satellite)),
    )
    return snapshot_build(
        sources,
        bridge,
        lambda snapshots: _sql(sources, bridge, snapshots),
        relations=relations,
        columns=_columns(sources, bridge),
        key=_key(sources, bridge),
        tests=_tests(sources, bridge),
    )


def _key(sources: VaultSources, bridge: BridgeTable) -> tuple[str, ...]:
    parts = (column.name for column in _multi_active_keys(sources, bridge))
    return (bridge.hash_key, *parts, "snapshot_date")


def _multi_active_keys(sources: VaultSources, bridge: BridgeTable) -> tuple[PlanColumn, ...]:
    satellite = sources.satellite(bridge.satellite)
    return sources.columns(satellite.table, satellite.multi_active_keys)


def _sql(sources: VaultSources, bridge: BridgeTable, snapshots: str) -> str:
    key = bridge.hash_key
    none = zero_key(sources.vault.hash_key_strategy)
    *keys_of_row, _ = _key(sources, bridge)
    start = fit(bridge.satellite, "versions")
    ctes = [("snapshots", snapshots), (start, versions(bridge.satellite, *keys_of_row))]
    columns: list[Column] = [
        *(f"start_versions.{column}" for column in keys_of_row),
        "snapshots.snapshot_date",
        ("start_versions.valid_from", bridge.load_date),
        *(f"start_rows.{hub.hash_key}" for hub in bridge.hubs),
    ]
    joins = [join("JOIN", start, "start_versions", valid_at_snapshot("start_versions"))]
    keys = {key: f"start_versions.{key}"}
    if bridge.hubs:
        same_row = [f"start_rows.{sources.parent(bridge.start).hash_key} = start_versions.{key}"]
        if bridge.start in sources.counted_links:
            same_row.append("start_rows.load_date = start_versions.valid_from")
        joins.append(join("JOIN", f"model.{bridge.start}", "start_rows", same_row))
        keys |= {hub.hash_key: f"start_rows.{hub.hash_key}" for hub in bridge.hubs}
    for number, hops in enumerate(hops_by_link(bridge.hops), start=1):
        first, alias = hops[0], f"hop_{number}"
        own_key = sources.link(first.link).hash_key
        cte = fit(first.link, "versions")
        ctes.append((cte, _versions_of_link(hops, own_key)))
        same_key = f"{alias}.{first.own_key} = {keys[first.from_key]}"
        joins.append(join("LEFT JOIN", cte, alias, (same_key, *valid_at_snapshot(alias))))
        columns.append((f"COALESCE({alias}.{own_key}, {none})", first.link_key))
        for hop in hops:
            keys[hop.hash_key] = f"COALESCE({alias}.{hop.referred_key}, {none})"
            columns.append((keys[hop.hash_key], hop.hash_key))
    return with_ctes(ctes, query(columns, "snapshots", *joins))


def _versions_of_link(hops: Sequence[BridgeHop], key: str) -> str:
    """Return the rows of a link, each with from when to when it was valid."""
    hop = hops[0]
    return query(
        [
            f"link.{key}",
            f"link.{hop.own_key}",
            *(f"link.{each.referred_key}" for each in hops),
            "versions.valid_from",
            "versions.valid_to",
            "versions.is_deleted",
        ],
        f"model.{hop.link} AS link",
        join(
            "JOIN",
            nested(versions(hop.satellite, key)),
            "versions",
            [f"versions.{key} = link.{key}"],
        ),
    )


def _columns(sources: VaultSources, bridge: BridgeTable) -> Iterator[PlanColumn]:
    start = sources.parent(bridge.start)
    key = _key_column(sources, start)
    tags = ("hash-key", "primary-key", "foreign-key")
    yield key.model_copy(update={"name": bridge.hash_key, "tags": tags})
    yield from retagged(_multi_active_keys(sources, bridge), "primary-key")
    yield in_key(SNAPSHOT_DATE)
    yield load_date_column(bridge.load_date, bridge.satellite)
    for end in bridge.hubs:
        yield _foreign_key(end.hash_key, f"The row of {end.hub} that it refers to.", start)
    for hops in hops_by_link(bridge.hops):
        link, first = sources.link(hops[0].link), hops[0]
        led = f"{first.link} led to from {first.from_key}"
        yield _foreign_key(
            first.link_key, f"The row of {first.link} that was valid; the zero key if none.", link
        )
        for hop in hops:
            yield _foreign_key(
                hop.hash_key, f"The row of {hop.hub} that {led}; the zero key if none.", link
            )


def _key_column(sources: VaultSources, start: Hub | Link) -> PlanColumn:
    if isinstance(start, Hub):
        return hub_key(sources, start)
    return row_key(start) if start.of_rows else link_key(start)


def _foreign_key(name: str, description: str, element: Hub | Link) -> PlanColumn:
    tags = ("hash-key", "foreign-key")
    return technical(name, "VARCHAR", description, tags=tags, sources=element.source_columns)


def _tests(sources: VaultSources, bridge: BridgeTable) -> Iterator[BuildTest]:
    name, start = bridge.name, bridge.start
    key = _key(sources, bridge)
    yield from snapshot_tests(sources, name, key)
    if start not in sources.counted_links:
        start_key = sources.parent(start).hash_key
        yield reference(name, bridge.hash_key, start, start_key, every_key_exists(start))
    yield row_reference(
        name,
        bridge.satellite,
        (*((column, column) for column in key[:-1]), (bridge.load_date, "load_date")),
        f"Each row leads to the row of {bridge.satellite} that was valid.",
    )
    for end in bridge.hubs:
        yield _hub_test(sources, name, end.hub, end.hash_key)
    no_link = zero(sources.vault.hash_key_strategy)
    for hops in hops_by_link(bridge.hops):
        link, key_of_link = hops[0].link, hops[0].link_key
        to_link = reference(
            name,
            key_of_link,
            link,
            sources.link(link).hash_key,
            f"Where a row has a link, it's a row of {link}.",
        )
        yield to_link.model_copy(update={"scope": RowScope(other_than=((key_of_link, no_link),))})
        for hop in hops:
            yield _hub_test(sources, name, hop.hub, hop.hash_key)
            yield not_null(name, hop.hash_key, "A key that a chain doesn't reach is the zero key.")


def _hub_test(sources: VaultSources, relation: str, hub: str, column: str) -> BuildTest:
    """Return the test that a bridge leads to a row of a hub."""
    parent = sources.hub(hub)
    role = column.removesuffix("_hk") if column != parent.hash_key else ""
    return reference(relation, column, hub, parent.hash_key, every_key_exists(hub), role=role)
