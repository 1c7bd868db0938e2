"""The queries that use a business vault, and those that return the same from the raw vault.

They are written for people to paste and to change, so they show the first columns of each satellite
and call relations by their own names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.data_vault.business_elements import (
    BridgeHop,
    BridgeHub,
    PointInTimeSatellite,
    hops_by_link,
)
from fluid_build.modeling.data_vault.elements import Hub, Link, Satellite
from fluid_build.modeling.sql_names import SqlNames, fit, free_identifier

AS_OF = "TIMESTAMP '9999-12-31 00:00:00'"
"""The moment that a query is about, later than any load, for the reader to replace."""

_REMARK = "-- As of the last load; replace the timestamp for any other moment."
_MOST_COLUMNS = 5
"""Columns of a satellite in a query: enough to see what it's for, few enough to read."""


@dataclass(frozen=True)
class RawVault:
    """The relations of a raw vault by name, and the names of their columns."""

    hubs: dict[str, Hub]
    links: dict[str, Link]
    satellites: dict[str, Satellite]
    names: SqlNames

    def business_key(self, hub: str) -> tuple[str, ...]:
        """Return the columns of a hub's business key."""
        return self.names.columns_of(
            self.hubs[hub].entity_name, self.hubs[hub].business_key_columns
        )

    def key(self, satellite: str) -> str:
        """Return the column with the hash key of a satellite's parent."""
        return self.satellites[satellite].hash_key

    def multi_active_keys(self, satellite: str) -> tuple[str, ...]:
        """Return the columns that tell a multi-active satellite's rows apart; else none."""
        columns = self.satellites[satellite].multi_active_keys
        return self.names.columns_of(self.satellites[satellite].table, columns)

    def payload(self, satellite: str) -> tuple[str, ...]:
        """Return the first columns of a satellite's payload."""
        columns = self.satellites[satellite].columns[:_MOST_COLUMNS]
        count = ("multiplicity",) if satellite in self.links else ()
        return (*count, *self.names.columns_of(self.satellites[satellite].table, columns))


def point_in_time_query(
    vault: RawVault, table: str, hub: Hub, satellites: Sequence[PointInTimeSatellite], calendar: str
) -> str:
    """Return the query on a point-in-time table: an equi-join for each satellite."""
    described = [satellite for satellite in satellites if vault.payload(satellite.satellite)]
    clauses = [
        f"FROM {table}",
        _join("JOIN", hub.name, (f"{hub.name}.{hub.hash_key} = {table}.{hub.hash_key}",)),
    ]
    names = [satellite.satellite for satellite in described]
    is_of_one_table = _are_of_one_table(vault, names)
    for satellite in described:
        name = satellite.satellite
        conditions = [
            f"{name}.{vault.key(name)} = {table}.{satellite.hash_key}",
            f"{name}.load_date = {table}.{satellite.load_date}",
        ]
        if not is_of_one_table:
            conditions.append(f"NOT {name}.is_deleted")
        clauses.append(_join("JOIN" if is_of_one_table else "LEFT JOIN", name, conditions))
    clauses.append(_at_snapshot(table, calendar))
    if is_of_one_table:
        clauses.append(f"    AND NOT {names[0]}.is_deleted")
    elif names:
        clauses.append(f"    AND {_is_described(vault, names)}")
    return _query(_described(vault, hub.name, names), clauses)


def raw_point_in_time_query(
    vault: RawVault, hub: Hub, satellites: Sequence[PointInTimeSatellite]
) -> str:
    """Return the query that finds the valid row of each satellite in its history."""
    described = [each.satellite for each in satellites if vault.payload(each.satellite)]
    is_of_one_table = _are_of_one_table(vault, described)
    ctes = [_valid_rows(name, (vault.key(name),), vault.payload(name)) for name in described]
    clauses = [f"FROM {hub.name}"]
    for name in described:
        same_key = f"{_valid(name)}.{vault.key(name)} = {hub.name}.{hub.hash_key}"
        clauses.append(_join("JOIN" if is_of_one_table else "LEFT JOIN", _valid(name), (same_key,)))
    clauses.append(f"WHERE {hub.name}.load_date <= {AS_OF}")
    if described and not is_of_one_table:
        clauses.append(f"    AND {_is_described(vault, described, _valid)}")
    columns = _described(vault, hub.name, described, _valid)
    return _query(columns, clauses, ctes)


@dataclass(frozen=True)
class Chain:
    """A bridge by its parts: ``start`` is a link or a hub, with its ``satellite``.

    ``key`` is the hash key of the start, as the satellite calls it.
    """

    start: Hub | Link
    satellite: str
    key: str
    hubs: tuple[BridgeHub, ...]
    hops: tuple[BridgeHop, ...]

    @property
    def is_own_satellite(self) -> bool:
        """Return whether the start is a link of whole rows, which has no satellite."""
        return self.satellite == self.start.name

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        """Every hub of the chain, with the column of the bridge that has its hash key."""
        own = [(self.start.name, self.key)] if isinstance(self.start, Hub) else []
        hubs = ((hub.hub, hub.hash_key) for hub in self.hubs)
        return (*own, *hubs, *((hop.hub, hop.hash_key) for hop in self.hops))


def bridge_query(vault: RawVault, table: str, load_date: str, chain: Chain, calendar: str) -> str:
    """Return the query on a bridge: hubs and the satellite of its start, and no link."""
    columns = _ColumnNames()
    clauses = [f"FROM {table}"]
    for name, column in chain.ends:
        hub, alias = vault.hubs[name], _alias(column)
        same_key = f"{alias}.{hub.hash_key} = {table}.{column}"
        clauses.append(_join("JOIN", _aliased(hub.name, alias), (same_key,)))
    columns.add_keys(vault, chain)
    parts, payload = vault.multi_active_keys(chain.satellite), vault.payload(chain.satellite)
    if parts or payload:
        conditions = [f"{chain.satellite}.{key} = {table}.{key}" for key in (chain.key, *parts)]
        conditions.append(f"{chain.satellite}.load_date = {table}.{load_date}")
        clauses.append(_join("JOIN", chain.satellite, conditions))
        columns.add(chain.satellite, (*parts, *payload))
    clauses.append(_at_snapshot(table, calendar))
    return _query(columns.listed, clauses)


def raw_bridge_query(vault: RawVault, chain: Chain) -> str:
    """Return the query that follows each link of a bridge as it was valid."""
    key, start_key = chain.key, chain.start.hash_key
    start = _alias(key) if isinstance(chain.start, Hub) else chain.start.name
    parts, payload = vault.multi_active_keys(chain.satellite), vault.payload(chain.satellite)
    own_keys = [hub.hash_key for hub in chain.hubs] if chain.is_own_satellite else []
    ctes = [_valid_rows(chain.satellite, (key, *parts), (*own_keys, *payload))]
    if chain.is_own_satellite:
        start = _valid(chain.satellite)
        clauses = [f"FROM {start}"]
    else:
        same_row = f"{_valid(chain.satellite)}.{key} = {start}.{start_key}"
        clauses = [
            f"FROM {_aliased(chain.start.name, start)}",
            _join("JOIN", _valid(chain.satellite), (same_row,)),
        ]
    keys = {key: f"{start}.{start_key}"}
    keys |= {hub.hash_key: f"{start}.{hub.hash_key}" for hub in chain.hubs}
    for number, hops in enumerate(hops_by_link(chain.hops), start=1):
        first, alias = hops[0], f"hop_{number}"
        link_key = vault.links[first.link].hash_key
        ctes.append(_valid_rows(first.satellite, (link_key,), ()))
        ctes.append(_valid_links(alias, hops, link_key))
        same_key = f"{alias}.{first.own_key} = {keys[first.from_key]}"
        clauses.append(_join("LEFT JOIN", alias, (same_key,)))
        keys |= {hop.hash_key: f"{alias}.{hop.referred_key}" for hop in hops}
    columns = _ColumnNames()
    columns.add_keys(vault, chain)
    for name, column in chain.ends:
        hub, alias = vault.hubs[name], _alias(column)
        if column != key:
            same_key = f"{alias}.{hub.hash_key} = {keys[column]}"
            clauses.append(_join("LEFT JOIN", _aliased(hub.name, alias), (same_key,)))
    columns.add(_valid(chain.satellite), (*parts, *payload))
    return _query(columns.listed, clauses, ctes)


@dataclass
class _ColumnNames:
    """The columns of a query, each under a name of its own."""

    listed: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def add(self, relation: str, columns: Iterable[str], stem: str = "") -> None:
        """Add columns of a relation, with a stem in front of them if there is one."""
        for column in columns:
            name = free_identifier(fit(stem, column) if stem else column, self.used)
            self.used.add(name)
            renamed = "" if name == column else f" AS {name}"
            self.listed.append(f"{relation}.{column}{renamed}")

    def add_keys(self, vault: RawVault, chain: Chain) -> None:
        """Add the business keys of all hubs; those that share a name have their hub's before it."""
        keys = {column: vault.business_key(hub) for hub, column in chain.ends}
        uses = Counter(name for key in keys.values() for name in key)
        for column, key in keys.items():
            is_shared = any(uses[name] > 1 for name in key)
            self.add(_alias(column), key, column.removesuffix("_hk") if is_shared else "")


def _are_of_one_table(vault: RawVault, satellites: Sequence[str]) -> bool:
    """Return whether satellites hold columns of the same rows, which come and go together."""
    return len({vault.satellites[satellite].table for satellite in satellites}) == 1


def _is_described(
    vault: RawVault, satellites: Sequence[str], alias: Callable[[str], str] = str
) -> str:
    """Return the condition that a row of some satellite was valid.

    Each source of a shared hub may have keys that the others lack.
    """
    keys = ", ".join(f"{alias(name)}.{vault.key(name)}" for name in satellites)
    return f"COALESCE({keys}) IS NOT NULL"


def _described(
    vault: RawVault, hub: str, satellites: Sequence[str], alias: Callable[[str], str] = str
) -> list[str]:
    columns = _ColumnNames()
    columns.add(hub, vault.business_key(hub))
    for name in satellites:
        columns.add(alias(name), vault.payload(name))
    return columns.listed


def _valid_rows(satellite: str, keys: Sequence[str], payload: Sequence[str]) -> str:
    """Return the rows of a satellite that were valid, as a common table expression."""
    recency = free_identifier("recency", (*keys, *payload))
    listed = ", ".join((*keys, *payload))
    by_load = f"PARTITION BY {', '.join(keys)} ORDER BY load_date DESC"
    return (
        f"{_valid(satellite)} AS (\n"
        f"    SELECT {listed}\n"
        "    FROM (\n"
        f"        SELECT {listed}, is_deleted,\n"
        f"            RANK() OVER ({by_load}) AS {recency}\n"
        f"        FROM {satellite}\n"
        f"        WHERE load_date <= {AS_OF}\n"
        "    ) AS history\n"
        f"    WHERE {recency} = 1 AND NOT is_deleted\n"
        ")"
    )


def _valid_links(alias: str, hops: Sequence[BridgeHop], link_key: str) -> str:
    """Return the rows of a link that were valid, as a common table expression."""
    hop = hops[0]
    valid = _valid(hop.satellite)
    keys = (f"{hop.link}.{key}" for key in (hop.own_key, *(each.referred_key for each in hops)))
    return (
        f"{alias} AS (\n"
        f"    SELECT {', '.join(keys)}\n"
        f"    FROM {hop.link}\n"
        f"    JOIN {valid}\n"
        f"        ON {valid}.{link_key} = {hop.link}.{link_key}\n"
        ")"
    )


def _at_snapshot(table: str, calendar: str) -> str:
    return (
        f"WHERE {table}.snapshot_date = (\n"
        f"    SELECT MAX(snapshot_date) FROM {calendar}\n"
        f"    WHERE snapshot_date <= {AS_OF}\n"
        ")"
    )


def _query(columns: Iterable[str], clauses: Iterable[str], ctes: Sequence[str] = ()) -> str:
    selected = ",\n".join(f"    {column}" for column in columns)
    head = ["WITH " + ",\n".join(ctes)] if ctes else []
    return "\n".join((_REMARK, *head, f"SELECT\n{selected}", *clauses))


def _join(kind: str, relation: str, conditions: Sequence[str]) -> str:
    return f"{kind} {relation}\n    ON " + "\n    AND ".join(conditions)


def _alias(column: str) -> str:
    """Return the name for a hub in a query on a bridge: several columns may lead to one hub."""
    return fit("hub", column.removesuffix("_hk"))


def _aliased(relation: str, alias: str) -> str:
    return relation if relation == alias else f"{relation} AS {alias}"


def _valid(satellite: str) -> str:
    return fit("valid", satellite)
