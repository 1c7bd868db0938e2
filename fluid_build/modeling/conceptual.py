"""The conceptual layer: entities with their attributes and keys, and how they relate.

Every technique shares it. It says what the business has, before anyone decides how to store it.
"""

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import model_validator

from fluid_build.decisions.language import NewName
from fluid_build.modeling.element import Element, ModelPart
from fluid_build.modeling.measures import MeasureRole
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence, Origin
from fluid_build.sources.sql import quote

RelationshipCardinality = Literal["many-to-one", "one-to-one"]
Participation = Literal["mandatory", "optional"]
KeyKind = Literal["primary", "declared", "candidate"]


class Conversion(ModelPart):
    """How to read text that really holds another type.

    ``to_type`` is DuckDB's name of that type. ``format`` is the strptime format of a date, "" for
    ISO, or which mark separates decimals (``decimal comma``). ``reversible`` means that every
    value, written back as text, is spelled as before; ``decided`` that a person chose the reading.
    """

    to_type: str
    format: str = ""
    reversible: bool = False
    decided: bool = False


class Attribute(Element):
    """A property of an entity.

    ``type`` is a type name of the contract (``decimal(10,2)``), ``source_type`` DuckDB's name of
    the type at the source. Where they differ, ``conversion`` says how to get from one to the other.
    ``required`` means that it's never null, by declaration or measurement; ``evidence`` has the
    figures. ``accepted_values`` are all values of a closed domain, empty where there is none.
    ``measure`` says how to add it up, None where it's no measure. ``new_name`` is the name that a
    decision gave it; the attribute is addressed by its own.
    """

    name: str
    new_name: NewName | None = None
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

    @property
    def label(self) -> str:
        """Return the name that relations and readers know it by."""
        return self.new_name or self.name


class EntityKey(Element):
    """Attributes whose values together identify a row of the entity.

    The ``primary`` key was chosen. The source declares ``declared`` keys, whether the data obeys
    them (``holds``) or not. ``candidate`` keys hold in the data, and nobody declared them.
    """

    kind: KeyKind
    attributes: tuple[str, ...]
    origin: Origin
    holds: bool
    evidence: Evidence


class Entity(Element):
    """Something that the data describes, with one row for each instance.

    ``place`` is where its table is at the source, quoted for SQL. ``source`` is the name of its
    source where several are combined. ``new_name`` is the name that a decision gave it; the entity
    is addressed by its own.
    """

    name: str
    new_name: NewName | None = None
    place: str = ""
    source: str | None = None
    description: str = ""
    rows: int
    attributes: tuple[Attribute, ...]
    keys: tuple[EntityKey, ...] = ()

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        _check_labels(attribute.label for attribute in self.attributes)
        return self

    @property
    def label(self) -> str:
        """Return the name that relations and readers know it by."""
        return self.new_name or self.name

    @property
    def own_name(self) -> str:
        """Return its name in its own source."""
        return self.name.removeprefix(f"{self.source}.") if self.source else self.name

    @property
    def sql(self) -> str:
        """Return the name of its table in a query on the source."""
        return self.place or quote(self.name)

    @property
    def primary_key(self) -> EntityKey | None:
        """Return the key that was chosen; None where nothing identifies a row."""
        return next((key for key in self.keys if key.kind == "primary"), None)

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of that exact name; raise KeyError if there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(name)


class Relationship(Element):
    """A reference of ``from_entity``, the child, to ``to_entity``, the parent.

    Attributes pair by position. ``cardinality`` reads from child to parent. ``from_participation``
    is mandatory where every child has its parent (no nulls, no orphans), ``to_participation`` where
    every parent has a child. ``coverage`` is the share of parents with a child, None where it
    wasn't measured. ``role`` is what the child calls this parent, "" where its columns don't say.
    ``implied`` means that other references imply this one.
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


class CandidateRelationship(Element):
    """A possible relationship that isn't believed: a question to a person.

    Attributes pair by position. ``confidence`` is the probability that it's meant after all;
    ``reason`` says why it isn't believed, ``evidence.reason`` what names and values say.
    ``ruled_out`` means that another relationship was chosen instead, or that the rest of the schema
    contradicts it.
    """

    from_entity: str
    from_attributes: tuple[str, ...]
    to_entity: str
    to_attributes: tuple[str, ...]
    ruled_out: bool = False
    confidence: float
    evidence: ForeignKeyEvidence


class ConceptualModel(ModelPart):
    """Entities in the order of the source, and the relationships between them.

    ``candidates`` are the relationships that aren't believed, most credible first. ``skipped`` are
    the names of tables that couldn't be read, ``ignored`` those of tables that were left out on
    purpose, if any.
    """

    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...] = ()
    candidates: tuple[CandidateRelationship, ...] = ()
    skipped: tuple[str, ...] = ()
    ignored: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        _check_labels(entity.label for entity in self.entities)
        return self

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the names of the source's tables that aren't in the model."""
        return (*self.skipped, *(self.ignored or ()))

    def entity(self, name: str) -> Entity:
        """Return the entity of that exact name; raise KeyError if there is none."""
        for entity in self.entities:
            if entity.name == name:
                return entity
        raise KeyError(name)


def _check_labels(labels: Iterable[str]) -> None:
    """Raise ValueError where two tables, or two columns of a table, have the same label."""
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            raise ValueError(f"{label!r} is the name of two tables or columns")
        seen.add(label)
