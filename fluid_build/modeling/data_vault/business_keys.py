"""Which key a hub is built on: the one that the business knows, rather than an assigned number.

A natural key is preferred where there is evidence for it: a code that people use, or a key that
``known_keys`` recognises by its name. The chosen key must be a mere number. A code
(``business_codes``) comes before several columns that are declared unique together, and those
before a name. A measured code next to a column that says whose code it is (a vocabulary, a tenant)
may be unique within that alone, so it isn't preferred. What identifies people (email, phone, name,
national number) never becomes a key: it changes, and it would carry personal data into every hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.lexicon import terms
from fluid_build.modeling.alternate_keys import numbered_key
from fluid_build.modeling.business_codes import CODE_TYPES, CODE_WORDS, is_code, is_code_key
from fluid_build.modeling.conceptual import Attribute, Entity, EntityKey
from fluid_build.modeling.data_vault.elements import BusinessKeyKind
from fluid_build.modeling.data_vault.known_keys import (
    alternate_key,
    key_of_parts,
    name_key,
    referred_key,
    versioned_key,
)
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import table_words
from fluid_build.modeling.element import Alternative
from fluid_build.modeling.types import family
from fluid_build.profiling.names.words import (
    has_key_word,
    last_word,
    singular,
    strip_key_words,
    words,
)
from fluid_build.text import counted, listed


@dataclass(frozen=True, slots=True)
class BusinessKey:
    """The key of a hub, and the sentence that explains the choice.

    ``rows_by`` are the columns that tell apart the rows of the hub's own table that share a key.
    """

    key: EntityKey
    kind: BusinessKeyKind
    reason: str
    rows_by: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def business_key(
    tables: SourceTables, entity: Entity, identity: EntityKey, subtypes: Sequence[str]
) -> BusinessKey:
    """Return the business key of an entity.

    ``subtypes`` are the tables that share its identity. They don't have the natural key, so an
    entity with subtypes keeps its surrogate key.
    """
    columns = _join_columns(identity)
    if entity.name in tables.homes:
        kind: BusinessKeyKind = "surrogate" if is_surrogate(entity, identity) else "natural"
        return BusinessKey(identity, kind, identity.reason)
    whole = key_of_parts(tables, entity.name)
    if whole is not None:
        return _key_of_whole(whole, identity)
    if not is_surrogate(entity, identity):
        verb = "identifies" if len(identity.attributes) == 1 else "identify"
        reason = f"{columns} {verb} its rows: {identity.reason.rstrip('.')}."
        return BusinessKey(identity, "natural", reason)
    if len(identity.attributes) > 1:
        return _surrogate(identity, _no_natural_key(tables, entity))
    referred = referred_key(tables, entity, identity)
    if referred is not None and natural_key(tables, entity) is None and not subtypes:
        return _referred(entity, referred, identity)
    natural = (
        natural_key(tables, entity) or declared_codes(entity) or alternate_key(entity, identity)
    )
    versioned = None if natural else versioned_key(entity, identity)
    unique = tables.unique.get(entity.name, ())
    natural = natural or versioned or numbered_key(entity, unique, tables.references[entity.name])
    natural = natural or name_key(tables, entity)
    if natural is None:
        return _surrogate(identity, _no_natural_key(tables, entity))
    if subtypes:
        reason = (
            f"The natural key {_join_columns(natural)} identifies its rows too, but only {columns}"
            f" is shared with {listed(subtypes)}."
        )
        return BusinessKey(identity, "surrogate", reason)
    if versioned is not None:
        return _key_of_versions(versioned, identity)
    reason = (
        f"The natural key {_join_columns(natural)} is preferred to {columns},"
        f" which {_describe_numbers(identity)}:"
        f" {_uniqueness(natural)}, and {_why_known(natural)}."
    )
    return BusinessKey(natural, "natural", reason, alternatives=(_by_number(identity),))


def _referred(entity: Entity, referred: EntityKey, identity: EntityKey) -> BusinessKey:
    reason = (
        f"Other tables refer to {_join_columns(referred)}, and none to {_join_columns(identity)},"
        " which numbers the records."
    )
    kind: BusinessKeyKind = "surrogate" if is_surrogate(entity, referred) else "natural"
    return BusinessKey(referred, kind, reason, alternatives=(_by_number(identity),))


def _key_of_whole(whole: EntityKey, identity: EntityKey) -> BusinessKey:
    rows_by = tuple(c for c in identity.attributes if c not in whole.attributes)
    reason = (
        f"{_join_columns(whole)} identifies what its rows are parts of, and {listed(rows_by)}"
        f" {'distinguishes' if len(rows_by) == 1 else 'distinguish'} the parts."
    )
    alternative = Alternative(
        choice=f"keyed by {_join_columns(identity)}", reason="a part isn't known by itself"
    )
    return BusinessKey(whole, "natural", reason, rows_by, (alternative,))


def _surrogate(identity: EntityKey, missing: str) -> BusinessKey:
    reason = f"{_join_columns(identity)} {_describe_numbers(identity)}, and {missing}."
    return BusinessKey(identity, "surrogate", reason)


def _key_of_versions(versioned: EntityKey, identity: EntityKey) -> BusinessKey:
    number = _join_columns(identity)
    reason = (
        f"{_join_columns(versioned)} identifies what its rows are versions of; {number}, which"
        f" {_describe_numbers(identity)}, identifies a version."
    )
    alternatives = (_by_number(identity),)
    return BusinessKey(versioned, "natural", reason, identity.attributes, alternatives)


def _describe_numbers(identity: EntityKey) -> str:
    """Return what a surrogate key is, as far as its name shows where its numbers come from."""
    is_one = len(identity.attributes) == 1
    if all(has_key_word(words(column)) for column in identity.attributes):
        return f"{'looks' if is_one else 'look'} generated by the source"
    return "is only a number" if is_one else "are only numbers"


def _by_number(identity: EntityKey) -> Alternative:
    return Alternative(
        choice=f"keyed by {_join_columns(identity)}",
        reason="such a number means little outside the source",
    )


def decided_business_key(
    tables: SourceTables, entity: Entity, identity: EntityKey, subtypes: Sequence[str]
) -> BusinessKey:
    """Return the business key that somebody decided; ours is an alternative to it.

    Where it repeats, the identity tells the rows with the same key apart.
    """
    decided = tables.decided_keys[entity.name]
    ours = business_key(tables, entity, identity, subtypes)
    columns = decided.key.attributes
    alternatives = (
        ()
        if set(ours.key.attributes) == set(columns)
        else (
            Alternative(
                choice=f"keyed by {_join_columns(ours.key)}", reason=ours.reason.rstrip(".")
            ),
        )
    )
    repeated = decided.key.evidence.violations
    verb = "repeats" if len(columns) == 1 else "repeat"
    note = "" if decided.key.holds else f" {listed(columns)} {verb} in {counted(repeated, 'row')}."
    return BusinessKey(
        decided.key,
        "surrogate" if is_surrogate(entity, decided.key) else "natural",
        f"{listed(columns)} {'is' if len(columns) == 1 else 'are'} its business key."
        f" {decided.reason}{note}",
        () if decided.key.holds else tuple(c for c in identity.attributes if c not in columns),
        alternatives,
    )


def natural_key(tables: SourceTables, entity: Entity) -> EntityKey | None:
    """Return a key next to a surrogate primary key by which people identify rows, or None."""
    primary = entity.primary_key
    if primary is None or len(primary.attributes) != 1 or not is_surrogate(entity, primary):
        return None
    return next((key for key in _code_keys(tables, entity) if not _scope(entity, key)), None)


def declared_codes(entity: Entity) -> EntityKey | None:
    """Return a key of several codes and years that the source declares unique, or None.

    ``(service_code, voyage_no)`` identifies a voyage; a number that a database assigned is known to
    nobody, and so is what has one in its key.
    """
    return next(
        (
            key
            for key in entity.keys
            if key.kind == "declared" and key.holds and len(key.attributes) > 1
            if all(_is_known_part(entity.attribute(column)) for column in key.attributes)
        ),
        None,
    )


def _is_known_part(attribute: Attribute) -> bool:
    return attribute.required and (is_code(attribute) or attribute.semantic_type == "year")


def may_identify(entity: Entity, column: str) -> bool:
    """Return whether a column is a code in every row that holds as a key, however few rows show it.

    That isn't enough by itself, but it is where another source knows the same codes.
    """
    is_key = any(key.attributes == (column,) and key.holds for key in entity.keys)
    attribute = entity.attribute(column)
    return is_key and attribute.required and is_code(attribute)


def is_known_by_key(entity: Entity, identity: EntityKey) -> bool:
    """Return whether people know the rows of an entity by the code that identifies them."""
    return len(identity.attributes) == 1 and is_code(entity.attribute(identity.attributes[0]))


def _code_keys(tables: SourceTables, entity: Entity) -> list[EntityKey]:
    """Return the other keys that are codes: declared ones first, then in the table's order.

    A code that refers to another table identifies what is there: a bill with one payment isn't the
    number of the payment.
    """
    referring = {
        reference.from_attributes
        for reference in tables.references[entity.name]
        if reference.to_entity != entity.name
    }
    own_words = table_words(tables, entity.name)
    positions = {attribute.name: place for place, attribute in enumerate(entity.attributes)}
    keys = [
        key
        for key in entity.keys
        if key.kind != "primary" and key.attributes not in referring
        if is_code_key(entity, key, own_words)
    ]
    return sorted(keys, key=lambda key: (key.kind != "declared", positions[key.attributes[0]]))


def _scope(entity: Entity, key: EntityKey) -> str:
    """Return the column that a measured code may be unique within; "" where there is none.

    ``account_no`` next to ``bank`` repeats as soon as two banks have the same number.
    """
    code = entity.attribute(key.attributes[0])
    if key.origin == "declared" or last_word(code.name, terms("worldwide_code")):
        return ""
    if code.semantic_type in CODE_TYPES:
        return ""
    return next((a.name for a in entity.attributes if a != code and _names_authority(a)), "")


def _names_authority(attribute: Attribute) -> bool:
    """Return whether an attribute says who assigned the codes of its row."""
    parts = strip_key_words(words(attribute.name))
    may_refer = family(attribute.type) in {"text", "integer", "decimal"}
    return may_refer and bool(parts) and singular(parts[-1]) in terms("authority")


def _no_natural_key(tables: SourceTables, entity: Entity) -> str:
    for key in _code_keys(tables, entity):
        scope = _scope(entity, key)
        if scope:
            return f"{_join_columns(key)} may be unique only within one {scope}"
    return "no other unique column is a code that people would use"


def is_surrogate(entity: Entity, key: EntityKey) -> bool:
    """Return whether all of a key is assigned numbers that mean something to the source alone."""
    return all(_is_assigned_number(entity.attribute(column)) for column in key.attributes)


def _is_assigned_number(attribute: Attribute) -> bool:
    """Return whether a source counted up or drew a value: 17, but not the year 2017."""
    if attribute.type == "uuid" or attribute.semantic_type in {"uuid", "hash"}:
        return True
    if last_word(attribute.name, CODE_WORDS) or attribute.semantic_type in {*CODE_TYPES, "year"}:
        return False
    return family(attribute.type) in {"integer", "decimal"}


def _uniqueness(key: EntityKey) -> str:
    if key.origin == "declared":
        return "it's declared unique and never null"
    part = " of a sample" if key.evidence.is_sampled else ""
    return f"it's unique and never null in {counted(key.evidence.rows, 'row')}{part}"


def _why_known(key: EntityKey) -> str:
    if len(key.attributes) > 1:
        return "its names suggest that people identify rows by all of it"
    return "its name suggests that people identify rows by it"


def _join_columns(key: EntityKey) -> str:
    return listed(key.attributes)
