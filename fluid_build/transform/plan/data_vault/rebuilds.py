"""The way back: for each source table the query that rebuilds it from the vault alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.elements import (
    Hub,
    HubReference,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.transform.plan.data_vault.counted_rows import counted_history
from fluid_build.transform.plan.data_vault.reference_tables import reference_history
from fluid_build.transform.plan.data_vault.satellites import satellite_history
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Rebuild
from fluid_build.transform.plan.history import History, current_rows
from fluid_build.transform.plan.sql_layout import join, nested, query
from fluid_build.transform.plan.staging import by_spelling, delivered, original, restored

_TECHNICAL = frozenset({"load_date", "record_source", "is_deleted", "hash_diff"})


def vault_rebuilds(sources: VaultSources) -> tuple[Rebuild, ...]:
    """Return one query for each table of the source; it reads the vault and no staging."""
    return tuple(
        Rebuild(
            table=entity.name,
            source=sources.names.source(entity.name),
            sql=_rebuilt(sources, entity),
            original=original(entity, sources.names, sources.present),
            delivered=delivered(entity, sources.names, sources.present),
        )
        for entity in sources.conceptual.entities
    )


def _rebuilt(sources: VaultSources, entity: Entity) -> str:
    query_ = _Query(sources)
    code_list = sources.reference_table(entity.name)
    counted = sources.counted.get(entity.name)
    if code_list is not None:
        query_.read_codes(code_list)
    elif counted is not None:
        query_.read_rows(counted)
    else:
        query_.read_satellites(entity.name)
    columns = restored(entity, by_spelling, query_.expressions, sources.present)
    return "\n".join((f"SELECT\n{columns}", *query_.clauses))


@dataclass
class _Query:
    """A query as it grows: what it reads, and the SQL of each attribute that it restores.

    ``partial`` are attributes of which some rows have the value in one reference, some in another;
    ``joined`` has the alias of each link whose current rows are joined.
    """

    sources: VaultSources
    clauses: list[str] = field(default_factory=list)
    expressions: dict[str, str] = field(default_factory=dict)
    partial: dict[str, list[str]] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)

    def read_codes(self, table: ReferenceTable) -> None:
        """Read a code list."""
        history = reference_history(table, self.sources)
        columns = [column for column in history.columns if column not in _TECHNICAL]
        self._read_history(history, columns, "current_rows")
        self._restore_from("current_rows", table.table, (*table.key_columns, *table.columns))

    def read_rows(self, relation: KeylessTable | Link) -> None:
        """Read a relation without a key, each row as often as it was there."""
        history = counted_history(relation, self.sources.names)
        columns = [column for column in history.columns if column not in _TECHNICAL]
        self._read_history(history, columns, "current_rows")
        copies = "UNNEST(range(current_rows.multiplicity)) AS copies (number)"
        self.clauses.append(f"CROSS JOIN {copies}")
        self._restore_from("current_rows", relation.table, relation.columns)
        if isinstance(relation, Link):
            self._read_hubs(relation, "current_rows")

    def read_satellites(self, table: str) -> None:
        """Read the satellites of a table, and from hubs and links what these don't hold."""
        of_references, remaining = self.sources.of_references, self.sources.remaining
        satellites = [s for s in self.sources.satellites[table] if s.name not in of_references]
        satellites = [each for each in satellites if remaining.is_read(each)] or satellites
        # Those without are of the one link that such a table becomes.
        anchored = [
            satellite for satellite in satellites if satellite.via is not None
        ] or satellites
        for number, satellite in enumerate(anchored, start=1):
            alias = "current_rows" if number == 1 else f"current_rows_{number}"
            self._read_satellite(satellite, alias)
        via = anchored[0].via
        if via is None:
            link = remaining.link_of_table(table)
            assert link is not None, f"{table} is neither of a hub nor a link"
            self._read_link(link)
        else:
            self._read_hub(via, f"current_rows.{via.hash_key}", "own", table)
            # What a row was under an earlier key, its own columns say.
            links = [
                each
                for each in self.sources.links[table]
                if remaining.has_link(each) and self.sources.earlier_key(each) is None
            ]
            references = [
                (link, end) for link in links for end in link.hubs if end.hash_key != via.hash_key
            ]
            # What a row always has comes first: nothing else has to be read then.
            for number, (link, reference) in sorted(
                enumerate(references, start=1), key=lambda item: self._may_lack(table, item[1][1])
            ):
                self._read_reference(link, via, reference, f"reference_{number}")
            for number, link in enumerate(links, start=1):
                self._read_referred(link, via, f"referred_{number}")

    def _read_history(self, history: History, columns: Sequence[str], alias: str) -> None:
        rows = nested(current_rows(history, columns))
        if not self.clauses:
            self.clauses.append(f"FROM {rows} AS {alias}")
        else:
            key, *parts = history.keys
            same = [f"{alias}.{key} = current_rows.{key}"]
            same += [f"{alias}.{part} IS NOT DISTINCT FROM current_rows.{part}" for part in parts]
            self.clauses.append(join("JOIN", rows, alias, same))

    def _read_satellite(self, satellite: Satellite, alias: str) -> None:
        history = satellite_history(satellite, self.sources)
        columns = [column for column in history.columns if column not in _TECHNICAL]
        self._read_history(history, columns, alias)
        attributes = (*satellite.multi_active_keys, *satellite.columns)
        self._restore_from(alias, satellite.table, attributes)

    def _read_hubs(self, link: Link, row: str) -> None:
        """Read what the rows of a link relate; what they always have comes first."""
        for number, reference in sorted(
            enumerate(link.hubs, start=1), key=lambda item: self._may_lack(link.table, item[1])
        ):
            self._read_hub(reference, f"{row}.{reference.hash_key}", f"hub_{number}", link.table)

    def _read_hub(self, reference: HubReference, key: str, alias: str, table: str) -> None:
        """Read the business key from a hub, where a part of it isn't restored yet."""
        if not self._lacks(reference):
            return
        hub = self.sources.hub(reference.hub)
        same = f"{alias}.{hub.hash_key} = {key}"
        self.clauses.append(join("LEFT JOIN", f"model.{hub.name}", alias, [same]))
        business_key = [f"{alias}.{name}" for name in self._business_key(hub)]
        self._restore_partly(reference, business_key, table)

    def _read_link(self, link: Link) -> None:
        same = f"link.{link.hash_key} = current_rows.{link.hash_key}"
        self.clauses.append(join("JOIN", f"model.{link.name}", "link", [same]))
        self._restore_from("link", link.table, link.dependent_child_keys)
        self._read_hubs(link, "link")

    def _read_reference(
        self, link: Link, own: HubReference, reference: HubReference, alias: str
    ) -> None:
        """Read what an entity refers to from the current row of the link, if there is one."""
        if not self._lacks(reference):
            return
        if link.name not in self.joined:
            self.joined[link.name] = f"link_{len(self.joined) + 1}"
            keys = query([f"link.{hub.hash_key}" for hub in link.hubs], *self._current_link(link))
            same = f"{self.joined[link.name]}.{own.hash_key} = current_rows.{own.hash_key}"
            self.clauses.append(join("LEFT JOIN", nested(keys), self.joined[link.name], [same]))
        key = f"{self.joined[link.name]}.{reference.hash_key}"
        self._read_hub(reference, key, alias, link.table)

    def _may_lack(self, table: str, reference: HubReference) -> bool:
        """Whether a row of a table may be without a reference."""
        entity = self.sources.conceptual.entity(table)
        return not all(entity.attribute(name).required for name in reference.columns)

    def _restore_partly(
        self, reference: HubReference, expressions: Sequence[str], table: str
    ) -> None:
        """Take an expression for each attribute of a reference.

        A row without the reference may have the same attribute in another one: where an expression
        may be null, it's taken together with others.
        """
        may_lack = self._may_lack(table, reference)
        for attribute, expression in zip(reference.columns, expressions, strict=True):
            if attribute in self.partial:
                self.partial[attribute].append(expression)
                self.expressions[attribute] = f"COALESCE({', '.join(self.partial[attribute])})"
            elif attribute not in self.expressions:
                self.expressions[attribute] = expression
                if may_lack:
                    self.partial[attribute] = [expression]

    def _read_referred(self, link: Link, own: HubReference, name: str) -> None:
        """Read what a table says of the entity that it refers to, by the current row of a link."""
        referred_keys = {hub.hash_key for hub in link.hubs if hub.hash_key != own.hash_key}
        describing = [
            satellite
            for satellite in self.sources.satellites[link.table]
            if satellite.name in self.sources.of_references and satellite.hash_key in referred_keys
        ]
        for number, satellite in enumerate(describing, start=1):
            alias = f"{name}_{number}" if number > 1 else name
            columns = self.sources.names.columns_of(satellite.table, satellite.columns)
            history = satellite_history(satellite, self.sources)
            described = query(
                [f"link.{own.hash_key}", *((f"described.{column}", column) for column in columns)],
                *self._current_link(link),
                join(
                    "JOIN",
                    nested(current_rows(history, (satellite.hash_key, *columns))),
                    "described",
                    [f"described.{satellite.hash_key} = link.{satellite.hash_key}"],
                ),
            )
            same = f"{alias}.{own.hash_key} = current_rows.{own.hash_key}"
            self.clauses.append(join("LEFT JOIN", nested(described), alias, [same]))
            self._restore_from(alias, satellite.table, satellite.columns)

    def _current_link(self, link: Link) -> tuple[str, str]:
        """Return the FROM clause of the current rows of a link of a hub's table, and their link."""
        of_table = self.sources.satellites[link.table]
        (effectivity,) = (satellite for satellite in of_table if satellite.parent == link.name)
        history = satellite_history(effectivity, self.sources)
        same = f"link.{link.hash_key} = current_link.{link.hash_key}"
        return (
            f"{nested(current_rows(history, (link.hash_key,)))} AS current_link",
            join("JOIN", f"model.{link.name}", "link", [same]),
        )

    def _lacks(self, reference: HubReference) -> bool:
        """Whether a reference restores an attribute that has no expression yet."""
        is_direct = reference.lookup is None
        return is_direct and any(
            name not in self.expressions or name in self.partial for name in reference.columns
        )

    def _business_key(self, hub: Hub) -> tuple[str, ...]:
        return self.sources.names.columns_of(hub.entity_name, hub.business_key_columns)

    def _restore_from(self, alias: str, table: str, attributes: Sequence[str]) -> None:
        names = self.sources.names.columns_of(table, attributes)
        self._restore(attributes, [f"{alias}.{name}" for name in names])

    def _restore(self, attributes: Sequence[str], expressions: Sequence[str]) -> None:
        """Take an expression for each attribute that has none."""
        for attribute, expression in zip(attributes, expressions, strict=True):
            self.expressions.setdefault(attribute, expression)
