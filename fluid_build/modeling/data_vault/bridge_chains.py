"""The chains of links that bridges follow: from the finest grain to everything it belongs to.

A link of what a hub's row refers to leads to at most one row of each other hub. A chain of such
links never multiplies rows, so what is added up over a bridge is right.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.business_elements import BridgeHop
from fluid_build.modeling.data_vault.column_purposes import is_event_date, names_writer
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    Hub,
    HubReference,
    Link,
    LinkType,
    Satellite,
)
from fluid_build.modeling.sql_names import free_identifier

MOST_HUBS = 12
"""Hubs that a bridge leads to: a wider one is hard to read, and its nearest hubs are what most
queries group by."""
_FEWEST_LINKS = 2
"""Links that a bridge must spare a query: one join is no chain."""
_RECURSIVE: frozenset[LinkType] = frozenset({"hierarchical", "same-as"})
"""Links that lead from a hub to itself: one step up isn't where their chain ends."""


@dataclass(frozen=True, slots=True)
class ReferenceLink:
    """A reference that a link holds: whose rows refer, and to what."""

    link: Link
    own: HubReference
    referred: HubReference
    satellite: Satellite


@dataclass(frozen=True, slots=True)
class StartOfChain:
    """A link or hub that no link leads to, its satellite, and the hubs that it has itself.

    A multi-active satellite starts a chain too: its rows are finer than those of its hub. A link of
    whole rows is its own satellite.
    """

    start: Link | Hub
    satellite: Satellite
    hubs: tuple[HubReference, ...] = ()


@dataclass(frozen=True)
class VaultGraph:
    """The links of a vault as ways from hub to hub."""

    vault: DataVaultModel
    conceptual: ConceptualModel

    @cached_property
    def satellites(self) -> Mapping[str, Sequence[Satellite]]:
        """The satellites of each hub and link, without those of several rows at a time."""
        satellites: dict[str, list[Satellite]] = defaultdict(list)
        for satellite in self.vault.satellites:
            if not satellite.multi_active_keys:
                satellites[satellite.parent].append(satellite)
        return satellites

    @cached_property
    def references(self) -> Mapping[str, Sequence[ReferenceLink]]:
        """For each hub the links by which its rows refer to a row of another hub."""
        references: dict[str, list[ReferenceLink]] = defaultdict(list)
        for link in self.vault.links:
            own = self._own_end(link)
            satellites = self.satellites.get(link.name, ())
            if own is None or link.link_type in _RECURSIVE or not satellites:
                continue
            for referred in link.hubs:
                is_own = referred.hash_key == own.hash_key
                if not is_own and not any(map(names_writer, referred.columns)):
                    references[own.hub].append(ReferenceLink(link, own, referred, satellites[0]))
        return references

    def starts(self) -> Iterator[StartOfChain]:
        """Return where chains start.

        These are the links of several hubs, and the multi-active satellites and the hubs that no
        link leads to whose rows are counted and added up.
        """
        for link in self.vault.links:
            satellites = [link.as_satellite()] if link.of_rows else self.satellites.get(link.name)
            if self._own_end(link) is None and satellites:
                yield StartOfChain(link, satellites[0], link.hubs)
        for satellite in self.vault.satellites:
            if satellite.multi_active_keys and self._has_whole_keys(satellite):
                yield StartOfChain(self.vault.hub(satellite.parent), satellite)
        led_to = {
            end.hub
            for link in self.vault.links
            if link.link_type not in _RECURSIVE
            for end in link.hubs
            if end != self._own_end(link)
        }
        for hub in self.vault.hubs:
            own = (s for s in self.satellites.get(hub.name, ()) if s.table == hub.entity_name)
            first = next(own, None)
            is_finest = hub.name not in led_to and self._is_analysed(hub.entity_name)
            if is_finest and first is not None:
                yield StartOfChain(hub, first)

    def _has_whole_keys(self, satellite: Satellite) -> bool:
        """Return whether the rows of a hub's multi-active satellite are analysed, by whole keys."""
        entity = self.conceptual.entity(satellite.table)
        return (
            satellite.parent in {hub.name for hub in self.vault.hubs}
            and all(entity.attribute(key).required for key in satellite.multi_active_keys)
            and self._is_analysed(satellite.table)
        )

    def _is_analysed(self, table: str) -> bool:
        """Return whether a table has something to add up, or says when something happened.

        Other rows, such as settings and phone numbers, are read for one key at a time.
        """
        columns = {c for s in self.vault.satellites if s.table == table for c in s.columns}
        attributes = (self.conceptual.entity(table).attribute(column) for column in columns)
        return any(each.measure is not None or is_event_date(each) for each in attributes)

    def _own_end(self, link: Link) -> HubReference | None:
        """Return the end of a link that its table's own rows are; None for several hubs' link."""
        return next((end for end in link.hubs if (link.table, end.hash_key) in self._anchors), None)

    @cached_property
    def _anchors(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (satellite.table, satellite.via.hash_key)
            for satellite in self.vault.satellites
            if satellite.via is not None and not satellite.via.optional
        )


def hops(graph: VaultGraph, chain: StartOfChain) -> tuple[BridgeHop, ...]:
    """Return the links to follow from a start, the nearest hubs first; none if it isn't worth it.

    A hub is reached by the shortest way, and again where a reference says in which role. The chain
    goes on from where it reached a hub first.
    """
    start = chain.start
    key = chain.satellite.hash_key
    ends = [(end.hub, end.hash_key) for end in chain.hubs] or [(start.name, key)]
    used_columns = {key, *(column for _, column in ends)}
    reached = {hub for hub, _ in ends}
    found: list[BridgeHop] = []
    link_keys: dict[str, str] = {}
    expanded: set[str] = set()
    for hub, column in ends:  # It grows while it's read.
        for reference in graph.references.get(hub, ()) if hub not in expanded else ():
            referred = reference.referred
            is_new_role = bool(referred.role) and referred.hash_key not in used_columns
            if len(ends) < MOST_HUBS and (referred.hub not in reached or is_new_role):
                hash_key = free_identifier(reference.referred.hash_key, used_columns)
                used_columns.add(hash_key)
                link = reference.link
                # What an event refers to is one link, followed to several hubs.
                if link.name not in link_keys:
                    link_keys[link.name] = free_identifier(link.hash_key, used_columns)
                    used_columns.add(link_keys[link.name])
                hop = BridgeHop(
                    link=link.name,
                    satellite=reference.satellite.name,
                    own_key=reference.own.hash_key,
                    referred_key=reference.referred.hash_key,
                    hub=reference.referred.hub,
                    from_key=column,
                    hash_key=hash_key,
                    link_key=link_keys[link.name],
                )
                found.append(hop)
                ends.append((hop.hub, hop.hash_key))
                reached.add(hop.hub)
        expanded.add(hub)
    is_finer = isinstance(start, Link) or bool(chain.satellite.multi_active_keys)
    links = len(link_keys) + (1 if is_finer else 0)
    return tuple(found) if found and links >= _FEWEST_LINKS else ()
