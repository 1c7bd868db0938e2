"""Where each table goes in a vault: hub, link, satellite of another table's hub, or code list.

It follows from what identifies a row. A key of its own makes a hub, a key that is another table's
makes a satellite there, a key made of several other keys makes a link. A table that others refer
to is always a hub, because no link leads to another link.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Literal

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.business_keys import natural_key
from fluid_build.modeling.data_vault.column_purposes import is_event_date, is_naming, is_technical
from fluid_build.modeling.data_vault.key_types import are_written_alike, vault_type
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.types import family
from fluid_build.profiling.names import stem
from fluid_build.profiling.profile import Profile
from fluid_build.text import counted, listed

PlacementKind = Literal[
    "hub", "subtype", "link", "transaction", "multi-active", "reference", "keyless"
]
_MOST_CODES = 300
"""Rows of a list of text codes: countries, currencies and languages each fit with room to spare."""
_MOST_NUMBERED = 50
"""Rows of a list of numbered codes. A number says less than a text code that the list is closed,
so fewer rows are taken for one."""
_LONGEST_CODE = 10
"""Characters of a code. What is longer is a name."""
_MOST_DESCRIPTIVE = 2
"""Columns that explain a code: a name and a description. With more, the table is an entity."""
_MOST_NAMES = 3
"""Names that a reason lists before it counts the others."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a table goes in the vault, and why.

    ``parent`` is the reference that the table's key is made of. A subtype and a multi-active
    satellite have one; both belong to the parent's hub.
    """

    kind: PlacementKind
    reason: str
    parent: Relationship | None = None


def placements(profile: Profile, tables: SourceTables) -> dict[str, Placement]:
    """Return where every table goes.

    What needs no look at the other tables' placements comes first: keyless tables and tables of
    mere references. Code lists come before subtypes and hubs, which don't link to them.
    """
    placed: dict[str, Placement] = {}
    for name, entity in tables.entities.items():
        if not tables.identities[name]:
            placed[name] = Placement("keyless", f"No key identifies a row: {_no_key(entity)}.")
        elif _has_only_references(tables, entity):
            parents = _name_parents(tables.references[name])
            placed[name] = Placement("link", f"The table holds only references, to {parents}.")
    # A link leads to hubs only, so its ends can't be code lists.
    link_ends = {
        reference.to_entity
        for name, placement in placed.items()
        if placement.kind == "link"
        for reference in tables.references[name]
    }
    for name, entity in tables.entities.items():
        may_be_codes = profile.has_data and name not in placed and name not in link_ends
        if may_be_codes and _is_code_list(profile, tables, entity):
            placed[name] = Placement("reference", _code_list_reason(entity, tables))
    for name, relationship in _subtypes(tables, placed).items():
        placed[name] = Placement("subtype", _subtype_reason(relationship), relationship)
    code_lists = {name for name, placement in placed.items() if placement.kind == "reference"}
    return {
        name: placed.get(name) or _placement_by_key(tables, entity, code_lists)
        for name, entity in tables.entities.items()
    }


def _has_only_references(tables: SourceTables, entity: Entity) -> bool:
    """Return whether a table has only references to several others, flags and technical columns.

    Such a table is a link even if a part of its references is unique: with few rows, the data may
    show a smaller key than the table was meant to have.
    """
    references = tables.references[entity.name]
    if tables.referrers[entity.name] or _count_ends(references) < 2:
        return False
    referring = {column for r in references for column in r.from_attributes}
    return referring.issuperset(tables.identity(entity.name)) and all(
        a.name in referring or is_technical(a) or a.type == "boolean" for a in entity.attributes
    )


def _no_key(entity: Entity) -> str:
    if not entity.rows:
        return "the table has no rows, and no key is declared"
    broken = next((key for key in entity.keys if not key.holds and key.kind != "candidate"), None)
    if broken is None:
        return "none was found in its columns"
    evidence = broken.evidence
    return (
        f"its key ({', '.join(broken.attributes)}) is violated by"
        f" {counted(evidence.violations, 'row')} and null in {evidence.nulls:,}"
    )


def _is_code_list(profile: Profile, tables: SourceTables, entity: Entity) -> bool:
    """Return whether a table is a short list of codes that others look up.

    It has a short key, one or two columns that explain it, and no references. Nobody's key
    contains its key: that would make it part of a relationship, which needs a hub.
    """
    key = tables.identity(entity.name)
    if len(key) != 1 or tables.references[entity.name] or not tables.referrers[entity.name]:
        return False
    for referrer in tables.referrers[entity.name]:
        is_part_of_key = set(referrer.from_attributes) & set(tables.identity(referrer.from_entity))
        if is_part_of_key or referrer.to_attributes != key:
            return False
    descriptive = [a for a in entity.attributes if a.name not in key and not is_technical(a)]
    if not 1 <= len(descriptive) <= _MOST_DESCRIPTIVE or any(a.pii for a in descriptive):
        return False
    if not any(family(a.type) == "text" for a in descriptive):
        return False
    key_family = family(entity.attribute(key[0]).type)
    if key_family == "text":
        length = profile.table(entity.name).column(key[0]).max_length
        is_short = length is not None and length <= _LONGEST_CODE
        return is_short and 0 < entity.rows <= _MOST_CODES
    return key_family in {"integer", "decimal"} and 0 < entity.rows <= _MOST_NUMBERED


def _code_list_reason(entity: Entity, tables: SourceTables) -> str:
    users = dict.fromkeys(r.from_entity for r in tables.referrers[entity.name])
    return (
        f"A code list of {counted(entity.rows, 'row')}: a short key and its meaning."
        f" {_subject(users, 'refers', 'refer')} to it, and it refers to nothing."
    )


def _subtypes(tables: SourceTables, placed: Mapping[str, Placement]) -> dict[str, Relationship]:
    """Return the tables whose whole key is another table's key, each with that reference.

    Where such tables refer to each other in a circle, the one with the most rows gets the hub.
    """
    supertypes: dict[str, Relationship] = {}
    for name in tables.entities:
        candidates = [
            reference
            for reference in tables.references[name]
            if _extends(tables, reference) and {name, reference.to_entity}.isdisjoint(placed)
        ]
        if candidates:
            supertypes[name] = min(candidates, key=partial(_rank_as_supertype, tables))
    for name in tables.entities:
        circle = _circle(supertypes, name)
        if circle:
            del supertypes[max(circle, key=lambda table: tables.entities[table].rows)]
    return supertypes


def _rank_as_supertype(tables: SourceTables, reference: Relationship) -> tuple[bool, int]:
    """Return a sort key by which declared references come first, then those to larger tables."""
    return reference.origin != "declared", -tables.entities[reference.to_entity].rows


def _extends(tables: SourceTables, reference: Relationship) -> bool:
    """Return whether a reference is made of a table's whole key and leads to another's."""
    child, parent = reference.from_entity, reference.to_entity
    if child == parent or set(reference.from_attributes) != set(tables.identity(child)):
        return False
    if set(reference.to_attributes) != set(tables.identity(parent)):
        return False
    child_entity, parent_entity = tables.entities[child], tables.entities[parent]
    return are_written_alike(
        [vault_type(child_entity.attribute(column)) for column in reference.from_attributes],
        [vault_type(parent_entity.attribute(column)) for column in reference.to_attributes],
    )


def _circle(supertypes: Mapping[str, Relationship], start: str) -> list[str]:
    """Return the tables of the circle that ``start`` is part of; none where its chain ends."""
    path = [start]
    while path[-1] in supertypes:
        supertype = supertypes[path[-1]].to_entity
        if supertype == start:
            return path
        if supertype in path:
            return []
        path.append(supertype)
    return []


def _subtype_reason(reference: Relationship) -> str:
    return (
        f"A subtype of {reference.to_entity}: its key is the key of {reference.to_entity}, so each"
        f" row extends a row of {reference.to_entity}."
    )


def _placement_by_key(tables: SourceTables, entity: Entity, code_lists: Set[str]) -> Placement:
    """Return the placement of a table whose key isn't just another table's key."""
    name, key = entity.name, set(tables.identity(entity.name))
    references = [r for r in tables.references[name] if r.to_entity not in code_lists]
    users = dict.fromkeys(r.from_entity for r in tables.referrers[name] if r.from_entity != name)
    if users:
        reason = f"The table has its own key, and {_subject(users, 'refers', 'refer')} to it."
        return Placement("hub", reason)
    if any(r.to_entity == name for r in references):
        return Placement("hub", "The table has its own key and refers to itself.")
    in_key = [r for r in references if key.issuperset(r.from_attributes)]
    if _count_ends(in_key) >= 2 and not _own_key_columns(tables, entity, in_key):
        return Placement("link", f"Its key consists of the keys of {_name_parents(in_key)}.")
    if entity_evidence := _entity_evidence(tables, entity, key):
        return Placement("hub", f"The table has its own key, and {entity_evidence}.")
    return _placement_by_references(tables, entity, references, in_key)


def _placement_by_references(
    tables: SourceTables,
    entity: Entity,
    references: Sequence[Relationship],
    in_key: Sequence[Relationship],
) -> Placement:
    """Return the placement of a table that nothing refers to and that names nothing.

    ``in_key`` are the references that are part of its key.
    """
    own_columns = _own_key_columns(tables, entity, in_key)
    if in_key and not own_columns:
        parents = _name_parents(in_key)
        reason = f"Its key refers to {parents}, but to columns other than the primary key there."
        return Placement("hub", reason)
    if in_key and _count_ends(references) == 1:
        reason = (
            f"Several rows belong to one row of {_name_parents(in_key)};"
            f" {_subject(own_columns, 'distinguishes', 'distinguish')} them."
        )
        return Placement("multi-active", reason, in_key[0])
    if in_key:
        reason = (
            f"Its rows link {_name_parents(references)};"
            f" {_subject(own_columns, 'distinguishes', 'distinguish')} them."
        )
        return Placement("transaction" if _is_measured(entity) else "link", reason)
    complete = [r for r in references if tables.is_complete(entity.name, r.from_attributes)]
    if _count_ends(complete) >= 2 and _is_event(entity):
        reason = f"Each row is an event that links {_name_parents(references)}."
        return Placement("transaction", reason)
    return Placement("hub", "The table has its own key.")


def _own_key_columns(
    tables: SourceTables, entity: Entity, in_key: Sequence[Relationship]
) -> list[str]:
    """Return the columns of a table's key that aren't part of the references in it."""
    key = set(tables.identity(entity.name))
    return sorted(key.difference(*(reference.from_attributes for reference in in_key)))


def _count_ends(references: Sequence[Relationship]) -> int:
    """Return how many ends references have: two by the same columns lead from one end."""
    return len({frozenset(r.from_attributes) for r in references})


def _entity_evidence(tables: SourceTables, entity: Entity, key: Set[str]) -> str:
    """Return why a table that nothing refers to is an entity and no relationship, or ""."""
    naming = [
        a.name
        for a in entity.attributes
        if a.name not in key and is_naming(a) and not _names_another(tables, entity, a.name)
    ]
    if naming:
        return f"{naming[0]} names its rows"
    natural = natural_key(entity)
    return f"people identify its rows by {natural.attributes[0]}" if natural else ""


def _names_another(tables: SourceTables, entity: Entity, column: str) -> bool:
    """Return whether a column holds another entity's name, such as the name of a customer."""
    phrase = stem(tables.bare_words(entity.name, column)[:-1])
    own = tables.parsed_names[entity.name].table.entity
    other_entities = {names.table.entity for names in tables.parsed_names.values()} - {own, ()}
    return any(
        phrase[start:end] in other_entities
        for start in range(len(phrase))
        for end in range(start + 1, len(phrase) + 1)
    )


def _is_event(entity: Entity) -> bool:
    """Return whether rows are events: they're measured, or at least dated."""
    return _is_measured(entity) or any(map(is_event_date, entity.attributes))


def _is_measured(entity: Entity) -> bool:
    """Return whether a table measures more than levels, which stay until they're updated."""
    return any(
        a.measure is not None and a.measure.additivity != "semi-additive" for a in entity.attributes
    )


def _name_parents(references: Sequence[Relationship]) -> str:
    return _name_a_few(dict.fromkeys(r.to_entity for r in references))


def _subject(names: Collection[str], singular_verb: str, plural_verb: str) -> str:
    """Return names as the subject of a sentence, with the form of the verb that goes with them."""
    return f"{_name_a_few(names)} {singular_verb if len(names) == 1 else plural_verb}"


def _name_a_few(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: up to three, or two and how many others."""
    listed_names = list(names)
    if len(listed_names) > _MOST_NAMES:
        more = len(listed_names) - _MOST_NAMES + 1
        listed_names = [*listed_names[: _MOST_NAMES - 1], f"{more} others"]
    return listed(listed_names)
