"""What every piece of a vault is drawn with, and how a table's references become hub references."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.anchors import Anchor, Way, way
from fluid_build.modeling.data_vault.elements import HashKeyStrategy, Hub, HubReference
from fluid_build.modeling.data_vault.key_types import kept_type
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.vault_names import VaultNames
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.modeling.types import family, type_name
from fluid_build.profiling.names import singular, strip_key_suffix


@dataclass(frozen=True, slots=True)
class VaultDecisions:
    """The decisions that stand before anything is drawn; ``hubs`` are by their entity."""

    schema: SourceTables
    shapes: Mapping[str, Placement]
    anchors: Mapping[str, Anchor]
    hubs: Mapping[str, Hub]
    names: SqlNames
    given: VaultNames
    strategy: HashKeyStrategy

    def hub_of(self, table: str) -> Hub:
        """The hub that a table's rows are instances of; KeyError if there is none."""
        return self.hubs[self.anchors[table].hub_entity]


@dataclass(frozen=True, slots=True)
class Reached:
    """A reference of a table, and the hub that it reaches."""

    relationship: Relationship
    hub: HubReference


def own_reference(draft: VaultDecisions, table: str) -> HubReference:
    """How a table reaches the hub that its own rows are instances of."""
    hub = draft.hub_of(table)
    return HubReference(hub=hub.name, columns=draft.anchors[table].columns, hash_key=hub.hash_key)


def reached(draft: VaultDecisions, table: str) -> tuple[Reached, ...]:
    """The hubs that a table refers to, each way once, under names that are apart in the table.

    A reference to what the table's own rows are instances of, by their own key, says nothing.
    """
    anchor = draft.anchors.get(table)
    own = {(anchor.hub_entity, anchor.columns)} if anchor else set()
    ways: dict[tuple[str, tuple[str, ...]], tuple[Relationship, Way]] = {}
    for relationship in draft.schema.references[table]:
        leads = way(draft.schema, draft.anchors, relationship)
        if leads is not None and (leads.hub_entity, leads.columns) not in own:
            ways.setdefault((leads.hub_entity, leads.columns), (relationship, leads))
    times = Counter(hub for hub, _ in [*own, *ways])
    taken = {draft.hub_of(table).hash_key} if anchor else set()
    found = []
    for relationship, leads in ways.values():
        role = _role(draft, relationship, leads, times[leads.hub_entity] > 1)
        hub = draft.hubs[leads.hub_entity]
        reference = HubReference(
            hub=hub.name,
            role=role,
            columns=leads.columns,
            hash_key=draft.given.role(hub.hash_key, role, taken),
            lookup=leads.lookup,
        )
        taken.add(reference.hash_key)
        found.append(Reached(relationship, reference))
    return tuple(found)


def _role(draft: VaultDecisions, relationship: Relationship, leads: Way, several: bool) -> str:
    """What the table calls the hub there: by its columns, or by the kind of thing that it means."""
    if relationship.role:
        return identifier(relationship.role)
    parent = draft.names.table(relationship.to_entity)
    if relationship.to_entity not in (leads.hub_entity, relationship.from_entity):
        return parent
    if not several:
        return ""
    child = relationship.from_entity
    columns = (draft.schema.bare(child, column) for column in relationship.from_attributes)
    said = [word for bare in columns for word in strip_key_suffix(bare)]
    role = identifier("_".join(said)) if said else ""
    return "" if role in (parent, singular(parent)) else role


def kept_by_hub(draft: VaultDecisions, entity: Entity, reference: HubReference) -> frozenset[str]:
    """The columns of a reference that can be read back from the hub it leads to.

    A composite reference that is null in part, some day, would leave no trace of the other part,
    unless it is part of the table's key. A key that was changed to capital letters does not tell
    how it was written.
    """
    attributes = [entity.attribute(column) for column in reference.columns]
    identity = draft.schema.identity(entity.name)
    if reference.lookup is not None:
        return frozenset()
    if len(attributes) > 1 and not set(identity).issuperset(reference.columns):
        return frozenset()
    if draft.strategy.case == "upper" and any(
        family(type_name(kept_type(attribute))) == "text" for attribute in attributes
    ):
        return frozenset()
    return frozenset(reference.columns)
