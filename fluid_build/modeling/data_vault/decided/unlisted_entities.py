"""Entities that several tables identify and none lists, such as the users of a list of ratings.

A hub is a list of business keys, whether a table of the source lists them or not. Where the keys
of several tables contain the same identifier with the same values, what it identifies gets a hub,
which those tables feed. It has no satellite, because nothing is said of it.

So does what a table of measures is about that refers to no other table: the employee of a quota,
the customer of a single file of sales.
"""

from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import replace

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Entity, EntityKey, Relationship
from fluid_build.modeling.data_vault.column_purposes import is_distinctive, is_naming
from fluid_build.modeling.data_vault.known_keys import key_of_parts
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import (
    names_language,
    names_list,
    names_part,
    table_words,
)
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.types import family
from fluid_build.observations.shared_identifiers import IdentifierUse, UnlistedIdentifier
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedNames, ParsedTableName
from fluid_build.profiling.names.words import Words, last_word, singular, words
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence
from fluid_build.text import free_name, listed

_FEWEST_KNOWN = 0.7
"""Share of a column's values that the home must have. By accident, as many agree in short lists
alone; of the same thing, a table may have a few that no other has."""
_FEWEST_ROWS_EACH = 2
"""Rows for each value of an identifier, on average: a thing is measured more than once."""
_SHORTEST_NAME = 3
"""Letters in the name of a thing; fewer are an abbreviation that may mean anything."""
_CONFIDENCE = 0.9
"""How sure such a reference is: the names are the same, and so are most values."""


def with_unlisted_entities(tables: SourceTables, days: Set[str]) -> SourceTables:
    """Return the tables with an entity, and references to it, for each unlisted identifier.

    ``days`` are the calendars, which say nothing of what a table is about.
    """
    added = [
        _entity(tables, observed, uses)
        for observed in tables.observations.unlisted_identifiers
        if len(uses := _uses(tables, observed)) > 1
    ]
    known = {
        (r.from_entity, c) for _, _, _, added_ in added for r in added_ for c in r.from_attributes
    }
    lonely = [use for use in _lonely_uses(tables, days) if (use.table, use.column) not in known]
    # Equal names in two sources may mean different things.
    groups: dict[tuple[str | None, Words], list[IdentifierUse]] = defaultdict(list)
    for use in sorted(lonely, key=lambda use: (-use.values, use.table)):
        groups[tables.entities[use.table].source, words(use.column)].append(use)
    added += (_entity(tables, UnlistedIdentifier(u[0], tuple(u[1:])), u) for u in groups.values())
    parsed_names, entities = dict(tables.parsed_names), dict(tables.entities)
    identities, homes = dict(tables.identities), dict(tables.homes)
    references: list[Relationship] = []
    for entity, parsed, home, relationships in added:
        name = free_name(entity.name, entities)
        references += (r.model_copy(update={"to_entity": name}) for r in relationships)
        parsed_names[name], homes[name] = parsed, home
        entities[name] = entity.model_copy(update={"name": name})
        identities[name] = entity.keys[0]
    if not added:
        return tables
    return replace(
        tables,
        parsed_names=parsed_names,
        called=tables.called | {parsed.table.entity for _, parsed, _, _ in added},
        entities=entities,
        identities=identities,
        references={name: tables.references.get(name, ()) for name in entities},
        referrers={name: tables.referrers.get(name, ()) for name in entities},
        homes=homes,
    ).with_references(references)


def _uses(tables: SourceTables, observed: UnlistedIdentifier) -> list[IdentifierUse]:
    """Return the columns that hold an identifier of an entity; fewer than two where none does."""
    home = observed.home
    if home.table not in tables.entities or key_of_parts(tables, home.table) is not None:
        return []
    attribute = tables.entities[home.table].attribute(home.column)
    parsed = _parsed_column(tables, home)
    if parsed.names_table or not parsed.entity:
        return []
    if names_part(attribute) or names_language(attribute):
        return []
    return [home, *(use for use in observed.uses if use.known >= _FEWEST_KNOWN * use.values)]


def _lonely_uses(tables: SourceTables, days: Set[str]) -> Iterator[IdentifierUse]:
    """Return the identifiers in tables of measures that neither refer nor are referred to."""
    for name, entity in tables.entities.items():
        refers = any(reference.to_entity not in days for reference in tables.references[name])
        is_measured = any(attribute.measure is not None for attribute in entity.attributes)
        if refers or tables.referrers[name] or not is_measured or key_of_parts(tables, name):
            continue
        if any(
            is_naming(attribute) and is_distinctive(attribute) for attribute in entity.attributes
        ):
            continue
        for attribute in entity.attributes:
            if attribute.name in tables.identity(name):
                continue
            distinct = attribute.evidence.distinct or 0
            use = IdentifierUse(name, attribute.name, distinct, distinct)
            repeats = 1 < distinct <= entity.rows / _FEWEST_ROWS_EACH
            if attribute.required and repeats and _names_unlisted(tables, use):
                yield use


def _names_unlisted(tables: SourceTables, use: IdentifierUse) -> bool:
    """Return whether a column is named for the key of something that isn't the table itself.

    ``employee_key`` of a table of quotas is; ``quota_id`` is the table's own, ``line_no`` a part,
    ``currency_code`` a code, and ``ph_id`` may mean anything.
    """
    attribute, parsed = (
        tables.entities[use.table].attribute(use.column),
        _parsed_column(tables, use),
    )
    if attribute.measure is not None or family(attribute.type) not in {"text", "integer"}:
        return False
    if not parsed.has_key_word or parsed.names_table or attribute.pii:
        return False
    if not parsed.entity or len(parsed.entity[-1]) < _SHORTEST_NAME:
        return False
    if last_word(attribute.name, terms("code")):
        return False
    is_own = set(table_words(tables, use.table)).issuperset(map(singular, parsed.entity))
    is_part = names_part(attribute) or names_language(attribute) or names_list(attribute)
    refers = any(use.column in r.from_attributes for r in tables.references[use.table])
    return not (is_own or is_part or refers)


def _parsed_column(tables: SourceTables, use: IdentifierUse) -> ParsedColumnName:
    names = [attribute.name for attribute in tables.entities[use.table].attributes]
    return tables.parsed_names[use.table].columns[names.index(use.column)]


def _entity(
    tables: SourceTables, observed: UnlistedIdentifier, uses: list[IdentifierUse]
) -> tuple[Entity, ParsedNames, str, list[Relationship]]:
    home = observed.home
    parsed = _parsed_column(tables, home)
    attribute = tables.entities[home.table].attribute(home.column)
    name = identifier("_".join(parsed.entity))
    users = listed(use.table for use in uses)
    key = EntityKey(
        kind="primary",
        attributes=(home.column,),
        origin="measured",
        holds=True,
        evidence=Evidence(origin="measured", rows=home.values, distinct=home.values),
        reason=f"No table lists what {home.column} identifies;"
        f" {users} {'has' if len(uses) == 1 else 'have'} it.",
    )
    source = tables.entities[home.table].source
    entity = Entity(
        name=f"{source}.{name}" if source else name,
        source=source,
        rows=home.values,
        attributes=(attribute.model_copy(update={"required": True}),),
        keys=(key,),
        reason=key.reason,
    )
    names = ParsedNames(ParsedTableName(parsed.entity, "".join(parsed.entity)), (parsed,))
    return entity, names, home.table, list(_relationships(tables, home, uses))


def _relationships(
    tables: SourceTables, home: IdentifierUse, uses: list[IdentifierUse]
) -> Iterator[Relationship]:
    for use in uses:
        is_complete = tables.is_complete(use.table, (use.column,))
        yield Relationship(
            name=identifier(f"{use.table} {use.column}"),
            from_entity=use.table,
            from_attributes=(use.column,),
            to_entity="",
            to_attributes=(home.column,),
            cardinality="many-to-one",
            from_participation="mandatory" if is_complete else "optional",
            to_participation="optional",
            origin="measured",
            confidence=_CONFIDENCE,
            evidence=ForeignKeyEvidence(
                origin="measured",
                rows=use.values,
                matched=use.known,
                orphans=use.values - use.known,
            ),
            reason=f"{use.known:,} of its {use.values:,} values are in {home.table} too.",
        )
