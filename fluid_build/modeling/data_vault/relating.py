"""How a table relates others: which of its references are ends of a link, what its key adds.

Not every reference relates two things of the business. Who wrote a record, and the only tenant of
a database, are the same for rows that have nothing to do with each other. A reference whose columns
are part of another one's says nothing beyond that one.
"""

from collections.abc import Collection, Iterable, Sequence

from fluid_build.lexicon import starts, terms
from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import lists_languages, names_language, table_words
from fluid_build.profiling.names.words import words
from fluid_build.text import listed

_MOST_NAMES = 3
"""Names that a reason lists before it counts the others."""


def name_parents(references: Sequence[Relationship]) -> str:
    """Return the tables that references lead to, as a list in a sentence."""
    return name_a_few(dict.fromkeys(reference.to_entity for reference in references))


def subject(names: Collection[str], singular_verb: str, plural_verb: str) -> str:
    """Return names as the subject of a sentence, with the form of the verb that goes with them."""
    return f"{name_a_few(names)} {singular_verb if len(names) == 1 else plural_verb}"


def name_a_few(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: up to three, or two and how many others."""
    listed_names = list(names)
    if len(listed_names) > _MOST_NAMES:
        more = len(listed_names) - _MOST_NAMES + 1
        listed_names = [*listed_names[: _MOST_NAMES - 1], f"{more} others"]
    return listed(listed_names)


_FEWEST_TABLES_OF_TENANT = 5
_TENANT_SHARE = 0.1
"""Tables, and the share of all tables, that refer to a tenant. Fewer refer to the only warehouse of
a shop, which says something of their rows."""


def outward_references(tables: SourceTables, table: str) -> tuple[Relationship, ...]:
    """Return the references of a table that say something of its rows, not of its records."""
    return tuple(r for r in tables.references[table] if not is_about_record(tables, r))


def is_about_record(tables: SourceTables, reference: Relationship) -> bool:
    """Return whether a reference says who wrote a record, or which tenant all records are of."""
    # A database with one tenant has a single row that very many tables refer to.
    table = reference.to_entity
    users = len({reference.from_entity for reference in tables.referrers[table]})
    fewest = max(_FEWEST_TABLES_OF_TENANT, _TENANT_SHARE * len(tables.entities))
    if tables.entities[table].rows == 1 and users >= fewest:
        return True
    if not terms("staff") & set(table_words(tables, reference.to_entity)):
        return False
    return any(
        word.startswith(starts("written"))
        for column in reference.from_attributes
        for word in words(column)
    )


def ends(references: Sequence[Relationship]) -> list[Relationship]:
    """Return the references that are ends of a link, one for each set of columns.

    Two by the same columns lead from one end, and so do those by a part of another's columns.
    """
    columns = [frozenset(reference.from_attributes) for reference in references]
    return [
        reference
        for position, (reference, own) in enumerate(zip(references, columns, strict=True))
        if own not in columns[:position] and not any(own < other for other in columns)
    ]


def references_in_key(tables: SourceTables, table: str) -> tuple[Relationship, ...]:
    """Return the references that are a part of a table's key, or all of it."""
    key = set(tables.identity(table))
    return tuple(r for r in tables.references[table] if key.issuperset(r.from_attributes))


def own_key_columns(
    tables: SourceTables, table: str, in_key: Sequence[Relationship]
) -> tuple[str, ...]:
    """Return the columns of a table's key that aren't part of the references in it."""
    referring = {column for reference in in_key for column in reference.from_attributes}
    return tuple(column for column in tables.identity(table) if column not in referring)


def is_translation(tables: SourceTables, table: str) -> bool:
    """Return whether a table has texts about one other table's rows, each in several languages."""
    return language_part(tables, table) is not None


def language_part(tables: SourceTables, table: str) -> Relationship | None:
    """Return the reference to what a table's texts are about; None where it has no languages.

    The key of such a table is that reference and a language, whether languages are listed or not.
    """
    in_key = ends(references_in_key(tables, table))
    to_languages = [r for r in in_key if lists_languages(tables, r.to_entity)]
    described = [r for r in in_key if not lists_languages(tables, r.to_entity)]
    own = own_key_columns(tables, table, in_key)
    entity = tables.entities[table]
    if len(described) != 1 or len(to_languages) + len(own) != 1:
        return None
    if own and not names_language(entity.attribute(own[0])):
        return None
    relating: Collection[Relationship] = ends(outward_references(tables, table))
    others = [r for r in relating if r not in in_key]
    return described[0] if not others and _has_text(tables, table) else None


def _has_text(tables: SourceTables, table: str) -> bool:
    key = tables.identity(table)
    return any(
        attribute.type.startswith(("string", "varchar", "char"))
        for attribute in tables.entities[table].attributes
        if attribute.name not in key
    )
