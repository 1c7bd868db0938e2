"""Keys that a business knows things by, recognised by names: alternate keys, names, parts of keys.

- Where all other tables refer to another key than the chosen one, the latter only numbers records.
- A table with a surrogate key may hold the key of the system that it came from: ``customer_id``
  next to ``customer_sk``, or an alternate key. Where it has several rows for such a key, each valid
  for a time, the rows are versions: the key identifies the thing, the surrogate a version of it.
- What has little more than a name is known by it: a genre, a tag, a country. Whatever has a number
  on paper (a customer, a product) keeps its number, and so does what shares its name with others: a
  town, a street.
- Where a key of several columns has an identifier and a sequence, a date or a language, the rows
  are parts, days or texts of what the identifier stands for: the points of a shape.
"""

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute, Entity, EntityKey
from fluid_build.modeling.data_vault.column_purposes import (
    is_bookkeeping,
    is_called_name,
    is_date,
    is_period,
    is_technical,
)
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import (
    is_core_concept,
    is_event_name,
    is_scoped_place,
    names_language,
    names_part,
    names_table,
    table_words,
)
from fluid_build.modeling.types import family
from fluid_build.profiling.names.words import has_key_word, singular, strip_key_words, words
from fluid_build.profiling.profile import Evidence
from fluid_build.text import counted

_MOST_BESIDE_NAME = 3
"""Descriptive columns of what is known by its name. With more, it has other ways to be known."""
_FEWEST_NAMES = 3
"""Rows in which unique names say that names are unique."""


def alternate_key(entity: Entity, identity: EntityKey) -> EntityKey | None:
    """Return a unique key of a table that has the name of an alternate key, or None."""
    return next(
        (
            key
            for key in entity.keys
            if key.kind != "primary"
            and key.holds
            and len(key.attributes) == 1
            and _is_alternate(entity.attribute(key.attributes[0]), identity)
        ),
        None,
    )


def referred_key(tables: SourceTables, entity: Entity, identity: EntityKey) -> EntityKey | None:
    """Return the key that all references to a table lead to, if that isn't its primary key."""
    targets = {r.to_attributes for r in tables.referrers[entity.name]}
    if len(targets) != 1 or identity.attributes in targets:
        return None
    return next(
        (
            key
            for key in entity.keys
            if key.holds
            and key.attributes in targets
            and all(entity.attribute(column).required for column in key.attributes)
        ),
        None,
    )


def versioned_key(entity: Entity, identity: EntityKey) -> EntityKey | None:
    """Return the key of what a table has versions of, which repeats in it; None for others."""
    if not is_period(entity.attributes):
        return None
    return next(
        (
            _repeated_key(entity, attribute, "Each of its values has several versions.")
            for attribute in entity.attributes
            if _is_alternate(attribute, identity) and _repeats(entity, attribute)
        ),
        None,
    )


def key_of_parts(tables: SourceTables, table: str) -> EntityKey | None:
    """Return the part of a composite key that identifies what the rows are parts of, or None."""
    entity, key = tables.entities[table], tables.identity(table)
    referring = {c for r in tables.references[table] for c in r.from_attributes}
    if len(key) < 2 or referring & set(key):
        return None
    attributes = [entity.attribute(column) for column in key]
    identifiers = [attribute for attribute in attributes if not _tells_apart(attribute)]
    if len(identifiers) != 1 or not has_key_word(words(identifiers[0].name)):
        return None
    if any(r.to_attributes != (identifiers[0].name,) for r in tables.referrers[table]):
        return None
    return _repeated_key(entity, identifiers[0], "Its rows are parts of what this identifies.")


def name_key(tables: SourceTables, entity: Entity) -> EntityKey | None:
    """Return the unique name that the rows of a table are known by, or None.

    A genre (id, name) is known as Jazz. A customer's name may be another's tomorrow, and so may a
    town's; a person with ten columns is known by more than a name.
    """
    table = entity.name
    if is_core_concept(tables, table) or is_event_name(tables, table):
        return None
    if is_scoped_place(tables, table) or entity.rows < _FEWEST_NAMES:
        return None
    referring = {c for r in tables.references[table] for c in r.from_attributes}
    others = {*tables.identity(table), *referring}
    names = [key for key in entity.keys if _is_name(tables, entity, key)]
    described = [
        a
        for a in entity.attributes
        if a.name not in others and not is_technical(a) and not is_bookkeeping(a)
    ]
    if not names or len(described) - 1 > _MOST_BESIDE_NAME:
        return None
    return names[0]


def _is_alternate(attribute: Attribute, identity: EntityKey) -> bool:
    """Return whether a column is named for another key of what the surrogate key numbers."""
    own, surrogate = words(attribute.name), words(identity.attributes[0])
    if not attribute.required or attribute.pii or terms("structure") & set(own):
        return False
    if family(attribute.type) not in {"text", "integer", "decimal"}:
        return False
    if terms("alternate_key") & set(own) and has_key_word(own):
        return True
    is_pair = (
        bool(surrogate) and surrogate[-1] in terms("surrogate_key") and own[-1:] != surrogate[-1:]
    )
    return is_pair and has_key_word(own) and strip_key_words(own) == strip_key_words(surrogate)


def _is_name(tables: SourceTables, entity: Entity, key: EntityKey) -> bool:
    if key.kind == "primary" or not key.holds or len(key.attributes) != 1:
        return False
    attribute = entity.attribute(key.attributes[0])
    if family(attribute.type) != "text" or not attribute.required or attribute.pii:
        return False
    if attribute.type == "uuid" or attribute.semantic_type in {"uuid", "hash", "url", "email"}:
        return False
    own = set(table_words(tables, entity.name))
    bare = {singular(word) for word in tables.bare_words(entity.name, attribute.name)}
    is_name = is_called_name(attribute) and names_table(tables, entity.name, attribute)
    return is_name or bare == own


def _tells_apart(attribute: Attribute) -> bool:
    """Return whether a column only tells apart the rows of one key: a place, a day, a language."""
    return is_date(attribute) or names_part(attribute) or names_language(attribute)


def _repeats(entity: Entity, attribute: Attribute) -> bool:
    return attribute.evidence.distinct is not None and attribute.evidence.distinct < entity.rows


def _repeated_key(entity: Entity, attribute: Attribute, meaning: str) -> EntityKey:
    distinct = attribute.evidence.distinct
    values = f" {counted(distinct, 'value')} in {counted(entity.rows, 'row')}." if distinct else ""
    return EntityKey(
        kind="candidate",
        attributes=(attribute.name,),
        origin="measured",
        holds=False,
        evidence=Evidence(origin="measured", rows=entity.rows, distinct=distinct),
        reason=f"{meaning}{values}",
    )
