"""The vault of a model: hubs, links, satellites, code lists and keyless tables."""

from collections.abc import Iterator, Mapping, Sequence

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.anchors import anchors, chosen_business_keys
from fluid_build.modeling.data_vault.business_keys import BusinessKey
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
from fluid_build.modeling.data_vault.hub_references import VaultDecisions, reached
from fluid_build.modeling.data_vault.links import links
from fluid_build.modeling.data_vault.placements import Placement, shapes
from fluid_build.modeling.data_vault.satellites import satellites
from fluid_build.modeling.data_vault.source_tables import SourceTables, source_tables
from fluid_build.modeling.data_vault.vault_names import VaultNames
from fluid_build.modeling.element import SourceColumn, source_columns
from fluid_build.modeling.sql_names import SqlNames, sql_names
from fluid_build.profiling.profile import Profile


def data_vault(
    profile: Profile, conceptual: ConceptualModel, strategy: HashKeyStrategy | None = None
) -> DataVaultModel:
    """Build the Data Vault of a profile, with a reason for each element; hash keys by MD5."""
    schema = source_tables(conceptual)
    shapes_ = shapes(profile, schema)
    keys = chosen_business_keys(schema, shapes_)
    names = sql_names(conceptual)
    given = VaultNames(names)
    draft = VaultDecisions(
        schema=schema,
        shapes=shapes_,
        anchors=anchors(schema, shapes_, keys),
        hubs=_hubs(schema, shapes_, keys, names, given),
        names=names,
        given=given,
        strategy=strategy or HashKeyStrategy(),
    )
    return _assembled(draft)


def _assembled(draft: VaultDecisions) -> DataVaultModel:
    reference_tables = tuple(_reference_tables(draft))
    keyless = tuple(_keyless_tables(draft))
    links_ = tuple(links(draft))
    satellites_ = tuple(satellites(draft, links_))
    uses = _uses(links_, satellites_, keyless)
    return DataVaultModel(
        hash_key_strategy=draft.strategy,
        hubs=tuple(_settled(hub, uses.get(hub.name, ())) for hub in draft.hubs.values()),
        links=links_,
        satellites=satellites_,
        reference_tables=reference_tables,
        keyless_tables=keyless,
    )


def _hubs(
    schema: SourceTables,
    shapes_: Mapping[str, Placement],
    keys: Mapping[str, BusinessKey],
    names: SqlNames,
    given: VaultNames,
) -> dict[str, Hub]:
    hubs = {}
    for entity_name, chosen in keys.items():
        name = given.relation("hub", names.table(entity_name))
        hubs[entity_name] = Hub(
            name=name,
            entity_name=entity_name,
            description=schema.entities[entity_name].description
            or f"Every {entity_name} that the source speaks of.",
            business_key_columns=chosen.key.attributes,
            business_key_kind=chosen.kind,
            business_key_origin=chosen.key.origin,
            hash_key=given.hub_key(name),
            evidence=chosen.key.evidence,
            reason=f"{chosen.reason} {shapes_[entity_name].reason}",
        )
    return hubs


def _uses(
    links_: Sequence[Link], satellites_: Sequence[Satellite], keyless: Sequence[KeylessTable]
) -> dict[str, list[tuple[str, HubReference]]]:
    """For each hub the tables that lead to it, and how."""
    found: dict[str, list[tuple[str, HubReference]]] = {}
    pairs = [
        *((one.table, one.via) for one in satellites_ if one.via is not None),
        *((link.table, hub) for link in links_ for hub in link.hubs),
        *((table.table, hub) for table in keyless for hub in table.hubs),
    ]
    for table, hub in pairs:
        found.setdefault(hub.hub, []).append((table, hub))
    return found


def _settled(hub: Hub, uses: Sequence[tuple[str, HubReference]]) -> Hub:
    """The hub with the tables that feed it, its own first, and its ghost where one is led to."""
    columns: dict[SourceColumn, None] = dict.fromkeys(
        source_columns(hub.entity_name, hub.business_key_columns)
    )
    for table, reference in uses:
        if reference.lookup is None:
            columns.update(dict.fromkeys(source_columns(table, reference.columns)))
    return hub.model_copy(
        update={
            "has_ghost": any(reference.optional for _, reference in uses),
            "mapped_source_tables": tuple(dict.fromkeys(column.table for column in columns)),
            "source_columns": tuple(columns),
        }
    )


def _reference_tables(draft: VaultDecisions) -> Iterator[ReferenceTable]:
    for name, shape in draft.shapes.items():
        if shape.kind != "reference":
            continue
        entity, key = draft.schema.entities[name], draft.schema.identity(name)
        columns = tuple(a.name for a in entity.attributes if a.name not in key)
        yield ReferenceTable(
            name=draft.given.relation("ref", draft.names.table(name)),
            table=name,
            description=entity.description or f"The codes of {name} and what they mean.",
            key_columns=key,
            columns=columns,
            mapped_source_tables=(name,),
            source_columns=source_columns(name, (*key, *columns)),
            reason=shape.reason,
        )


def _keyless_tables(draft: VaultDecisions) -> Iterator[KeylessTable]:
    for name, shape in draft.shapes.items():
        if shape.kind != "keyless":
            continue
        entity = draft.schema.entities[name]
        columns = tuple(attribute.name for attribute in entity.attributes)
        yield KeylessTable(
            # A persistent staging area: every row as delivered, with its history and without a key.
            name=draft.given.relation("psa", draft.names.table(name)),
            table=name,
            description=entity.description or f"The rows of {name}, each with how often it occurs.",
            columns=columns,
            hubs=tuple(one.hub for one in reached(draft, name)),
            mapped_source_tables=(name,),
            source_columns=source_columns(name, columns),
            reason=shape.reason,
        )
