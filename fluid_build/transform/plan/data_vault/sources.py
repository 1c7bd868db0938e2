"""What the builds of a vault read: the staging of each table, and what is loaded from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

from fluid_build.changes.types import wider_type
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.described_rows import of_hub_rows, of_references
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    Hub,
    HubReference,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.modeling.data_vault.remaining import RemainingVault
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.modeling.types import type_name
from fluid_build.transform.plan.elements import Build, PlanColumn, RowScope
from fluid_build.transform.plan.hashing import zero
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.quarantine import TableKeys

_ENDS_OF_REFERENCE = 2
"""Ends of a link that is made of one reference: the row that refers, and what it refers to."""


@dataclass(frozen=True)
class VaultSources:
    """A vault with the names and the staging of the tables that it's loaded from."""

    source_name: str
    conceptual: ConceptualModel
    vault: DataVaultModel
    names: SqlNames
    staged: Mapping[str, Build]
    present: PresentSource
    keys: Mapping[str, TableKeys] = field(default_factory=dict)
    """By table the keys that its rows keep: its staging marks those that don't."""

    def column(self, table: str, column: str) -> PlanColumn:
        """Return the staged column of a source table's column."""
        return self._columns[table][self.names.column(table, column)]

    def columns(self, table: str, columns: Sequence[str]) -> tuple[PlanColumn, ...]:
        """Return the staged columns of several of a source table's columns."""
        return tuple(self.column(table, column) for column in columns)

    def hub(self, name: str) -> Hub:
        """Return the hub of that name; KeyError if there is none."""
        return self._hubs[name]

    def link(self, name: str) -> Link:
        """Return the link of that name; KeyError if there is none."""
        return self._links[name]

    def satellite(self, name: str) -> Satellite:
        """Return the satellite of that name, or the link of rows; KeyError if there is none."""
        return self._satellites[name]

    @cached_property
    def _columns(self) -> dict[str, dict[str, PlanColumn]]:
        return {
            table: {column.name: column for column in build.columns}
            for table, build in self.staged.items()
        }

    @cached_property
    def counted_links(self) -> frozenset[str]:
        """The links of whole rows, which are their own satellites."""
        return frozenset(link.name for link in self.vault.links if link.of_rows)

    def parent(self, name: str) -> Hub | Link:
        """Return the hub or link of that name; KeyError if there is none."""
        return self._hubs[name] if name in self._hubs else self._links[name]

    def reference_table(self, table: str) -> ReferenceTable | None:
        """Return the code list that a source table becomes; None where it doesn't."""
        lists = (table_ for table_ in self.vault.reference_tables if table_.table == table)
        return next(lists, None)

    @cached_property
    def counted(self) -> dict[str, KeylessTable | Link]:
        """By source table the relations that have no key and count equal rows."""
        relations: list[KeylessTable | Link] = [*self.vault.keyless_tables]
        relations += (link for link in self.vault.links if link.of_rows)
        return {relation.table: relation for relation in relations}

    @cached_property
    def satellites(self) -> dict[str, list[Satellite]]:
        """For each table the satellites that are loaded from it."""
        satellites: dict[str, list[Satellite]] = {table: [] for table in self.staged}
        for satellite in self.vault.satellites:
            satellites[satellite.table].append(satellite)
        return satellites

    @cached_property
    def _hubs(self) -> dict[str, Hub]:
        return {hub.name: hub for hub in self.vault.hubs}

    @cached_property
    def _links(self) -> dict[str, Link]:
        return {link.name: link for link in self.vault.links}

    @cached_property
    def _satellites(self) -> dict[str, Satellite]:
        own = {link.name: link.as_satellite() for link in self.vault.links if link.of_rows}
        return own | {satellite.name: satellite for satellite in self.vault.satellites}

    def record_source(self, table: str) -> str:
        """Return the record source of a table's rows; several sources are in its name."""
        return table if self._are_combined else f"{self.source_name}.{table}"

    @cached_property
    def _are_combined(self) -> bool:
        return any(entity.source for entity in self.conceptual.entities)

    @cached_property
    def satellites_with_ghost(self) -> frozenset[str]:
        """The satellites that have a ghost record: those that point-in-time tables lead to."""
        business = self.vault.business_vault
        tables = () if business is None else business.point_in_time_tables
        return frozenset(each.satellite for table in tables for each in table.satellites)

    @cached_property
    def references(self) -> dict[str, dict[str, HubReference]]:
        """For each table the hubs that it refers to, by hash key."""
        references: dict[str, dict[str, HubReference]] = {table: {} for table in self.staged}
        for satellite in self.vault.satellites:
            if satellite.via is not None:
                references[satellite.table].setdefault(satellite.via.hash_key, satellite.via)
        for link in self.vault.links:
            for hub in link.hubs:
                references[link.table].setdefault(hub.hash_key, hub)
        return references

    @cached_property
    def links(self) -> dict[str, list[Link]]:
        """For each table the links that are loaded from it by their keys."""
        links: dict[str, list[Link]] = {table: [] for table in self.staged}
        for link in self.vault.links:
            if not link.of_rows:
                links[link.table].append(link)
        return links

    @cached_property
    def feeds(self) -> dict[str, list[tuple[str, HubReference]]]:
        """For each hub the tables that have its business key: its own first, then its other ones.

        Those that only refer to it come last, so that a key's record source is the table that
        describes it.
        """
        feeds: dict[str, list[tuple[str, HubReference]]] = {h.name: [] for h in self.vault.hubs}
        for table, references in self.references.items():
            for reference in references.values():
                is_earlier = (table, reference.hash_key) in self.earlier_keys
                if reference.lookup is None and not is_earlier:
                    feeds[reference.hub].append((table, reference))
        for hub in self.vault.hubs:
            feeds[hub.name].sort(
                key=lambda feed: (not self.is_own(hub, *feed), not self.is_anchor(*feed))
            )
        return feeds

    @cached_property
    def earlier_keys(self) -> frozenset[tuple[str, str]]:
        """The hash keys by which a table says what its rows were under an earlier key.

        They lead to what that hub has, and add nothing to it.
        """
        was = {each.table: each.was for each in self.present.evolution.rekeyed_tables}
        return frozenset(
            (link.table, reference.hash_key)
            for link in self.vault.links
            if link.link_type == "same-as"
            for reference in link.hubs
            if self.hub(reference.hub).entity_name == was.get(link.table)
        )

    def earlier_key(self, link: Link) -> HubReference | None:
        """Return the reference of a same-as link to what its rows were under an earlier key."""
        references = (hub for hub in link.hubs if (link.table, hub.hash_key) in self.earlier_keys)
        return next(references, None) if link.link_type == "same-as" else None

    def is_own(self, hub: Hub, table: str, reference: HubReference) -> bool:
        """Whether a reference is that of the hub's own table to itself."""
        is_of_its_key = reference.columns == hub.business_key_columns
        return table == hub.entity_name and is_of_its_key and self.is_anchor(table, reference)

    def is_anchor(self, table: str, reference: HubReference) -> bool:
        """Whether a table's own rows are instances of the hub by this reference.

        Such a row is an instance whatever its key is, so even null has a hash key.
        """
        return (table, reference.hash_key) in self._anchors

    @cached_property
    def remaining(self) -> RemainingVault:
        """The vault with what the source still has of each table."""
        return RemainingVault(self.vault, self.present.has)

    def is_of_a_hub(self, link: Link) -> bool:
        """Whether a link says what the rows of a hub's table refer to, not what its rows are."""
        return any(self.is_anchor(link.table, hub) for hub in link.hubs)

    def is_of_a_reference(self, link: Link) -> bool:
        """Whether a link represents a single reference of an entity, which may be null.

        That of an event has several, and a row for each event.
        """
        return len(link.hubs) == _ENDS_OF_REFERENCE and self.is_of_a_hub(link)

    def has_zero_key(self, table: str, reference: HubReference) -> bool:
        """Whether a row without the reference has the zero key in its place.

        A link of a single reference has no such row.
        """
        key = (table, reference.hash_key)
        return reference.optional or key in self._optional or key in self._filled_so_far

    @cached_property
    def _optional(self) -> frozenset[tuple[str, str]]:
        """The hash keys that rows of a link may lack, which others of its table may share."""
        return frozenset(
            (link.table, hub.hash_key)
            for link in self.vault.links
            for hub in link.hubs
            if hub.optional
        )

    @cached_property
    def _filled_so_far(self) -> frozenset[tuple[str, str]]:
        """The hash keys of links' rows that none of them lacked when the vault was modelled.

        A row that lacks a part of its own key is in quarantine.
        """
        return frozenset(
            (link.table, hub.hash_key)
            for link in self.vault.links
            if not self.is_of_a_reference(link) and self.remaining.has_link(link)
            for hub in link.hubs
            if not (hub.optional or self.is_anchor(link.table, hub))
            and not set(hub.columns) <= self._never_null(link.table)
        )

    def _never_null(self, table: str) -> frozenset[str]:
        keys = self.keys.get(table)
        return frozenset() if keys is None else frozenset(keys.never_null)

    def may_have_ghost(self, hub: Hub) -> bool:
        """Whether a hub has a row for the zero key, or gets it with the first that needs it."""
        return hub.has_ghost or bool(self.needing_ghost(hub))

    def needing_ghost(self, hub: Hub) -> list[tuple[str, HubReference]]:
        """Return the tables whose rows may have the zero key of a hub, by which reference."""
        return [feed for feed in self.feeds[hub.name] if self.has_zero_key(*feed)]

    def business_keys(self, hub: Hub) -> RowScope:
        """Return the rows of a hub that have a business key."""
        none = ((hub.hash_key, zero(self.vault.hash_key_strategy)),)
        return RowScope(other_than=none if self.may_have_ghost(hub) else ())

    def is_always_filled(self, table: str, reference: HubReference) -> bool:
        """Whether every row has the reference, or the zero key in its place."""
        if self.has_zero_key(table, reference) or self.is_anchor(table, reference):
            return True
        return reference.lookup is None and all(
            column.required for column in self.columns(table, reference.columns)
        )

    @cached_property
    def of_references(self) -> frozenset[str]:
        """The satellites that describe what their table's rows refer to."""
        return of_references(self.vault)

    @cached_property
    def of_hub_rows(self) -> frozenset[str]:
        """The satellites of hubs that describe the rows of their table."""
        return of_hub_rows(self.vault)

    @cached_property
    def _anchors(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (satellite.table, satellite.via.hash_key)
            for satellite in self.vault.satellites
            if satellite.via is not None and not satellite.via.optional
        )

    def business_key(self, hub: Hub) -> tuple[PlanColumn, ...]:
        """Return the hub's business key, of types that hold the values of every table."""
        return tuple(self._part(hub, place) for place in range(len(hub.business_key_columns)))

    def _part(self, hub: Hub, place: int) -> PlanColumn:
        sources = [(table, reference.columns[place]) for table, reference in self.feeds[hub.name]]
        own = self.column(hub.entity_name, hub.business_key_columns[place])
        types = (self.column(table, column).type for table, column in sources)
        type_ = reduce(wider_type, types)
        return own.model_copy(
            update={
                "type": type_,
                "contract_type": own.contract_type if type_ == own.type else type_name(type_),
                "required": own.required and not hub.has_ghost,
                "tags": ("business-key",),
                "mapped_source_tables": tuple(dict.fromkeys(table for table, _ in sources)),
                "source_columns": tuple(
                    SourceColumn(table=table, column=column) for table, column in sources
                ),
            }
        )


def vault_sources(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build], present: PresentSource
) -> VaultSources:
    """Return the sources of a model's vault; ``staging`` has one build for each of its entities."""
    assert model.dv2 is not None, "only a Data Vault model has a vault"
    return VaultSources(
        source_name=model.name,
        conceptual=model.conceptual,
        vault=model.dv2,
        names=names,
        staged={build.title: build for build in staging},
        present=present,
    )
