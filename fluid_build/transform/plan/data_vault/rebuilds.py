"""The way back: for each source table the query that makes it anew out of the vault alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    Hub,
    HubReference,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.data_vault.histories import (
    keyless_history,
    reference_history,
    satellite_history,
)
from fluid_build.transform.plan.data_vault.history import current
from fluid_build.transform.plan.elements import Rebuild
from fluid_build.transform.plan.staging import by_spelling, original, restored

_INDENT = "    "


def vault_rebuilds(model: LogicalModel, names: SqlNames) -> tuple[Rebuild, ...]:
    """One query for each table of the source, in order; it reads the vault and no staging."""
    assert model.dv2 is not None, "only a Data Vault model has a vault"
    pieces = _Pieces(model.dv2, names)
    return tuple(
        Rebuild(
            table=entity.name,
            source=names.table(entity.name),
            sql=pieces.rebuilt(entity),
            original=original(entity, names, by_spelling),
        )
        for entity in model.conceptual.entities
    )


@dataclass
class _Query:
    """A query as it grows: what is read, and which SQL gives each attribute back."""

    read: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)

    def give(self, attributes: Sequence[str], expressions: Sequence[str]) -> None:
        """Take an expression for each attribute that has none."""
        for attribute, expression in zip(attributes, expressions, strict=True):
            self.given.setdefault(attribute, expression)

    def lacks(self, attributes: Sequence[str]) -> bool:
        """Whether one of the attributes has no expression yet."""
        return any(attribute not in self.given for attribute in attributes)


class _Pieces:
    """The vault's pieces by the source table that they hold."""

    def __init__(self, vault: DataVaultModel, names: SqlNames) -> None:
        self._names = names
        self._hubs: Mapping[str, Hub] = {hub.name: hub for hub in vault.hubs}
        self._codes = {table.table: table for table in vault.reference_tables}
        self._keyless = {table.table: table for table in vault.keyless_tables}
        self._links: dict[str, list[Link]] = {}
        for link in vault.links:
            self._links.setdefault(link.table, []).append(link)
        self._satellites: dict[str, list[Satellite]] = {}
        for satellite in vault.satellites:
            self._satellites.setdefault(satellite.table, []).append(satellite)

    def rebuilt(self, entity: Entity) -> str:
        """The query for one table."""
        if entity.name in self._codes:
            query = self._of_codes(self._codes[entity.name])
        elif entity.name in self._keyless:
            query = self._of_rows(self._keyless[entity.name])
        else:
            query = self._of_satellites(entity.name)
        selected = restored(entity, by_spelling, query.given)
        return f"SELECT\n{selected}\n" + "\n".join(query.read)

    def _of_codes(self, table: ReferenceTable) -> _Query:
        history = reference_history(table, self._names)
        query = _Query([_from(current(history, _but_technical(history.columns), _INDENT))])
        self._give(query, table.table, (*table.key_columns, *table.columns), "kept")
        return query

    def _of_rows(self, table: KeylessTable) -> _Query:
        history = keyless_history(table, self._names)
        columns = (*self._names.columns_of(table.table, table.columns), "multiplicity")
        query = _Query([_from(current(history, columns, _INDENT))])
        query.read.append("CROSS JOIN UNNEST(range(kept.multiplicity)) AS copies (number)")
        self._give(query, table.table, table.columns, "kept")
        return query

    def _of_satellites(self, table: str) -> _Query:
        satellites = self._satellites[table]
        anchored = [one for one in satellites if one.via is not None] or satellites[:1]
        query = _Query()
        for number, satellite in enumerate(anchored, start=1):
            self._read_satellite(query, satellite, "kept" if number == 1 else f"kept_{number}")
        via = anchored[0].via
        if via is None:
            (link,) = self._links[table]
            self._read_link(query, link)
        else:
            self._read_hub(query, via, f"kept.{via.hash_key}", "own")
            for number, link in enumerate(self._links.get(table, ()), start=1):
                self._read_reference(query, link, via, f"reached_{number}")
        return query

    def _read_satellite(self, query: _Query, satellite: Satellite, alias: str) -> None:
        history = satellite_history(satellite, self._names)
        columns = (*history.keys, *history.carried)
        rows = current(history, columns, _INDENT)
        if query.read:
            same = f"{alias}.{satellite.hash_key} = kept.{satellite.hash_key}"
            query.read.append(f"JOIN (\n{rows}\n) AS {alias}\n{_INDENT}ON {same}")
        else:
            query.read.append(_from(rows))
        self._give(
            query, satellite.table, (*satellite.multi_active_keys, *satellite.columns), alias
        )

    def _read_hub(self, query: _Query, reference: HubReference, key: str, alias: str) -> None:
        """Read the business key off a hub, where something of it is not given yet."""
        if reference.lookup is not None or not query.lacks(reference.columns):
            return
        hub = self._hubs[reference.hub]
        query.read.append(
            f"LEFT JOIN model.{hub.name} AS {alias}\n{_INDENT}ON {alias}.{hub.hash_key} = {key}"
        )
        query.give(reference.columns, [f"{alias}.{name}" for name in self._business_key(hub)])

    def _read_link(self, query: _Query, link: Link) -> None:
        query.read.append(
            f"JOIN model.{link.name} AS link\n{_INDENT}ON link.{link.hash_key} ="
            f" kept.{link.hash_key}"
        )
        self._give(query, link.table, link.dependent_child_keys, "link")
        for number, reference in enumerate(link.hubs, start=1):
            key = f"link.{reference.hash_key}"
            self._read_hub(query, reference, key, f"hub_{number}")

    def _read_reference(self, query: _Query, link: Link, own: HubReference, alias: str) -> None:
        """Read what an entity refers to off the link's row that stands, if there is one."""
        (reference,) = (hub for hub in link.hubs if hub.hash_key != own.hash_key)
        if reference.lookup is not None or not query.lacks(reference.columns):
            return
        hub = self._hubs[reference.hub]
        (effectivity,) = (s for s in self._satellites[link.table] if s.parent == link.name)
        history = satellite_history(effectivity, self._names)
        inner = _INDENT * 2
        names = [f"hub.{name} AS key_{n}" for n, name in enumerate(self._business_key(hub), 1)]
        listed = f",\n{inner}".join((f"link.{own.hash_key}", *names))
        query.read.append(
            f"LEFT JOIN (\n{_INDENT}SELECT\n{inner}{listed}\n{_INDENT}FROM (\n"
            f"{current(history, (link.hash_key,), inner)}\n{_INDENT}) AS standing\n"
            f"{_INDENT}JOIN model.{link.name} AS link\n"
            f"{inner}ON link.{link.hash_key} = standing.{link.hash_key}\n"
            f"{_INDENT}JOIN model.{hub.name} AS hub\n"
            f"{inner}ON hub.{hub.hash_key} = link.{reference.hash_key}\n"
            f") AS {alias}\n{_INDENT}ON {alias}.{own.hash_key} = kept.{own.hash_key}"
        )
        keys = [f"{alias}.key_{n}" for n in range(1, len(reference.columns) + 1)]
        query.give(reference.columns, keys)

    def _business_key(self, hub: Hub) -> tuple[str, ...]:
        return self._names.columns_of(hub.entity_name, hub.business_key_columns)

    def _give(self, query: _Query, table: str, attributes: Sequence[str], alias: str) -> None:
        names = self._names.columns_of(table, attributes)
        query.give(attributes, [f"{alias}.{name}" for name in names])


def _from(rows: str) -> str:
    return f"FROM (\n{rows}\n) AS kept"


def _but_technical(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        column
        for column in columns
        if column not in {"load_date", "record_source", "is_deleted", "hash_diff"}
    )
