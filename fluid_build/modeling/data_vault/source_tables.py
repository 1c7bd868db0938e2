"""What a vault is drawn from: the key that identifies each table, the references to trust."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import (
    Attribute,
    ConceptualModel,
    Entity,
    EntityKey,
    Relationship,
)
from fluid_build.modeling.types import family
from fluid_build.profiling.names import ParsedNames, Words, name_tables, words

_NAMING = frozenset("name title label caption".split())
_GLUED = 4
_NAMING_TYPES = frozenset({"person_name", "company_name", "username"})
_VERB = r"""
    (?:ch(?:an)?g|creat|crtd?|edit|ins(?:ert)?|load|mod(?:if)?|refresh|sync|touch|upd(?:at|t)?)
    (?:e|ed|ied|y|ion)?
"""
_WHEN = r"(?:at|date|datetime|dt|on|stamp|time|timestamp|ts|utc)*"
_WRITTEN = re.compile(rf"(?:row|record|last)?{_VERB}{_WHEN}", re.VERBOSE)
_CREATED = re.compile(rf"(?:row|record)?(?:creat|crtd?|ins(?:ert)?|load)(?:e|ed|ion)?{_WHEN}")


@dataclass(frozen=True, slots=True)
class SourceTables:
    """The conceptual model as the vault's rules look at it.

    ``spelled`` has the names taken apart,
    ``identities`` the key that every row of a table can be told by, None where there is none.
    ``references`` are a table's references to keys of tables with an identity, ``referrers`` the
    same from the other end.
    """

    conceptual: ConceptualModel
    spelled: Mapping[str, ParsedNames]
    entities: Mapping[str, Entity]
    identities: Mapping[str, EntityKey | None]
    references: Mapping[str, tuple[Relationship, ...]]
    referrers: Mapping[str, tuple[Relationship, ...]]

    def identity(self, entity: str) -> tuple[str, ...]:
        """The columns that a table's rows are told by; none for a keyless one."""
        key = self.identities[entity]
        return key.attributes if key else ()

    def bare(self, entity: str, column: str) -> Words:
        """The words of a column's name without what all columns of the table begin with."""
        place = [attribute.name for attribute in self.entities[entity].attributes].index(column)
        return self.spelled[entity].columns[place].bare

    def complete(self, entity: str, columns: tuple[str, ...]) -> bool:
        """Whether none of the columns is ever null."""
        return all(self.entities[entity].attribute(column).required for column in columns)


def source_tables(conceptual: ConceptualModel) -> SourceTables:
    """The identities and the references of a model, without those that others imply."""
    entities = {entity.name: entity for entity in conceptual.entities}
    identities = {name: _identity(entity) for name, entity in entities.items()}
    references: dict[str, list[Relationship]] = defaultdict(list)
    referrers: dict[str, list[Relationship]] = defaultdict(list)
    for relationship in _once(conceptual):
        if _is_trusted(relationship, entities, identities):
            references[relationship.from_entity].append(relationship)
            referrers[relationship.to_entity].append(relationship)
    columns = [(e.name, [a.name for a in e.attributes]) for e in conceptual.entities]
    return SourceTables(
        conceptual=conceptual,
        spelled=dict(zip(entities, name_tables(columns), strict=True)),
        entities=entities,
        identities=identities,
        references={name: tuple(references[name]) for name in entities},
        referrers={name: tuple(referrers[name]) for name in entities},
    )


def last_word(name: str, among: Collection[str]) -> str:
    """The word among some that a name ends in, also where it is glued to what precedes; or ""."""
    parts = words(name)
    if not parts or parts[-1] in among:
        return parts[-1] if parts else ""
    glued = (word for word in among if len(word) >= _GLUED and parts[-1].endswith(word))
    return max(glued, key=len, default="")


def is_naming(attribute: Attribute) -> bool:
    """Whether an attribute names what its row stands for, as entities are named and events not."""
    if attribute.semantic_type in _NAMING_TYPES:
        return True
    named = bool(last_word(attribute.name, _NAMING))
    return named and attribute.type != "boolean" and words(attribute.name)[-1] != "filename"


def is_technical(attribute: Attribute) -> bool:
    """Whether an attribute is about the row as a record: when it was written, a UUID beside."""
    if attribute.type == "uuid" or attribute.semantic_type == "uuid":
        return True
    return _is_date(attribute) and bool(_WRITTEN.fullmatch(_squashed(attribute)))


def is_change_stamp(attribute: Attribute) -> bool:
    """Whether an attribute is the time of the last change, which moves when anything else does."""
    squashed = _squashed(attribute)
    return (
        _is_date(attribute)
        and bool(_WRITTEN.fullmatch(squashed))
        and not _CREATED.fullmatch(squashed)
    )


def is_event_date(attribute: Attribute) -> bool:
    """Whether an attribute says when something happened."""
    return _is_date(attribute) and not is_change_stamp(attribute)


def _is_date(attribute: Attribute) -> bool:
    return family(attribute.type) in {"date", "timestamp"}


def _squashed(attribute: Attribute) -> str:
    return "".join(words(attribute.name))


def _identity(entity: Entity) -> EntityKey | None:
    """The chosen key, or another declared one, that holds on every row."""
    for key in entity.keys:
        if key.kind != "candidate" and key.holds and key.evidence.exact:
            return key
    return None


def _is_trusted(
    relationship: Relationship,
    entities: Mapping[str, Entity],
    identities: Mapping[str, EntityKey | None],
) -> bool:
    """Whether a reference is drawn: not implied by others, and to columns that are a key."""
    if relationship.implied and relationship.origin != "declared":
        return False
    identity = identities[relationship.to_entity]
    if identity is None or not relationship.from_attributes:
        return False
    wanted = set(relationship.to_attributes)
    same_row = relationship.from_entity == relationship.to_entity and wanted == set(
        relationship.from_attributes
    )
    keys = (set(key.attributes) for key in entities[relationship.to_entity].keys if key.holds)
    return not same_row and len(wanted) == len(relationship.to_attributes) and wanted in keys


def _once(conceptual: ConceptualModel) -> tuple[Relationship, ...]:
    """The relationships without those that say the same twice."""
    seen: dict[tuple[str, tuple[str, ...], str, tuple[str, ...]], Relationship] = {}
    for found in conceptual.relationships:
        same = (found.from_entity, found.from_attributes, found.to_entity, found.to_attributes)
        seen.setdefault(same, found)
    return tuple(seen.values())
