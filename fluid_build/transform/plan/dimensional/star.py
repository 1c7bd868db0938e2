"""A star with everything that its SQL is made of: entities, relationships, names, types, keys."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity, Relationship
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.dimensional.elements import (
    UNKNOWN_KEY,
    Bridge,
    Dimension,
    DimensionalModel,
    DimensionReference,
    Fact,
    Join,
)
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.modeling.types import family, is_number
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.deliveries import as_at_source
from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.hashing import HASH_TYPE, hashed, key_part, written_or_token
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.quarantine import TableKeys, held_argument
from fluid_build.transform.plan.sql_layout import as_text, join
from fluid_build.transform.plan.staging import by_value, staged_type

KEY_TYPE = HASH_TYPE
DATE_KEY_TYPE = "BIGINT"
UNKNOWN = literal(UNKNOWN_KEY)
DELETED = "is_deleted"
HASHING = HashKeyStrategy()

Typed = tuple[str, str]
"""An SQL expression and DuckDB's type of it."""

Relation = Callable[[str], str]
"""The SQL that may follow FROM, of an entity with our names and types."""

Columns = Callable[[str, str], str]
"""The SQL of a column of an element's own entity, by entity and attribute."""

FactOrBridge = Fact | Bridge


@dataclass(frozen=True, slots=True)
class Star:
    """A dimensional model, the names of its columns, and its parts by name."""

    conceptual: ConceptualModel
    model: DimensionalModel
    names: SqlNames
    entities: Mapping[str, Entity]
    relationships: Mapping[str, Relationship]
    dimensions: Mapping[str, Dimension]
    fact_entities: frozenset[str]
    selects: Mapping[str, str]
    """By entity, the query that gives it our names and types from the source alone."""
    present: PresentSource
    keys: Mapping[str, TableKeys] = field(default_factory=dict)
    """By entity the keys that its rows keep: those that don't are in quarantine."""

    @property
    def owners(self) -> tuple[FactOrBridge, ...]:
        """The facts that hold an entity's rows, then the bridges that do."""
        owners: tuple[FactOrBridge, ...] = (*self.model.facts, *self.model.bridges)
        return tuple(filter(_holds_rows, owners))

    @property
    def hierarchies(self) -> tuple[Bridge, ...]:
        """The bridges of hierarchies, whose rows follow from those of dimensions."""
        return tuple(bridge for bridge in self.model.bridges if bridge.hierarchy_pairs is not None)

    @property
    def service_facts(self) -> tuple[Fact, ...]:
        """The facts of service days, whose rows follow from other entities."""
        return tuple(fact for fact in self.model.facts if fact.service_days is not None)

    @property
    def snapshots(self) -> tuple[Fact, ...]:
        """The facts that record the members of a dimension at each load."""
        return tuple(fact for fact in self.model.facts if fact.snapshot_of)

    def column(self, entity: str, attribute: str) -> str:
        """Return the staged column of an attribute."""
        return self.names.column(entity, attribute)

    def attribute(self, entity: str, attribute: str) -> Attribute:
        """Return the attribute of that name."""
        return self.entities[entity].attribute(attribute)

    def type(self, entity: str, attribute: str) -> str:
        """Return DuckDB's type of a staged attribute."""
        return staged_type(self.attribute(entity, attribute), by_value)

    def is_moment(self, entity: str, attribute: str) -> bool:
        """Whether an attribute is a date or a moment: what was one may have become text."""
        return family(self.attribute(entity, attribute).type) in {"date", "timestamp", "time"}

    def staged(self, entity: str) -> str:
        """Return an entity's staging relation in SQL."""
        return f"model.{self.names.staging(entity)}"

    def source(self, entity: str) -> str:
        """Return an entity's source table in SQL, or what was delivered of it."""
        return as_at_source(self.entities[entity], self.names, self.present)

    def found(self, entity: str, joins: Sequence[Join]) -> frozenset[str]:
        """Return the joins of an element that the source still has the columns for, and ""."""
        found = {""}
        entities = {joined.name: joined.entity for joined in joins} | {"": entity}
        for joined in joins:
            relationship = self.relationships[joined.relationship]
            ends = {relationship.from_entity, relationship.to_entity}
            is_whole = self.present.has(
                relationship.from_entity, *relationship.from_attributes
            ) and self.present.has(relationship.to_entity, *relationship.to_attributes)
            assert entities[joined.parent] in ends, "a join hangs on what it relates to"
            if is_whole and joined.parent in found:
                found.add(joined.name)
        return frozenset(found)

    def alias(self, entity: str, joins: Iterable[Join]) -> str:
        """Return what an element's own entity is called in its SQL."""
        return free_alias(self.names.table(entity), {join.name for join in joins})

    def joined_entity(self, entity: str, joins: Iterable[Join], source: str) -> str:
        """Return the entity that a join, or "" for none, leads to."""
        return {"": entity, **{join.name: join.entity for join in joins}}[source]

    def is_comparable(self, left_type: str, right_type: str) -> bool:
        """Whether values of two types can be compared as they are; others are as text."""
        return left_type == right_type or (is_number(left_type) and is_number(right_type))

    def equal(self, left: str, left_type: str, right: str, right_type: str) -> str:
        """Return a condition that two values are the same, whatever their types."""
        if self.is_comparable(left_type, right_type):
            return f"{left} = {right}"
        return f"{as_text(left, left_type)} = {as_text(right, right_type)}"

    def is_derived(self, dimension: Dimension) -> bool:
        """Whether a dimension is made of a fact's own columns."""
        return not dimension.is_generated and dimension.entity_name in self.fact_entities

    def is_kept(self, dimension: Dimension) -> bool:
        """Whether members stay after the source deletes them; a derived one follows its fact."""
        return not dimension.is_generated and not self.is_derived(dimension)


def star_of(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build], present: PresentSource
) -> Star:
    """Return the star of a dimensional model; ``staging`` has one build for each entity."""
    assert model.dimensional is not None, "a model of another technique has no star"
    return Star(
        conceptual=model.conceptual,
        model=model.dimensional,
        names=names,
        entities={entity.name: entity for entity in model.conceptual.entities},
        relationships={
            relationship.name: relationship for relationship in model.conceptual.relationships
        },
        dimensions={dimension.name: dimension for dimension in model.dimensional.dimensions},
        fact_entities=frozenset(
            fact.entity_name for fact in model.dimensional.facts if _holds_rows(fact)
        ),
        selects={build.title: build.sql for build in staging},
        present=present,
    )


def _holds_rows(owner: FactOrBridge) -> bool:
    """Whether it holds the rows of an entity, which has no other place in the star."""
    if isinstance(owner, Bridge):
        return owner.hierarchy_pairs is None
    return owner.service_days is None and not owner.snapshot_of


def own_attributes(dimension: Dimension) -> dict[str, str]:
    """Return the columns of a dimension's own entity: attributes by column."""
    return {
        attribute.name: attribute.attribute
        for attribute in dimension.attributes
        if not attribute.source
    }


def own_columns(dimension: Dimension) -> dict[str, str]:
    """Return the columns of a dimension's own entity: columns by attribute."""
    return {attribute: name for name, attribute in own_attributes(dimension).items()}


def natural_key(star: Star, dimension: Dimension) -> tuple[Attribute, ...]:
    """Return the attributes of the dimension's own entity that are its natural key, in order."""
    own = own_attributes(dimension)
    return tuple(
        star.attribute(dimension.entity_name, own[name]) for name in dimension.natural_key_columns
    )


def joins_of(owner: FactOrBridge) -> tuple[Join, ...]:
    """Return the joins of a fact; a bridge has none."""
    return owner.joins if isinstance(owner, Fact) else ()


def references_of(owner: FactOrBridge) -> tuple[DimensionReference, ...]:
    """Return the references of a fact or bridge to dimensions."""
    return owner.dimensions if isinstance(owner, Fact) else owner.references


def columns_of(owner: FactOrBridge) -> dict[str, str]:
    """Return the columns that hold attributes of an owner's own entity: columns by attribute."""
    columns = {
        attribute.attribute: attribute.name
        for attribute in owner.attributes
        if not attribute.source
    }
    if isinstance(owner, Fact):
        columns |= {measure.column: measure.name for measure in owner.measures}
    return columns


def referred_key(owner: FactOrBridge, dimension: Dimension) -> str:
    """Return the column of a dimension that is referred to.

    A fact refers to the version of its day, a bridge to the member in all versions.
    """
    return dimension.surrogate_key if isinstance(owner, Fact) else dimension.member_key


def join_clauses(
    star: Star,
    joins: Sequence[Join],
    columns: Columns,
    *,
    relation: Relation | None = None,
) -> list[str]:
    """Return the joins of an element, one clause each."""
    entities = {joined.name: joined.entity for joined in joins}
    clauses = []
    for joined in joins:
        relationship = star.relationships[joined.relationship]
        here, there = relationship.from_attributes, relationship.to_attributes
        owner = relationship.from_entity
        if joined.backwards:
            here, there, owner = there, here, relationship.to_entity
        conditions = []
        for ours, theirs in zip(here, there, strict=True):
            if joined.parent:
                assert entities[joined.parent] == owner, "a join hangs on what it relates to"
                left = f"{joined.parent}.{star.column(owner, ours)}"
            else:
                left = columns(owner, ours)
            right = f"{joined.name}.{star.column(joined.entity, theirs)}"
            conditions.append(
                star.equal(left, star.type(owner, ours), right, star.type(joined.entity, theirs))
            )
        rows = (relation or star.staged)(joined.entity)
        clauses.append(join("LEFT JOIN", rows, joined.name, conditions))
    return clauses


def key_hash(values: Sequence[Typed]) -> str:
    """Return the surrogate key of a natural key, of which no part is null."""
    parts = [key_part(*value) for value in values]
    return hashed([as_text(*parts[0])], HASHING) if len(parts) == 1 else values_hash(parts)


def values_hash(values: Sequence[Typed]) -> str:
    """Return the hash of several values, which may be null; no other values share its input."""
    parts = [written_or_token(expression, type_, HASHING) for expression, type_ in values]
    return hashed(parts, HASHING)


def held_members(star: Star, dimension: Dimension) -> dict[str, object]:
    """Return where the members are found whose rows are in quarantine, which stay as they were."""
    entity = dimension.entity_name
    key = natural_key(star, dimension)
    types = {star.column(entity, part.name): star.type(entity, part.name) for part in key}
    return held_argument(entity, types, star.names, star.keys)
