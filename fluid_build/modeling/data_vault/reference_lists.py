"""Which tables only explain codes: lists of codes, and calendars.

A code list has a short key and a column or two that explain it, and refers to nothing. A calendar
has a row for each day, week or month, or for each time of day, and parts of it as columns. Both are
the same for everybody, so they become reference tables: a hub holds what a business identifies,
and nobody has to find out what the third of May is.
"""

from collections.abc import Mapping, Set

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.data_vault.column_purposes import (
    is_bookkeeping,
    is_date,
    is_technical,
)
from fluid_build.modeling.data_vault.relating import is_translation, outward_references, subject
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import (
    is_core_concept,
    lists_codes,
    lists_languages,
    lists_types,
    names_hierarchy,
)
from fluid_build.modeling.types import family
from fluid_build.profiling.names.words import last_word, words
from fluid_build.profiling.profile import Profile
from fluid_build.text import counted

_MOST_CODES = 300
"""Rows of a list of text codes: countries, currencies and languages each fit with room to spare."""
_MOST_NUMBERED = 50
"""Rows of a list of numbered codes. A number says less than a text code that the list is closed,
so fewer rows are taken for one."""
_LONGEST_CODE = 10
"""Characters of a code. What is longer is a name."""
_LONGEST_SHORT_CODE = 5
"""Letters of what people write instead of a name: AFC, UEFA, EUR."""
_MOST_DESCRIPTIVE = 2
"""Columns that explain a code: a name and a description. With more, the table is an entity."""
_DATE_PARTS = terms("date", "day", "month", "quarter", "week", "year", "calendar_part")
_SHORTEST_GLUED = 4
"""Letters of a part that is looked for inside a word: ``dow`` would be met in ``download``."""
_FEWEST_PARTS = 2
"""Parts of a date next to the date itself: an event may have its year as well, but seldom two."""
_CALENDAR_SHARE = 0.5
"""Share of a calendar's columns that are dates or parts of them; a tournament has other columns."""


def calendars(tables: SourceTables) -> dict[str, str]:
    """Return the tables that are calendars, each with the sentence that says why.

    A calendar refers to nothing but other calendars, and by the parts of its dates to what has a
    row for each of them: the names of the weekdays, or totals by month.
    """
    reasons = {
        name: reason
        for name, entity in tables.entities.items()
        if (reason := _calendar_reason(tables, entity))
    }
    return {
        name: reason
        for name, reason in reasons.items()
        if all(
            r.to_entity in reasons or _is_by_date(tables.entities[name], r)
            for r in outward_references(tables, name)
        )
    }


def _is_by_date(entity: Entity, reference: Relationship) -> bool:
    """Return whether a reference is made of a date or of parts of one."""
    referring = map(entity.attribute, reference.from_attributes)
    return all(is_date(attribute) or _part(attribute, _DATE_PARTS) for attribute in referring)


def code_lists(profile: Profile, tables: SourceTables, links: Set[str]) -> Mapping[str, str]:
    """Return the tables that are code lists, each with the sentence that says why.

    ``links`` are the tables that only hold references. Their ends are hubs, except lists of types
    and statuses, which say something of the link's rows.
    """
    if not profile.has_data:
        return {}
    link_ends = {
        r.to_entity
        for name in links
        for r in tables.references[name]
        if not lists_types(tables, r.to_entity)
    }
    return {
        name: _code_list_reason(entity, tables)
        for name, entity in tables.entities.items()
        if name not in links | link_ends and _is_code_list(profile, tables, entity)
    }


def _calendar_reason(tables: SourceTables, entity: Entity) -> str:
    """Return why a table is a calendar, "" where it isn't.

    Match days have a date, a season and a week too, but most of their columns are about the match.
    """
    key = tables.identity(entity.name)
    if len(key) != 1 or not entity.rows or any(a.pii for a in entity.attributes):
        return ""
    dates = [a for a in entity.attributes if is_date(a)]
    has_days = any(date.evidence.distinct == entity.rows for date in dates)
    named = [_part(attribute, _DATE_PARTS) for attribute in entity.attributes]
    if not dates and all(named) and len(set(named)) >= _FEWEST_PARTS:
        return "The parts of a calendar and what they're called, the same for everybody."
    for noun, known, is_possible in (
        ("A calendar: each row is a period of time", _DATE_PARTS, has_days),
        ("The times of a day: each row is a time", terms("clock_part"), not dates),
    ):
        parts = [_part(attribute, known) for attribute in entity.attributes]
        of_time = len(dates) + sum(map(bool, parts))
        is_only_dates = all(is_date(a) or a.name in key for a in entity.attributes)
        has_parts = len(set(filter(None, parts))) >= _FEWEST_PARTS
        has_little_else = of_time >= _CALENDAR_SHARE * len(entity.attributes)
        if is_possible and (has_parts or is_only_dates) and has_little_else:
            return f"{noun}, the same for everybody."
    return ""


def _part(attribute: Attribute, known: Set[str]) -> str:
    """Return the part of a date or time that a column is named for, alone or glued to a word."""
    if is_date(attribute):
        return ""
    return next(
        (
            part
            for word in words(attribute.name)
            for part in sorted(known)
            if word == part or (len(part) >= _SHORTEST_GLUED and word.startswith(part))
        ),
        "",
    )


def _is_code_list(profile: Profile, tables: SourceTables, entity: Entity) -> bool:
    """Return whether a table is a short list of codes.

    Nobody's key contains its key, which would make it part of a relationship between hubs. Texts
    in several languages are no relationship with the list of languages.
    """
    key = tables.identity(entity.name)
    if len(key) != 1 or outward_references(tables, entity.name):
        return False
    for referrer in tables.referrers[entity.name]:
        is_part_of_key = set(referrer.from_attributes) & set(tables.identity(referrer.from_entity))
        is_language = lists_languages(tables, entity.name)
        if is_part_of_key and not (is_language and is_translation(tables, referrer.from_entity)):
            return False
        if referrer.to_attributes != key:
            return False
    explains = _explains_codes(profile, tables, entity, key)
    if not explains and not lists_languages(tables, entity.name):
        return False
    if not tables.referrers[entity.name] and not _is_list_by_itself(tables, entity, key):
        return False
    key_family = family(entity.attribute(key[0]).type)
    if key_family == "text":
        length = profile.table(entity.name).column(key[0]).max_length
        is_short = length is not None and length <= _LONGEST_CODE
        return is_short and 0 < entity.rows <= _MOST_CODES
    most = _MOST_CODES if lists_types(tables, entity.name) else _MOST_NUMBERED
    return key_family in {"integer", "decimal"} and 0 < entity.rows <= most


def _is_list_by_itself(tables: SourceTables, entity: Entity, key: tuple[str, ...]) -> bool:
    """Return whether a table is a list even though nothing refers to it.

    ``country_codes`` of a file of flat text is used by name. Forty projects with a title aren't.
    """
    if any(attribute.measure is not None for attribute in entity.attributes):
        return False
    if names_hierarchy([attribute.name for attribute in entity.attributes]):
        return False
    has_codes = any(
        family(a.type) == "text"
        and (a.name in key or last_word(a.name, terms("code", "abbreviation")))
        for a in entity.attributes
    )
    return has_codes or lists_codes(tables, entity.name)


def _is_short_code(profile: Profile, entity: Entity, attribute: Attribute) -> bool:
    """Return whether a column only spells what a row is in a few letters, such as AFC or UEFA."""
    column = profile.table(entity.name).column(attribute.name)
    length = column.max_length
    is_code = bool(last_word(attribute.name, terms("code", "abbreviation")))
    is_short = length is not None and 0 < length <= _LONGEST_SHORT_CODE
    return family(attribute.type) == "text" and is_code and is_short


def _explains_codes(
    profile: Profile, tables: SourceTables, entity: Entity, key: tuple[str, ...]
) -> bool:
    """Return whether a table has little more than names for codes: no dates, no life of its own."""
    descriptive = [
        a
        for a in entity.attributes
        if a.name not in key
        and not is_technical(a)
        and not is_bookkeeping(a)
        and not _is_short_code(profile, entity, a)
    ]
    most = 1 if is_core_concept(tables, entity.name) else _MOST_DESCRIPTIVE
    if not 1 <= len(descriptive) <= most or any(a.pii or is_date(a) for a in descriptive):
        return False
    return any(family(a.type) == "text" for a in descriptive)


def _code_list_reason(entity: Entity, tables: SourceTables) -> str:
    users = dict.fromkeys(r.from_entity for r in tables.referrers[entity.name])
    used = f"{subject(users, 'refers', 'refer')} to it" if users else "Nothing refers to it"
    return (
        f"A code list of {counted(entity.rows, 'row')}: a short key and its meaning."
        f" {used}, and it refers to nothing."
    )
