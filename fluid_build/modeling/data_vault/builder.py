"""The Data Vault of a profile: hubs, links, satellites, reference tables and keyless tables."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from fluid_build.decisions.model_decisions import NO_DECISIONS, ModelDecisions
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.business_keys import BusinessKey
from fluid_build.modeling.data_vault.decided.placements import placed_tables
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    HashKeyStrategy,
    Hub,
    HubReference,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.modeling.data_vault.hub_references import VaultDecisions
from fluid_build.modeling.data_vault.links import links
from fluid_build.modeling.data_vault.observed_references import (
    with_foreign_references,
    with_observed_references,
)
from fluid_build.modeling.data_vault.own_hubs import hub_keys, own_hubs, shared_columns
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.related_keys import with_related_keys
from fluid_build.modeling.data_vault.same_as_links import key_matches, reasons_apart, same_as_links
from fluid_build.modeling.data_vault.satellites import satellites
from fluid_build.modeling.data_vault.source_tables import SourceTables, source_tables
from fluid_build.modeling.data_vault.subtypes import is_other_kind
from fluid_build.modeling.data_vault.vault_names import TableStems, VaultNames, table_stems
from fluid_build.modeling.element import SourceColumn, source_columns
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import SqlNames, free_identifier, sql_names
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling.profile import Profile
from fluid_build.text import listed


def data_vault(
    profile: Profile,
    conceptual: ConceptualModel,
    observations: Observations = NO_OBSERVATIONS,
    strategy: HashKeyStrategy | None = None,
    decisions: ModelDecisions = NO_DECISIONS,
    events: Set[str] = frozenset(),
) -> DataVaultModel:
    """Build the Data Vault of a profile, with a reason for each element.

    Hash keys are made as the strategy says, without one by MD5. It follows the ``decisions`` that
    it can carry; ``unfollowed`` says which it couldn't. ``events`` are the tables that record
    events; what one of them refers to is one link.
    """
    unique = {table.name: table.candidate_keys for table in profile.tables}
    read = replace(source_tables(conceptual, observations), unique=unique)
    known = with_foreign_references(with_observed_references(read))
    tables, placed = with_related_keys(*placed_tables(profile, known, decisions))
    keys = hub_keys(tables, placed)
    names = _names(conceptual, tables)
    stems, vault_names = table_stems(tables.entities.values(), names), VaultNames(names)
    settled = VaultDecisions(
        tables=tables,
        placements=placed,
        own_hubs=own_hubs(tables, placed, keys),
        hubs=_hubs(tables, placed, keys, stems, vault_names),
        names=names,
        stems=stems,
        vault_names=vault_names,
        strategy=strategy or HashKeyStrategy(),
        events=events,
        decided_personal=decisions.personal,
    )
    return _vault(settled)


def _vault(decisions: VaultDecisions) -> DataVaultModel:
    # The order decides who gets the plain name where two relations would share one.
    reference_tables = tuple(_reference_tables(decisions))
    keyless_tables = tuple(_keyless_tables(decisions))
    vault_links = (*links(decisions), *same_as_links(decisions))
    vault_satellites = tuple(satellites(decisions, vault_links))
    references = _references_by_hub(vault_links, vault_satellites)
    return DataVaultModel(
        hash_key_strategy=decisions.strategy,
        hubs=tuple(
            _with_sources(hub, references.get(hub.name, ())) for hub in decisions.hubs.values()
        ),
        links=vault_links,
        satellites=vault_satellites,
        reference_tables=reference_tables,
        keyless_tables=keyless_tables,
    )


def _names(conceptual: ConceptualModel, tables: SourceTables) -> SqlNames:
    """Return the SQL names of a model, and of the entities that no table lists."""
    names = sql_names(conceptual)
    unlisted = dict(names.tables)
    for entity in tables.homes:
        unlisted[entity] = free_identifier(identifier(entity), set(unlisted.values()))
    return replace(names, tables=unlisted)


def _hubs(
    tables: SourceTables,
    placed: Mapping[str, Placement],
    keys: Mapping[str, BusinessKey],
    stems: TableStems,
    vault_names: VaultNames,
) -> dict[str, Hub]:
    hubs = {}
    own_stems = {
        entity_name: _whole_name(tables, entity_name, chosen) or stems.plain[entity_name]
        for entity_name, chosen in keys.items()
    }
    uses = Counter(own_stems.values())
    shared = shared_columns(tables, placed)
    for entity_name, chosen in keys.items():
        stem = own_stems[entity_name]
        source = stems.sources[entity_name] if uses[stem] > 1 else ""
        name = vault_names.relation("hub", stem, source)
        table = tables.homes.get(entity_name, entity_name)
        hubs[entity_name] = Hub(
            name=name,
            entity_name=table,
            description=tables.entities[entity_name].description
            or f"Every {entity_name} that occurs in {_sources(tables, shared, entity_name)}.",
            business_key_columns=chosen.key.attributes,
            business_key_kind=chosen.kind,
            business_key_origin=chosen.key.origin,
            hash_key=vault_names.hub_key(name),
            evidence=chosen.key.evidence,
            key_matches=key_matches(tables, shared.get(entity_name, {})),
            reason=" ".join(
                (
                    f"{chosen.reason} {placed[entity_name].reason}"
                    f"{_other_kinds(placed, entity_name)}",
                    *reasons_apart(tables, entity_name),
                )
            ),
            alternatives=(*placed[entity_name].alternatives, *chosen.alternatives),
        )
    return hubs


def _whole_name(tables: SourceTables, entity: str, chosen: BusinessKey) -> str:
    """Return the name of what a table has parts of, by the key of the whole; "" for others."""
    if not chosen.rows_by or set(tables.identity(entity)).isdisjoint(chosen.key.attributes):
        return ""
    columns = [attribute.name for attribute in tables.entities[entity].attributes]
    parsed = tables.parsed_names[entity]
    of_key = parsed.columns[columns.index(chosen.key.attributes[0])].entity
    return identifier("_".join(of_key)) if of_key and of_key != parsed.table.entity else ""


def _sources(
    tables: SourceTables, shared: Mapping[str, Mapping[str, str]], entity_name: str
) -> str:
    names = (tables.entities[name].source for name in shared.get(entity_name, ()))
    return listed(name for name in names if name) or "the source"


def _other_kinds(placed: Mapping[str, Placement], entity: str) -> str:
    """Return the sentence that names the other tables whose keys the hub of an entity lists."""
    others = [
        name
        for name, placement in placed.items()
        if placement.parent is not None
        and placement.parent.to_entity == entity
        and placement.kind == "subtype"
        and is_other_kind(placement.parent)
    ]
    return (
        f" The keys of {listed(others)} are of the same kind and in the same hub." if others else ""
    )


def _references_by_hub(
    vault_links: Sequence[Link], vault_satellites: Sequence[Satellite]
) -> dict[str, list[tuple[str, HubReference]]]:
    """Return for each hub the tables that refer to it, and how."""
    pairs = [
        *((s.table, s.via) for s in vault_satellites if s.via is not None),
        *((link.table, hub) for link in vault_links for hub in link.hubs),
    ]
    references: dict[str, list[tuple[str, HubReference]]] = {}
    for table, hub in pairs:
        references.setdefault(hub.hub, []).append((table, hub))
    return references


def _with_sources(hub: Hub, references: Sequence[tuple[str, HubReference]]) -> Hub:
    """Return the hub with the tables that feed it, its own first, and a ghost where one is needed.

    A table with a lookup doesn't feed the hub, as it doesn't hold the business key.
    """
    columns: dict[SourceColumn, None] = dict.fromkeys(
        source_columns(hub.entity_name, hub.business_key_columns)
    )
    for table, reference in references:
        if reference.lookup is None:
            columns.update(dict.fromkeys(source_columns(table, reference.columns)))
    return hub.model_copy(
        update={
            "has_ghost": any(reference.optional for _, reference in references),
            "mapped_source_tables": tuple(dict.fromkeys(column.table for column in columns)),
            "source_columns": tuple(columns),
        }
    )


def _reference_tables(decisions: VaultDecisions) -> Iterator[ReferenceTable]:
    for name, placement in decisions.placements.items():
        if placement.kind != "reference":
            continue
        entity, key = decisions.tables.entities[name], decisions.tables.identity(name)
        columns = tuple(a.name for a in entity.attributes if a.name not in key)
        yield ReferenceTable(
            name=decisions.relation("ref", name),
            table=name,
            description=entity.description or f"The codes of {name} and what they mean.",
            key_columns=key,
            columns=columns,
            mapped_source_tables=(name,),
            source_columns=source_columns(name, (*key, *columns)),
            reason=placement.reason,
            alternatives=placement.alternatives,
        )


def _keyless_tables(decisions: VaultDecisions) -> Iterator[KeylessTable]:
    for name, placement in decisions.placements.items():
        if placement.kind != "keyless":
            continue
        entity = decisions.tables.entities[name]
        columns = tuple(attribute.name for attribute in entity.attributes)
        yield KeylessTable(
            # A persistent staging area: every row as it came, with its history and without a key.
            name=decisions.relation("psa", name),
            table=name,
            description=entity.description or f"The rows of {name}, and how often each occurs.",
            columns=columns,
            mapped_source_tables=(name,),
            source_columns=source_columns(name, columns),
            reason=placement.reason,
        )
