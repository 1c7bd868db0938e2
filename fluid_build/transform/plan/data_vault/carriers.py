"""Which relations of a vault hold the columns of each table of the source."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.elements import (
    HubReference,
    Link,
    Satellite,
)
from fluid_build.modeling.sql_names import SqlNames, fit
from fluid_build.transform.plan.carried_tests import Carrier, Carriers
from fluid_build.transform.plan.data_vault.columns import row_key
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import BuildTest, RowScope
from fluid_build.transform.plan.evidence_tests import is_promised, reference_test
from fluid_build.transform.plan.hashing import zero


def vault_carriers(sources: VaultSources) -> Carriers:
    """Return by table its histories, its hub and the links loaded from it, in this order.

    Those that are loaded no more come last.
    """
    carriers: dict[str, list[Carrier]] = {table: [] for table in sources.staged}
    for table, carrier in (*_histories(sources), *_keys(sources)):
        carriers[table].append(carrier)
    vault, remaining = sources.vault, sources.remaining
    left = {each.name for each in vault.satellites if not remaining.has_satellite(each)}
    left |= {each.name for each in vault.links if not remaining.has_link(each)}
    return {
        table: sorted(found, key=lambda carrier: carrier.relation in left)
        for table, found in carriers.items()
    }


def _histories(sources: VaultSources) -> Iterator[tuple[str, Carrier]]:
    """Return the histories, of which only the current rows keep promises."""
    names, vault = sources.names, sources.vault
    links = {link.name: link for link in vault.links}
    for satellite in vault.satellites:
        parts = names.columns_of(satellite.table, satellite.multi_active_keys)
        columns = _columns(
            names, satellite.table, (*satellite.multi_active_keys, *satellite.columns)
        )
        scope = RowScope(latest_of=(satellite.hash_key, *parts))
        key = (satellite.hash_key, "load_date", *parts)
        yield (
            satellite.table,
            Carrier(satellite.name, columns, scope, keys={_identifying(links, satellite): key}),
        )
    for reference in vault.reference_tables:
        keys = names.columns_of(reference.table, reference.key_columns)
        columns = _columns(names, reference.table, (*reference.key_columns, *reference.columns))
        identifying = {frozenset(reference.key_columns): (*keys, "load_date")}
        yield (
            reference.table,
            Carrier(reference.name, columns, RowScope(latest_of=keys), keys=identifying),
        )
    for table, relation in sources.counted.items():
        columns = _columns(names, table, relation.columns)
        scope = RowScope(latest_of=(row_key(relation).name,))
        yield table, Carrier(relation.name, columns, scope, is_whole=True)


def _keys(sources: VaultSources) -> Iterator[tuple[str, Carrier]]:
    names, vault = sources.names, sources.vault
    of_parts = {
        satellite.parent
        for satellite in vault.satellites
        if (satellite.multi_active_keys or satellite.name in sources.of_references)
        and satellite.via is not None
        and satellite.table == sources.hub(satellite.via.hub).entity_name
    }
    listed = {(s.via.hub, s.table) for s in vault.satellites if s.via is not None}
    for hub in vault.hubs:
        if (hub.name, hub.entity_name) not in listed:
            continue
        key = zip(hub.business_key_columns, sources.business_key(hub), strict=True)
        yield (
            hub.entity_name,
            Carrier(
                hub.name,
                {name: column.name for name, column in key},
                sources.business_keys(hub),
                is_once=hub.name not in of_parts,
            ),
        )
    for link in vault.links:
        if link.of_rows:
            continue
        columns = _columns(names, link.table, link.dependent_child_keys)
        hashed = {} if sources.is_of_a_reference(link) else _never_null(sources, link)
        # A row that refers to something else is there once more: the link keeps both.
        yield link.table, Carrier(link.name, columns, is_once=False, hashed=hashed)


def _identifying(links: Mapping[str, Link], satellite: Satellite) -> frozenset[str]:
    """Return the source columns by which a satellite identifies the rows of its table."""
    link = links.get(satellite.parent)
    references = link.hubs if link is not None else (satellite.via,)
    children = link.dependent_child_keys if link is not None else ()
    own = [
        column for reference in references if reference is not None for column in reference.columns
    ]
    return frozenset((*own, *children, *satellite.multi_active_keys))


def _never_null(sources: VaultSources, link: Link) -> Mapping[str, str]:
    """Return the hash keys of hubs that are null exactly if a column of the business key is."""
    return {
        column: reference.hash_key
        for reference in link.hubs
        if reference.lookup is None and not sources.has_zero_key(link.table, reference)
        for column in reference.columns
    }


def reference_tests(sources: VaultSources) -> dict[str, tuple[BuildTest, ...]]:
    """Return by relation the tests that what its rows refer to was in the source.

    A hub has the key of every row that refers to it; only the satellite of its own table, or a code
    list, shows whether that table ever had it.
    """
    tests: dict[str, list[BuildTest]] = {}
    places = _Places(sources)
    for relationship in filter(is_promised, sources.conceptual.relationships):
        placed = _of_hubs(places, relationship) or _of_codes(places, relationship)
        if placed is not None:
            relation, test = placed
            tests.setdefault(relation, []).append(test)
    return {relation: tuple(tests) for relation, tests in tests.items()}


_PAIR = 2
"""Of hubs: such a link has a row more only where that reference itself changes."""


class _Places:
    """A vault's relations by their table: each reference is looked up in them.

    A link of several hubs gets another row with the same reference when one of the others changes,
    and never loses one: only the staging shows how many rows refer to nothing now.
    """

    def __init__(self, sources: VaultSources) -> None:
        vault, self.names = sources.vault, sources.names
        self.codes = {listed.table: listed for listed in reversed(vault.reference_tables)}
        self.histories: dict[str, list[Carrier]] = defaultdict(list)
        for table, carrier in _histories(sources):
            self.histories[table].append(carrier)
        self.zero = zero(vault.hash_key_strategy)
        self.owners: dict[str, dict[str, Satellite]] = defaultdict(dict)
        for satellite in reversed(vault.satellites):
            if satellite.via is not None:
                self.owners[satellite.table][satellite.via.hub] = satellite
        self.leading: dict[str, list[tuple[str, HubReference]]] = defaultdict(list)
        for link in filter(sources.remaining.has_link, vault.links):
            is_unit = link.link_type == "standard" and len(link.hubs) > _PAIR
            relation = sources.staged[link.table].name if is_unit else link.name
            self.leading[link.table] += ((relation, hub) for hub in link.hubs)


def _of_hubs(places: _Places, relationship: Relationship) -> tuple[str, BuildTest] | None:
    owners = places.owners.get(relationship.to_entity, {})
    for relation, hub in places.leading.get(relationship.from_entity, ()):
        if hub.columns == relationship.from_attributes and hub.hub in owners:
            owner = owners[hub.hub]
            test = reference_test(
                relationship,
                name=fit(relation, hub.hash_key, "orphans"),
                columns=(hub.hash_key,),
                to_model=owner.name,
                to_columns=(owner.hash_key,),
            )
            none = ((hub.hash_key, places.zero),)
            scope = RowScope(other_than=none if hub.optional else ())
            return relation, test.model_copy(update={"scope": scope, "cardinality": None})
    return None


def _of_codes(places: _Places, relationship: Relationship) -> tuple[str, BuildTest] | None:
    """Return the test of a reference to a code list, on the history that has the code."""
    codes = places.codes.get(relationship.to_entity)
    if codes is None or not set(relationship.to_attributes) <= {*codes.key_columns, *codes.columns}:
        return None
    for carrier in places.histories.get(relationship.from_entity, ()):
        if set(relationship.from_attributes) <= carrier.columns.keys():
            test = reference_test(
                relationship,
                name=fit(carrier.relation, relationship.name, "orphans"),
                columns=tuple(carrier.columns[name] for name in relationship.from_attributes),
                to_model=codes.name,
                to_columns=places.names.columns_of(codes.table, relationship.to_attributes),
            )
            return carrier.relation, test.model_copy(
                update={"scope": carrier.scope, "cardinality": None}
            )
    return None


def _columns(names: SqlNames, table: str, columns: Sequence[str]) -> Mapping[str, str]:
    return {name: names.column(table, name) for name in columns}
