"""How rows of a table reach hubs: their own hub, and those that the table refers to.

A reference reaches a hub directly where its columns hold the hub's business key, written the same
way. Otherwise, and where a value such as 0 stands for none, the business key is looked up in the
table that is referred to. The referring columns then also stay in a satellite, so nothing is lost
where the lookup finds no row.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.elements import HashKeyStrategy, Hub, HubReference, Lookup
from fluid_build.modeling.data_vault.key_types import are_written_alike, vault_type
from fluid_build.modeling.data_vault.own_hubs import OwnHub, paired_columns
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.vault_names import TableStems, VaultNames
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.modeling.types import family, is_float, type_name
from fluid_build.profiling.names.words import between_key_words, singular, strip_key_words


@dataclass(frozen=True, slots=True)
class VaultDecisions:
    """Where each table goes, and the hubs and names that everything else refers to.

    ``hubs`` are by their entity, ``placements`` and ``own_hubs`` by their table. ``events`` are the
    tables that record events. Of the columns ``decided_personal``, each with its table, somebody
    said that they hold personal data.
    """

    tables: SourceTables
    placements: Mapping[str, Placement]
    own_hubs: Mapping[str, OwnHub]
    hubs: Mapping[str, Hub]
    names: SqlNames
    stems: TableStems
    vault_names: VaultNames
    strategy: HashKeyStrategy
    events: Set[str]
    decided_personal: Set[tuple[str, str]]

    def relation(self, prefix: str, table: str, *more: str) -> str:
        """Return a new name for a relation of a table; ``more`` stems follow the table's own."""
        stems = dict.fromkeys((self.stems.plain[table], *more))
        return self.vault_names.relation(prefix, *stems, self.stems.sources[table])

    def hub_of(self, table: str) -> Hub:
        """Return the hub that a table's rows are instances of; raise KeyError if there is none."""
        return self.hubs[self.own_hubs[table].hub_entity]


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """A reference of a table, and how it reaches a hub."""

    relationship: Relationship
    hub: HubReference


@dataclass(frozen=True, slots=True)
class _HubPath:
    """The hub that a reference reaches; ``columns`` and ``lookup`` as in ``HubReference``."""

    hub_entity: str
    columns: tuple[str, ...]
    lookup: Lookup | None = None


def own_reference(decisions: VaultDecisions, table: str) -> HubReference:
    """Return how a table reaches the hub that its own rows are instances of."""
    hub = decisions.hub_of(table)
    columns = decisions.own_hubs[table].columns
    return HubReference(hub=hub.name, columns=columns, hash_key=hub.hash_key)


def resolved_references(decisions: VaultDecisions, table: str) -> tuple[ResolvedReference, ...]:
    """Return how a table's references reach hubs, under hash keys of distinct names.

    Of several references to one hub by the same columns, only the first counts. A reference to
    the table's own hub by the table's own key says nothing and is left out.
    """
    own_hub = decisions.own_hubs.get(table)
    own_path = {(own_hub.hub_entity, own_hub.columns)} if own_hub else set()
    paths: dict[tuple[str, tuple[str, ...]], tuple[Relationship, _HubPath]] = {}
    for relationship in decisions.tables.references[table]:
        path = _hub_path(decisions, relationship)
        if path is not None and (path.hub_entity, path.columns) not in own_path:
            paths.setdefault((path.hub_entity, path.columns), (relationship, path))
    paths_to_hub = Counter(hub for hub, _ in [*own_path, *paths])
    used_names = {decisions.hub_of(table).hash_key} if own_hub else set()
    references = []
    for relationship, path in paths.values():
        is_only_path = paths_to_hub[path.hub_entity] == 1
        role = _role(decisions, relationship, is_only_path)
        hub = decisions.hubs[path.hub_entity]
        reference = HubReference(
            hub=hub.name,
            role=role,
            columns=path.columns,
            hash_key=decisions.vault_names.hub_key_in_role(hub.hash_key, role, used_names),
            lookup=path.lookup,
        )
        used_names.add(reference.hash_key)
        references.append(ResolvedReference(relationship, reference))
    return tuple(references)


def identifies_alike(decisions: VaultDecisions, reference: ResolvedReference) -> bool:
    """Return whether a link tells rows apart by the hub as well as by the referring columns.

    A lookup finds another key for other columns, except where several versions share a key. Where
    it finds none, the link's hash key is made of the columns themselves.
    """
    is_direct = reference.hub.lookup is None
    return is_direct or not decisions.own_hubs[reference.relationship.to_entity].rows_by


def columns_kept_by_hub(
    decisions: VaultDecisions, entity: Entity, reference: HubReference
) -> frozenset[str]:
    """Return the columns of a reference whose values the hub can give back.

    A lookup keeps none: the hub holds another key. A composite reference that may be null in part
    keeps none either, since a row without the whole key reaches no hub, unless it's part of the
    table's key, which is never null. In capital letters a key doesn't say how it was written, and
    a key of 0.0 not whether it was -0.0.
    """
    attributes = [entity.attribute(column) for column in reference.columns]
    identity = decisions.tables.identity(entity.name)
    if reference.lookup is not None:
        return frozenset()
    if len(attributes) > 1 and not set(identity).issuperset(reference.columns):
        return frozenset()
    if decisions.strategy.case == "upper" and any(
        family(type_name(vault_type(attribute))) == "text" for attribute in attributes
    ):
        return frozenset()
    return frozenset(a.name for a in attributes if not is_float(vault_type(a)))


def payload_columns(
    decisions: VaultDecisions, entity: Entity, references: Sequence[HubReference]
) -> tuple[str, ...]:
    """Return the columns of a table that no hub can give back."""
    in_hubs: Set[str] = frozenset().union(
        *(columns_kept_by_hub(decisions, entity, reference) for reference in references)
    )
    return tuple(attribute.name for attribute in entity.attributes if attribute.name not in in_hubs)


def _hub_path(decisions: VaultDecisions, reference: Relationship) -> _HubPath | None:
    """Return how a reference reaches a hub; None where the parent's rows belong to none."""
    hub = decisions.own_hubs.get(reference.to_entity)
    if hub is None:
        return None
    evidence = reference.evidence
    # By itself, 0 would become a business key that nothing has.
    has_none = evidence.standing_for_none > 0 and not evidence.broken
    if set(reference.to_attributes) == set(hub.columns) and not has_none:
        columns = paired_columns(reference, hub.columns)
        entities, key = decisions.tables.entities, decisions.own_hubs[hub.hub_entity].columns
        entity, hub_entity = entities[reference.from_entity], entities[hub.hub_entity]
        if are_written_alike(
            [vault_type(entity.attribute(column)) for column in columns],
            [vault_type(hub_entity.attribute(column)) for column in key],
        ):
            return _HubPath(hub.hub_entity, columns)
    lookup = Lookup(table=reference.to_entity, match=reference.to_attributes, found=hub.columns)
    return _HubPath(hub.hub_entity, reference.from_attributes, lookup)


def _role(decisions: VaultDecisions, relationship: Relationship, is_only_path: bool) -> str:
    """Return what the table calls the hub: by its columns, or by the subtype that it means."""
    if relationship.role:
        return identifier(relationship.role)
    parent = decisions.stems.plain[relationship.to_entity]
    is_subtype = decisions.placements[relationship.to_entity].kind == "subtype"
    if is_subtype and relationship.to_entity != relationship.from_entity:
        return parent
    if is_only_path:
        return ""
    child = relationship.from_entity
    columns = (
        decisions.tables.bare_words(child, column) for column in relationship.from_attributes
    )
    role_words = [word for bare in columns for word in between_key_words(strip_key_words(bare))]
    role = identifier("_".join(role_words)) if role_words else ""
    return "" if role in (parent, singular(parent)) else role
