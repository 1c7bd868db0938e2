"""How a vault grows: what it has stays as it is, and what came later is added beside it.

New columns go into a satellite of their own, so that no hash of a row that was loaded changes. Dan
Linstedt and Michael Olschimke, "Building a Scalable Data Warehouse with Data Vault 2.0", 2.3: a
vault is extended, and never changed.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from fluid_build.decisions.language import BusinessKey, Classify, Role
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    Hub,
    HubReference,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.modeling.data_vault.further_links import free_name
from fluid_build.modeling.data_vault.remaining import Has, RemainingVault, is_of_table
from fluid_build.modeling.element import SourceColumn, source_columns
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.text import listed


def changed_roles(kept: DataVaultModel, fresh: DataVaultModel) -> dict[str, Classify]:
    """Return the roles that tables have, of those to which a new design would give another one."""
    before, after = _roles(kept), _roles(fresh)
    return {
        table: Classify(table=table, role=role)
        for table, role in before.items()
        if after.get(table, role) != role
    }


def changed_keys(kept: DataVaultModel, fresh: DataVaultModel) -> dict[str, BusinessKey]:
    """Return the keys of hubs, of those for which a new design would choose other columns."""
    found = {(hub.entity_name, hub.business_key_columns) for hub in fresh.hubs}
    return {
        hub.entity_name: BusinessKey(table=hub.entity_name, columns=hub.business_key_columns)
        for hub in kept.hubs
        if (hub.entity_name, hub.business_key_columns) not in found
    }


def _roles(vault: DataVaultModel) -> dict[str, Role]:
    """Return what each table is: what its rows are listed in, or else what they describe."""
    hubs = {hub.entity_name for hub in vault.hubs}
    roles: dict[str, Role] = {s.table: "satellite" for s in vault.satellites}
    roles |= {link.table: "link" for link in vault.links if is_of_table(vault, link)}
    roles |= {table.table: "reference" for table in vault.reference_tables}
    return roles | dict.fromkeys(hubs, "hub")


def grown_vault(
    kept: DataVaultModel,
    fresh: DataVaultModel,
    tables: Set[str],
    columns: Sequence[SourceColumn],
    personal: Set[SourceColumn],
    has: Has,
) -> DataVaultModel:
    """Return the vault with what the new ``tables`` and ``columns`` bring.

    ``fresh`` is a design of everything, from which what is new is taken; ``personal`` columns have
    satellites of their own. ``has`` says what the source has as they come.
    """
    growth = _Growth(kept, fresh, tables, frozenset(columns), has)
    links, satellites = growth.links(), [*growth.satellites()]
    carried = {
        column
        for link in links
        for hub in link.hubs
        # What a key is looked up by isn't in the hub.
        if hub.lookup is None
        for column in source_columns(link.table, hub.columns)
    }
    left = [column for column in columns if column not in carried and column.table not in tables]
    held, left = _held_by_tables(kept, left)
    remaining = RemainingVault(kept, has)
    satellites += _satellites_of_columns(remaining, fresh, left, personal, growth.used)
    hubs = growth.hubs([*links, *satellites])
    return kept.model_copy(
        update={
            "hubs": _with_new_sources((*kept.hubs, *hubs), [*links, *satellites]),
            "links": (*(held.get(e.name, e) for e in kept.links), *links),
            "satellites": (*kept.satellites, *satellites),
            "reference_tables": (
                *(held.get(e.name, e) for e in kept.reference_tables),
                *(t for t in fresh.reference_tables if t.table in tables),
            ),
            "keyless_tables": (
                *(held.get(e.name, e) for e in kept.keyless_tables),
                *(t for t in fresh.keyless_tables if t.table in tables),
            ),
        }
    )


@dataclass
class _Growth:
    """What a vault gets of a new design, under names that are free."""

    kept: DataVaultModel
    fresh: DataVaultModel
    tables: Set[str]
    columns: Set[SourceColumn]
    has: Has

    def __post_init__(self) -> None:
        self.used = set(self.kept.relation_names)
        self.names = {**self._known_hubs()}
        self.table_links = {link.table for link in self.kept.links if is_of_table(self.kept, link)}
        self.used_keys = {link.hash_key for link in self.kept.links}
        self.keys: dict[str, str] = {}
        self.new_hubs = [
            hub
            for hub in self.fresh.hubs
            if hub.name not in self.names and hub.entity_name in self.tables
        ]
        for hub in self.new_hubs:
            self._name(hub.name)

    def links(self) -> list[Link]:
        """Return the links of new tables, and those that new columns refer with.

        What was gone when they came is no part of them.
        """
        found, remaining = [], RemainingVault(self.fresh, self.has)
        for link in self.fresh.links:
            if link.table in self.tables or self._refers_anew(link):
                name = self._name(link.name)
                present = (h for h in link.hubs if remaining.has_reference(link.table, h))
                hubs = tuple(map(self._reference, present))
                renamed = {"name": name, "hubs": hubs, "hash_key": self._link_key(link)}
                found.append(link.model_copy(update=renamed))
        return found

    def satellites(self) -> Iterator[Satellite]:
        """Yield the satellites of new tables and of new links."""
        links = {link.name for link in self.fresh.links if link.name in self.names}
        for satellite in self.fresh.satellites:
            is_of_link = satellite.parent in links and satellite.kind == "effectivity"
            if satellite.table in self.tables or is_of_link:
                yield satellite.model_copy(
                    update={
                        "name": self._name(satellite.name),
                        "parent": self._relation(satellite.parent),
                        "hash_key": self.keys.get(satellite.parent, satellite.hash_key),
                        "via": satellite.via and self._reference(satellite.via),
                    }
                )

    def hubs(self, referring: Sequence[Link | Satellite]) -> list[Hub]:
        """Return the new hubs: those of new tables, and others that what is new refers to."""
        wanted = {reference.hub for element in referring for reference in _references(element)}
        new = {hub.name for hub in self.new_hubs}
        wanted -= {hub.name for hub in self.kept.hubs}
        return [
            self._new_hub(hub)
            for hub in self.fresh.hubs
            if hub.name in new or self.names.get(hub.name) in wanted
        ]

    def _new_hub(self, hub: Hub) -> Hub:
        """Return a hub under its name here, fed by its own table until others are known."""
        own = source_columns(hub.entity_name, hub.business_key_columns)
        return hub.model_copy(
            update={
                "name": self.names[hub.name],
                "has_ghost": False,
                "mapped_source_tables": (hub.entity_name,),
                "source_columns": own,
            }
        )

    def _known_hubs(self) -> dict[str, str]:
        """Return the hubs of the new design that the vault has, with their names there."""
        known = {(hub.entity_name, hub.business_key_columns): hub.name for hub in self.kept.hubs}
        keys = ((hub.name, (hub.entity_name, hub.business_key_columns)) for hub in self.fresh.hubs)
        return {name: known[key] for name, key in keys if key in known}

    def _refers_anew(self, link: Link) -> bool:
        """Return whether a link of a known table refers by a column or to a table that came."""
        if link.table in self.table_links:
            # Its rows are those of its link, and nothing would tell which row of another is which.
            return False
        referring = [c for hub in link.hubs for c in source_columns(link.table, hub.columns)]
        new = {hub.name for hub in self.new_hubs}
        return not self.columns.isdisjoint(referring) or any(h.hub in new for h in link.hubs)

    def _name(self, fresh: str) -> str:
        """Return the name that a new relation gets, the one of its design if that is free."""
        if fresh not in self.names:
            self.names[fresh] = free_identifier(fresh, self.used)
            self.used.add(self.names[fresh])
        return self.names[fresh]

    def _link_key(self, fresh: Link) -> str:
        """Return the name of a new link's hash key, which its table has beside the earlier ones."""
        key = free_identifier(fresh.hash_key, self.used_keys)
        self.used_keys.add(key)
        self.keys[fresh.name] = key
        return key

    def _relation(self, fresh: str) -> str:
        return self.names.get(fresh) or self._name(fresh)

    def _reference(self, reference: HubReference) -> HubReference:
        return reference.model_copy(update={"hub": self._relation(reference.hub)})


def _references(element: Link | Satellite) -> tuple[HubReference, ...]:
    if isinstance(element, Link):
        return element.hubs
    return () if element.via is None else (element.via,)


_Holding = Link | ReferenceTable | KeylessTable


def _held_by_tables(
    kept: DataVaultModel, columns: Iterable[SourceColumn]
) -> tuple[dict[str, _Holding], list[SourceColumn]]:
    """Return the relations that hold whole rows, with their new columns, and what is left."""
    holding: dict[str, _Holding] = {link.table: link for link in kept.links if link.of_rows}
    holding |= {table.table: table for table in kept.reference_tables}
    holding |= {table.table: table for table in kept.keyless_tables}
    left = []
    for column in columns:
        element = holding.get(column.table)
        if element is None:
            left.append(column)
            continue
        holding[column.table] = element.model_copy(
            update={
                "columns": (*element.columns, column.column),
                "source_columns": (*element.source_columns, column),
            }
        )
    return {element.name: element for element in holding.values()}, left


def _satellites_of_columns(
    kept: RemainingVault,
    fresh: DataVaultModel,
    columns: Sequence[SourceColumn],
    personal: Set[SourceColumn],
    used: set[str],
) -> Iterator[Satellite]:
    """Yield the satellites of the new columns of known tables, personal ones by themselves."""
    for table in dict.fromkeys(column.table for column in columns):
        mine = [column for column in columns if column.table == table]
        for are_personal in (False, True):
            names = tuple(c.column for c in mine if (c in personal) == are_personal)
            if names:
                yield _satellite_of(kept, fresh, table, names, used)


def _satellite_of(
    kept: RemainingVault,
    fresh: DataVaultModel,
    table: str,
    columns: tuple[str, ...],
    used: set[str],
) -> Satellite:
    """Return a satellite of new columns, beside the first one of their table that is loaded."""
    vault = kept.vault
    of_table = [s for s in vault.satellites if s.table == table]
    of_table = [s for s in of_table if kept.is_read(s)] or of_table
    ends = {link.name for link in vault.links if not is_of_table(vault, link)}
    beside = next((s for s in of_table if s.parent not in ends), of_table[0])
    designed = next(
        (s.name for s in fresh.satellites if s.table == table and set(columns) & set(s.columns)),
        beside.name,
    )
    name = free_name(designed if beside.kind == "effectivity" else beside.name, used)
    keys = beside.multi_active_keys
    return beside.model_copy(
        update={
            "name": name,
            "kind": "descriptive",
            "description": f"Columns that joined {table} later, with their history.",
            "columns": columns,
            "rate_of_change": "unknown",
            "source_columns": source_columns(table, (*keys, *columns)),
            "reason": f"{listed(columns)} joined {table} after its other satellites were first"
            " loaded; in a satellite of its own, no row of theirs changes.",
            "alternatives": (),
        }
    )


def _with_new_sources(
    hubs: Sequence[Hub], referring: Sequence[Link | Satellite]
) -> tuple[Hub, ...]:
    """Return hubs with the tables that feed them now as well, and a ghost where one is needed."""
    found: dict[str, list[tuple[str, HubReference]]] = {}
    for element in referring:
        for reference in _references(element):
            found.setdefault(reference.hub, []).append((element.table, reference))
    return tuple(_with_references(hub, found.get(hub.name, ())) for hub in hubs)


def _with_references(hub: Hub, references: Sequence[tuple[str, HubReference]]) -> Hub:
    if not references:
        return hub
    columns = dict.fromkeys(hub.source_columns)
    for table, reference in references:
        if reference.lookup is None:
            columns.update(dict.fromkeys(source_columns(table, reference.columns)))
    return hub.model_copy(
        update={
            "has_ghost": hub.has_ghost or any(r.optional for _, r in references),
            "mapped_source_tables": tuple(dict.fromkeys(c.table for c in columns)),
            "source_columns": tuple(columns),
        }
    )
