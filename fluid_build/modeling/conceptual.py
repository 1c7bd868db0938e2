"""The conceptual layer: entities with their attributes and keys, and how they relate.

It is the same for every technique: what the business has, before anyone decides how to store it.
"""

from typing import Literal

from fluid_build.modeling.element import Element, ModelPart
from fluid_build.modeling.measures import MeasureRole
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence, Origin
from fluid_build.sources.sql import quote

RelationshipCardinality = Literal["many-to-one", "one-to-one"]
Participation = Literal["mandatory", "optional"]
KeyKind = Literal["primary", "declared", "candidate"]


class Conversion(ModelPart):
    """How text that really holds another type is read as that type.

    ``to_type`` is DuckDB's name of it. ``format`` is how a date is spelled, in the letters of
    strptime, "" for ISO. ``reversible`` means that every value, written back, is spelled as before.
    """

    to_type: str
    format: str = ""
    reversible: bool = False


class Attribute(Element):
    """A property of an entity.

    ``type`` is a type name of the contract (``decimal(10,2)``), ``source_type`` DuckDB's name of
    what is read from the source; where they part, ``conversion`` leads from one to the other.
    ``required`` means that it is never null, declared so or measured so; ``evidence`` holds the
    figures. ``accepted_values`` are all values of a closed domain, empty where there is none.
    ``measure`` says how it is added up, None where it is no measure.
    """

    name: str
    type: str
    source_type: str = "VARCHAR"
    conversion: Conversion | None = None
    required: bool
    accepted_values: tuple[str, ...] = ()
    measure: MeasureRole | None = None
    semantic_type: str | None = None
    pii: bool = False
    description: str = ""
    evidence: Evidence


class EntityKey(Element):
    """Attributes whose values, taken together, identify an instance of the entity.

    The one of kind ``primary`` was chosen; ``declared`` ones stand in the source, whether the data
    bears them out (``holds``) or not; ``candidate`` ones hold in the data and nobody declared them.
    """

    kind: KeyKind
    attributes: tuple[str, ...]
    origin: Origin
    holds: bool
    evidence: Evidence


class Entity(Element):
    """A kind of thing that the data speaks of. ``rows`` is how many instances were seen.

    ``place`` is where its table is at the source, quoted for SQL.
    """

    name: str
    place: str = ""
    description: str = ""
    rows: int
    attributes: tuple[Attribute, ...]
    keys: tuple[EntityKey, ...] = ()

    @property
    def sql(self) -> str:
        """The name of its table in a query on the source."""
        return self.place or quote(self.name)

    @property
    def primary_key(self) -> EntityKey | None:
        """The key that was chosen; None where nothing identifies an instance."""
        return next((key for key in self.keys if key.kind == "primary"), None)

    def attribute(self, name: str) -> Attribute:
        """The attribute of that exact name; KeyError if there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(name)


class Relationship(Element):
    """``from_entity``, the child, refers to ``to_entity``, the parent; attributes pair by position.

    ``cardinality`` reads from child to parent. ``from_participation`` is mandatory where every
    child has its parent (no nulls, no orphans), ``to_participation`` where every parent has a
    child. ``coverage`` is the share of parents that have one, None where that was not measured.
    ``role`` is what the child calls this parent, "" where its columns don't tell.
    """

    name: str
    from_entity: str
    from_attributes: tuple[str, ...]
    to_entity: str
    to_attributes: tuple[str, ...]
    cardinality: RelationshipCardinality
    from_participation: Participation
    to_participation: Participation
    coverage: float | None = None
    role: str = ""
    implied: bool = False
    origin: Origin
    confidence: float
    evidence: ForeignKeyEvidence


class ConceptualModel(ModelPart):
    """Entities in the order of the source, and the relationships between them.

    ``skipped`` names the tables that are there and could not be read.
    """

    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...] = ()
    skipped: tuple[str, ...] = ()

    def entity(self, name: str) -> Entity:
        """The entity of that exact name; KeyError if there is none."""
        for entity in self.entities:
            if entity.name == name:
                return entity
        raise KeyError(name)
