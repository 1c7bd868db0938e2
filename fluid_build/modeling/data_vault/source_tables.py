"""The source's tables as a vault needs them: what identifies their rows, and whom they refer to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fluid_build.modeling.conceptual import ConceptualModel, Entity, EntityKey, Relationship
from fluid_build.modeling.data_vault.source_overlaps import SharedHub
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling.names.parsing import ParsedNames, parse_names
from fluid_build.profiling.names.words import Words


@dataclass(frozen=True, slots=True)
class DecidedKey:
    """The business key that somebody decided for a table, and the sentence that says so."""

    key: EntityKey
    reason: str


@dataclass(frozen=True, slots=True)
class SplitEntity:
    """An entity that somebody split off from a table, and the attributes that describe it."""

    table: str
    attributes: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class SourceTables:
    """The entities of a conceptual model, each with its identity and its usable references.

    ``parsed_names`` holds their names taken apart into words, ``called`` what tables are called.
    ``identities`` holds the key that identifies every row of a table, or None. ``references`` are a
    table's references to keys of tables that have an identity, ``referrers`` the same references by
    the table that they lead to.
    ``unique`` are the sets of several columns of a table that no two rows share, by chance or not.
    ``shared_hubs`` say which tables of different sources have a business key in common.
    ``homes`` are the entities that no table lists, each with the table that has most of their keys;
    ``splits`` are those that somebody split off from that table. ``decided_keys`` are the business
    keys that somebody decided.
    """

    observations: Observations
    parsed_names: Mapping[str, ParsedNames]
    entities: Mapping[str, Entity]
    identities: Mapping[str, EntityKey | None]
    references: Mapping[str, tuple[Relationship, ...]]
    referrers: Mapping[str, tuple[Relationship, ...]]
    called: frozenset[Words] = frozenset()
    unique: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    shared_hubs: tuple[SharedHub, ...] = ()
    homes: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, SplitEntity] = field(default_factory=dict)
    decided_keys: Mapping[str, DecidedKey] = field(default_factory=dict)

    def with_references(self, added: Sequence[Relationship]) -> "SourceTables":
        """Return the tables with more references, each at both of its ends."""
        references: dict[str, list[Relationship]] = defaultdict(list)
        referrers: dict[str, list[Relationship]] = defaultdict(list)
        for relationship in added:
            references[relationship.from_entity].append(relationship)
            referrers[relationship.to_entity].append(relationship)
        return replace(
            self,
            references={n: (*own, *references[n]) for n, own in self.references.items()},
            referrers={n: (*own, *referrers[n]) for n, own in self.referrers.items()},
        )

    def shared_hub(self, table: str) -> SharedHub | None:
        """Return the hub that a table shares with tables of other sources; None without one."""
        return next((hub for hub in self.shared_hubs if table in hub.columns), None)

    def identity(self, table: str) -> tuple[str, ...]:
        """Return the columns that identify a table's rows; none for a keyless table."""
        key = self.identities[table]
        return key.attributes if key else ()

    def bare_words(self, table: str, column: str) -> Words:
        """Return the words of a column's name without the prefix that all columns share."""
        position = [a.name for a in self.entities[table].attributes].index(column)
        return self.parsed_names[table].columns[position].bare

    def is_complete(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return whether none of the columns is ever null."""
        return all(self.entities[table].attribute(column).required for column in columns)


def source_tables(
    conceptual: ConceptualModel, observations: Observations = NO_OBSERVATIONS
) -> SourceTables:
    """Return the tables of a model, without the references that a vault can't or needn't follow."""
    entities = {entity.name: entity for entity in conceptual.entities}
    identities = {name: _identity(entity) for name, entity in entities.items()}
    references: dict[str, list[Relationship]] = defaultdict(list)
    referrers: dict[str, list[Relationship]] = defaultdict(list)
    totals = {a.table for a in observations.aggregates if a.is_exact}
    for relationship in conceptual.relationships:
        # Every value of a group is in its totals, so that either seems to refer to the other.
        is_of_totals = {relationship.from_entity, relationship.to_entity} & totals
        if is_of_totals and relationship.origin != "declared":
            continue
        if _is_usable(relationship, entities, identities):
            references[relationship.from_entity].append(relationship)
            referrers[relationship.to_entity].append(relationship)
    columns = [(e.name, [a.name for a in e.attributes]) for e in conceptual.entities]
    parsed_names = parse_names(columns)
    return SourceTables(
        observations=observations,
        parsed_names=dict(zip(entities, parsed_names, strict=True)),
        entities=entities,
        identities=identities,
        references={name: tuple(references[name]) for name in entities},
        referrers={name: tuple(referrers[name]) for name in entities},
        called=frozenset(names.table.entity for names in parsed_names),
    )


def _identity(entity: Entity) -> EntityKey | None:
    """Return the chosen key, or another declared one, that holds on every row that was read.

    A unique key with nulls holds, but doesn't identify the rows that have one. A candidate key is
    not enough: nobody promised it, so the next load may break it. A key of which only a sample was
    read yields to one that was measured on all rows.
    """
    promised = [
        key
        for key in entity.keys
        if key.kind != "candidate" and key.holds and not key.evidence.nulls
    ]
    exact = (key for key in promised if key.evidence.exact)
    sampled = (key for key in promised if key.evidence.sample is not None)
    return next(exact, None) or next(sampled, None)


def _is_usable(
    relationship: Relationship,
    entities: Mapping[str, Entity],
    identities: Mapping[str, EntityKey | None],
) -> bool:
    """Return whether a reference leads to a key of another row, and isn't implied by others."""
    if relationship.implied and relationship.origin != "declared":
        return False
    if identities[relationship.to_entity] is None or not relationship.from_attributes:
        return False
    target = set(relationship.to_attributes)
    leads_to_same_row = relationship.from_entity == relationship.to_entity and target == set(
        relationship.from_attributes
    )
    keys = (set(key.attributes) for key in entities[relationship.to_entity].keys if key.holds)
    has_distinct_columns = len(target) == len(relationship.to_attributes)
    return not leads_to_same_row and has_distinct_columns and target in keys
