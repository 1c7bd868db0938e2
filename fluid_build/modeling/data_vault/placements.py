"""Which piece of a vault each table becomes: hub, link, satellite of another hub, code list.

It follows from what identifies a row. A key of its own makes a hub, a key that is another table's
makes a satellite there, a key of several others' makes a link. What other tables refer to is always
a hub, because a link is never the end of another link.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Literal

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.business_keys import natural_key
from fluid_build.modeling.data_vault.key_types import kept_type, written_alike
from fluid_build.modeling.data_vault.source_tables import (
    SourceTables,
    is_event_date,
    is_naming,
    is_technical,
)
from fluid_build.modeling.types import family
from fluid_build.profiling.names import stem
from fluid_build.profiling.profile import Profile
from fluid_build.text import listed

Kind = Literal["hub", "extension", "link", "transaction", "multi-active", "reference", "keyless"]
_MOST_CODES = 300
_MOST_NUMBERED = 50
_LONGEST_CODE = 10
_MOST_DESCRIPTIVE = 2


@dataclass(frozen=True, slots=True)
class Placement:
    """What a table becomes, and why. ``parent`` is the reference that its key is made of.

    It is set for an extension and for a multi-active satellite, which hang on the parent's hub.
    """

    kind: Kind
    reason: str
    parent: Relationship | None = None


def shapes(profile: Profile, schema: SourceTables) -> dict[str, Placement]:
    """The shape of every table of a model."""
    found: dict[str, Placement] = {}
    for name, entity in schema.entities.items():
        if not schema.identities[name]:
            found[name] = Placement("keyless", f"Nothing identifies a row: {_no_key(entity)}.")
        elif _only_relates(schema, entity):
            parents = _parents(schema.references[name])
            found[name] = Placement("link", f"It holds nothing but references, to {parents}.")
    related = {r.to_entity for n in found for r in schema.references[n] if found[n].kind == "link"}
    for name, entity in schema.entities.items():
        codes = profile.has_data and name not in found and name not in related
        if codes and _is_code_list(profile, schema, entity):
            found[name] = Placement("reference", _code_list_reason(entity, schema))
    for name, relationship in _extensions(schema, found).items():
        found[name] = Placement("extension", _extension_reason(relationship), relationship)
    lists = {name for name, shape in found.items() if shape.kind == "reference"}
    return {
        name: found.get(name) or _of_its_own(schema, entity, lists)
        for name, entity in schema.entities.items()
    }


def _only_relates(schema: SourceTables, entity: Entity) -> bool:
    """Whether a table has no column but references to several others, flags and row stamps.

    Its data may well show a smaller key than it was meant to have: no row of it repeats a part.
    """
    references = schema.references[entity.name]
    if schema.referrers[entity.name] or len({frozenset(r.from_attributes) for r in references}) < 2:
        return False
    referring = {column for r in references for column in r.from_attributes}
    return referring.issuperset(schema.identity(entity.name)) and all(
        a.name in referring or is_technical(a) or a.type == "boolean" for a in entity.attributes
    )


def _no_key(entity: Entity) -> str:
    if not entity.rows:
        return "it holds no row, and no key is declared"
    broken = next((key for key in entity.keys if not key.holds and key.kind != "candidate"), None)
    if broken is None:
        return "no columns of it are a key"
    figures = broken.evidence
    return (
        f"its key ({', '.join(broken.attributes)}) is violated by {figures.violations} rows"
        f" and null in {figures.nulls}"
    )


def _is_code_list(profile: Profile, schema: SourceTables, entity: Entity) -> bool:
    """A short key and its meaning, few rows, referred to, and part of nobody else's key."""
    key = schema.identity(entity.name)
    if len(key) != 1 or schema.references[entity.name] or not schema.referrers[entity.name]:
        return False
    for user in schema.referrers[entity.name]:
        within_key = set(user.from_attributes) & set(schema.identity(user.from_entity))
        if within_key or user.to_attributes != key:
            return False
    described = [a for a in entity.attributes if a.name not in key and not is_technical(a)]
    if not 1 <= len(described) <= _MOST_DESCRIPTIVE or any(a.pii for a in described):
        return False
    if not any(family(a.type) == "text" for a in described):
        return False
    kind = family(entity.attribute(key[0]).type)
    if kind == "text":
        length = profile.table(entity.name).column(key[0]).max_length
        short = length is not None and length <= _LONGEST_CODE
        return short and 0 < entity.rows <= _MOST_CODES
    return kind in {"integer", "decimal"} and 0 < entity.rows <= _MOST_NUMBERED


def _code_list_reason(entity: Entity, schema: SourceTables) -> str:
    users = dict.fromkeys(r.from_entity for r in schema.referrers[entity.name])
    return (
        f"A code list: {entity.rows} rows of a short key and its meaning, looked up by"
        f" {_listed(users)} and referring to nothing."
    )


def _extensions(schema: SourceTables, taken: Mapping[str, Placement]) -> dict[str, Relationship]:
    """The tables whose whole key is the key of another table, each with that reference.

    Of a circle of such tables the one with most rows, the first of these, stands on its own.
    """
    chosen: dict[str, Relationship] = {}
    for name in schema.entities:
        candidates = [r for r in schema.references[name] if _extends(schema, r)]
        candidates = [r for r in candidates if {name, r.to_entity}.isdisjoint(taken)]
        if candidates:
            chosen[name] = min(candidates, key=partial(_less_likely, schema))
    for name in schema.entities:
        circle = _circle(chosen, name)
        if circle:
            del chosen[max(circle, key=lambda table: schema.entities[table].rows)]
    return chosen


def _less_likely(schema: SourceTables, reference: Relationship) -> tuple[bool, int]:
    """Of several keys that a key is: the declared one first, then that of the larger table."""
    return reference.origin != "declared", -schema.entities[reference.to_entity].rows


def _extends(schema: SourceTables, reference: Relationship) -> bool:
    child, parent = reference.from_entity, reference.to_entity
    if child == parent or set(reference.from_attributes) != set(schema.identity(child)):
        return False
    if set(reference.to_attributes) != set(schema.identity(parent)):
        return False
    ours, theirs = schema.entities[child], schema.entities[parent]
    return written_alike(
        [kept_type(ours.attribute(column)) for column in reference.from_attributes],
        [kept_type(theirs.attribute(column)) for column in reference.to_attributes],
    )


def _circle(chosen: Mapping[str, Relationship], start: str) -> list[str]:
    """The tables in the circle that ``start`` is part of; none where its chain has an end."""
    path = [start]
    while path[-1] in chosen:
        following = chosen[path[-1]].to_entity
        if following == start:
            return path
        if following in path:
            return []
        path.append(following)
    return []


def _extension_reason(reference: Relationship) -> str:
    return (
        f"The key of {reference.from_entity} is the key of {reference.to_entity}: a row of it"
        f" says more of the same thing."
    )


def _of_its_own(schema: SourceTables, entity: Entity, codes: Set[str]) -> Placement:
    """The shape of a table with a key that is not just another table's."""
    name, key = entity.name, set(schema.identity(entity.name))
    references = [r for r in schema.references[name] if r.to_entity not in codes]
    users = dict.fromkeys(r.from_entity for r in schema.referrers[name] if r.from_entity != name)
    if users:
        refer = "refer" if len(users) > 1 else "refers"
        return Placement("hub", f"It has a key of its own, and {_listed(users)} {refer} to it.")
    if any(r.to_entity == name for r in references):
        return Placement("hub", "It has a key of its own and refers to itself.")
    within = [r for r in references if key.issuperset(r.from_attributes)]
    own = key.difference(*(r.from_attributes for r in within))
    if _ends(within) >= 2 and not own:
        return Placement("link", f"Its key is made of the keys of {_parents(within)}.")
    if named := _stands_for_something(schema, entity, key):
        return Placement("hub", f"It has a key of its own, and {named}.")
    if within and not own:
        parents = _parents(within)
        return Placement(
            "hub", f"Its key is found in {parents}, though not as what identifies a row."
        )
    if within and _ends(references) == 1:
        reason = f"Several rows, told apart by {_listed(own)}, belong to one of {_parents(within)}."
        return Placement("multi-active", reason, within[0])
    if within:
        kind: Kind = "transaction" if _is_measured(entity) else "link"
        reason = f"Its rows relate {_parents(references)} and are told apart by {_listed(own)}."
        return Placement(kind, reason)
    bound = [r for r in references if schema.complete(name, r.from_attributes)]
    if _ends(bound) >= 2 and _happens(entity):
        reason = f"Each row is an event between {_parents(references)}; nothing refers to it."
        return Placement("transaction", reason)
    return Placement("hub", "It has a key of its own.")


def _ends(references: Sequence[Relationship]) -> int:
    """How many ends references have: two by the same columns lead from one."""
    return len({frozenset(r.from_attributes) for r in references})


def _stands_for_something(schema: SourceTables, entity: Entity, key: Set[str]) -> str:
    """Why a table that nothing refers to is a thing and no relationship; "" if it is not."""
    naming = [
        a.name
        for a in entity.attributes
        if a.name not in key and is_naming(a) and not _names_another(schema, entity, a.name)
    ]
    if naming:
        return f"{naming[0]} names what a row stands for"
    other = natural_key(entity)
    return f"{other.attributes[0]} identifies it for people" if other else ""


def _names_another(schema: SourceTables, entity: Entity, column: str) -> bool:
    """Whether a name is that of something else, which the row carries along: of a customer."""
    phrase = stem(schema.bare(entity.name, column)[:-1])
    own = schema.spelled[entity.name].table.entity
    others = {names.table.entity for names in schema.spelled.values()} - {own, ()}
    return any(
        phrase[start:end] in others
        for start in range(len(phrase))
        for end in range(start + 1, len(phrase) + 1)
    )


def _happens(entity: Entity) -> bool:
    """Whether rows are events: measured, or dated at least."""
    return _is_measured(entity) or any(map(is_event_date, entity.attributes))


def _is_measured(entity: Entity) -> bool:
    """Whether a table measures more than a level that stands until it is moved."""
    return any(
        a.measure is not None and a.measure.additivity != "semi-additive" for a in entity.attributes
    )


def _parents(references: Sequence[Relationship]) -> str:
    return _listed(dict.fromkeys(r.to_entity for r in references))


def _listed(names: Set[str] | Mapping[str, None]) -> str:
    """Names in a sentence, a few of them."""
    ordered = list(names) if isinstance(names, Mapping) else sorted(names)
    shown = ordered if len(ordered) <= 3 else [*ordered[:2], f"{len(ordered) - 2} others"]
    return listed(shown)
