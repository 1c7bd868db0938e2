"""The business vault of a raw vault: a snapshot calendar, point-in-time tables and bridges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.decisions.conventions import (
    DEFAULT_CONVENTIONS,
    ColumnNames,
    Conventions,
    Prefixes,
)
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.bridge_chains import MOST_HUBS, StartOfChain, VaultGraph, hops
from fluid_build.modeling.data_vault.business_elements import (
    BridgeHop,
    BridgeHub,
    BridgeTable,
    BusinessVault,
    PointInTimeSatellite,
    PointInTimeTable,
    SnapshotCalendar,
    hops_by_link,
)
from fluid_build.modeling.data_vault.business_queries import (
    Chain,
    RawVault,
    bridge_query,
    point_in_time_query,
    raw_bridge_query,
    raw_point_in_time_query,
)
from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, Satellite
from fluid_build.modeling.element import Element
from fluid_build.modeling.sql_names import (
    SqlNames,
    fit,
    free_identifier,
    sql_names,
    with_names,
)
from fluid_build.text import counted, listed, noun

_FEWEST_SATELLITES = 2
"""Satellites that make a point-in-time table worth it: one alone is its own."""


def with_business_vault(
    vault: DataVaultModel,
    conceptual: ConceptualModel,
    decided: Mapping[str, str] | None = None,
    conventions: Conventions = DEFAULT_CONVENTIONS,
) -> DataVaultModel:
    """Return a vault with its business vault, and ghost records for what that may lead to.

    ``decided`` are other names for relations, by the names that they'd have; those of the raw vault
    have them already.
    """
    names = sql_names(conceptual)
    raw = RawVault(
        hubs={hub.name: hub for hub in vault.hubs},
        links={link.name: link for link in vault.links},
        satellites={
            **{link.name: link.as_satellite() for link in vault.links if link.of_rows},
            **{satellite.name: satellite for satellite in vault.satellites},
        },
        names=names,
    )
    relation_names = _RelationNames.of(vault, names, decided or {}, conventions.prefixes)
    graph = VaultGraph(vault, conceptual)
    makers = _Makers(raw, graph, relation_names, conventions.columns)
    business = makers.business_vault(vault)
    with_ghosts = {
        *(table.hub for table in business.point_in_time_tables),
        *(hop.hub for bridge in business.bridges for hop in bridge.hops),
    }
    hubs = (
        hub.model_copy(update={"has_ghost": True}) if hub.name in with_ghosts else hub
        for hub in vault.hubs
    )
    return vault.model_copy(update={"hubs": tuple(hubs), "business_vault": business})


@dataclass
class _RelationNames:
    """A giver of names that no relation has, and of those that were decided instead.

    ``originals`` are the names that relations of the raw vault have without a decision.
    """

    used: set[str]
    decided: Mapping[str, str]
    originals: Mapping[str, str]
    prefixes: Prefixes

    @classmethod
    def of(
        cls,
        vault: DataVaultModel,
        names: SqlNames,
        decided: Mapping[str, str],
        prefixes: Prefixes,
    ) -> "_RelationNames":
        originals = {new: original for original, new in decided.items()}
        raw = (originals.get(name, name) for name in vault.relation_names)
        stagings = map(prefixes.relation, names.stagings.values())
        return cls({*stagings, *raw}, decided, originals, prefixes)

    def new(self, prefix: str, stem: str) -> str:
        name = free_identifier(fit(self.prefixes.relation(f"{prefix}_{stem}")), self.used)
        self.used.add(name)
        return self.decided.get(name, name)

    def stem(self, relation: str) -> str:
        """Return the name that a relation has without a decision, without its prefix."""
        return self.prefixes.stem(self.originals.get(relation, relation))


@dataclass(frozen=True)
class _Makers:
    """What makes the tables of a business vault."""

    raw: RawVault
    graph: VaultGraph
    relation_names: _RelationNames
    column_names: ColumnNames

    def spelled(self, query: str) -> str:
        """Return a query with the names of the columns that loads add."""
        return with_names(query, self.column_names.replaced)

    def business_vault(self, vault: DataVaultModel) -> BusinessVault:
        """Return the business vault of a vault."""
        calendar = self.relation_names.new("snapshot", "dates")
        tables = tuple(
            self.point_in_time_table(hub, self.graph.satellites[hub.name], calendar)
            for hub in vault.hubs
            if len(self.graph.satellites.get(hub.name, ())) >= _FEWEST_SATELLITES
        )
        bridges = tuple(self.bridges(calendar))
        return BusinessVault(
            calendar=SnapshotCalendar(
                name=calendar,
                description="Every load that changed the vault, as a moment to ask about.",
                mapped_source_tables=_tables((*tables, *bridges)),
                reason=(
                    "Each load that changed something is a snapshot. Nothing changes between two"
                    " of them, so the last one before a moment shows the vault as of that moment."
                ),
            ),
            point_in_time_tables=tables,
            bridges=bridges,
        )

    def point_in_time_table(
        self, hub: Hub, satellites: Sequence[Satellite], calendar: str
    ) -> PointInTimeTable:
        """Return the point-in-time table of a hub."""
        name = self.relation_names.new("pit", self.relation_names.stem(hub.name))
        columns = tuple(_columns_of(hub, satellites, self.column_names.load_date))
        return PointInTimeTable(
            name=name,
            description=(
                f"For each snapshot and row of {hub.name} the row of each satellite that was valid."
            ),
            hub=hub.name,
            hash_key=hub.hash_key,
            satellites=columns,
            query=self.spelled(point_in_time_query(self.raw, name, hub, columns, calendar)),
            raw_query=self.spelled(raw_point_in_time_query(self.raw, hub, columns)),
            mapped_source_tables=_tables((hub, *satellites)),
            source_columns=hub.source_columns,
            reason=(
                f"{hub.name} has {counted(len(satellites), 'satellite')} that change at different"
                " times. Here an equality finds the valid row of each; without it, a query ranks"
                f" the whole history of each.{self._left_out(hub)}"
            ),
        )

    def _left_out(self, hub: Hub) -> str:
        multi_active = [
            satellite.name
            for satellite in self.raw.satellites.values()
            if satellite.parent == hub.name and satellite.multi_active_keys
        ]
        if not multi_active:
            return ""
        verb = "isn't" if len(multi_active) == 1 else "aren't"
        return f" {listed(multi_active)} {verb} in it: several rows are valid at a time."

    def bridges(self, calendar: str) -> Iterator[BridgeTable]:
        """Return a bridge for each start of a chain that is long enough."""
        for chain in self.graph.starts():
            chain_hops = hops(self.graph, chain)
            # A bridge can't hold a source column that has the name of its own.
            is_free = "snapshot_date" not in self.raw.multi_active_keys(chain.satellite.name)
            if chain_hops and is_free:
                yield self.bridge(chain, chain_hops, calendar)

    def bridge(
        self, chain: StartOfChain, chain_hops: tuple[BridgeHop, ...], calendar: str
    ) -> BridgeTable:
        """Return the bridge along a chain of links."""
        start, satellite = chain.start, chain.satellite
        finest = satellite if satellite.multi_active_keys else start
        name = self.relation_names.new("bridge", self.relation_names.stem(finest.name))
        hubs = tuple(BridgeHub(hub=end.hub, hash_key=end.hash_key) for end in chain.hubs)
        parts = Chain(start, satellite.name, satellite.hash_key, hubs, chain_hops)
        columns = {
            satellite.hash_key,
            *(column for _, column in parts.ends),
            *self.raw.multi_active_keys(satellite.name),
        }
        load_date = free_identifier(fit(satellite.name, self.column_names.load_date), columns)
        links = [self.raw.links[along[0].link] for along in hops_by_link(chain_hops)]
        of_source = (column for element in (start, *links) for column in element.source_columns)
        return BridgeTable(
            name=name,
            description=(
                f"For each snapshot and valid row of {finest.name} what its links led to:"
                f" {listed(dict.fromkeys(hub for hub, _ in parts.ends))}."
            ),
            start=start.name,
            hash_key=satellite.hash_key,
            satellite=satellite.name,
            load_date=load_date,
            hubs=hubs,
            hops=chain_hops,
            query=self.spelled(bridge_query(self.raw, name, load_date, parts, calendar)),
            raw_query=self.spelled(raw_bridge_query(self.raw, parts)),
            mapped_source_tables=_tables((start, satellite, *links)),
            source_columns=tuple(dict.fromkeys(of_source)),
            reason=_reason_for_bridge(finest.name, parts),
        )


def _reason_for_bridge(finest: str, chain: Chain) -> str:
    count = len(hops_by_link(chain.hops))
    links, lead = counted(count, "link"), noun(count, "leads", "lead")
    reasons = [
        f"Queries count and add up the rows of {finest} by what {links} {lead} to.",
        "Here they join no link and no effectivity satellite.",
        "Each link leads to at most one row, so no row is counted twice.",
    ]
    if chain.is_own_satellite:
        reasons.append(f"Equal rows are one here, with their multiplicity in {finest}.")
    if len(chain.ends) >= MOST_HUBS:
        reasons.append(f"Only the nearest {MOST_HUBS} hubs are in it.")
    return " ".join(reasons)


def _columns_of(
    hub: Hub, satellites: Sequence[Satellite], load_date_name: str
) -> Iterator[PointInTimeSatellite]:
    used = {hub.hash_key, "snapshot_date"}
    for satellite in satellites:
        hash_key = free_identifier(fit(satellite.name, "hk"), used)
        load_date = free_identifier(fit(satellite.name, load_date_name), {*used, hash_key})
        used |= {hash_key, load_date}
        yield PointInTimeSatellite(satellite=satellite.name, hash_key=hash_key, load_date=load_date)


def _tables(elements: Iterable[Element]) -> tuple[str, ...]:
    tables = (table for element in elements for table in element.mapped_source_tables)
    return tuple(dict.fromkeys(tables))
