"""What a column is for: a date of the event or of the record, a name, a flag, plain text.

Names suggest and the data has a veto. The word lists are general English of databases.
"""

from fluid_build.lexicon import Concept, ends, infixes, loose_terms, starts, terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.measures import is_category_name, is_quantity_name
from fluid_build.modeling.types import family
from fluid_build.profiling.names.habits import common_prefix_words
from fluid_build.profiling.names.naming_words import (
    NAME_WORDS,
    TITLE_WORDS,
    are_forms,
    names_people,
    naming_word,
)
from fluid_build.profiling.names.words import singular, words

_GLUED_KEYS = ("id", "key")
_OF_PERSONS = frozenset({"person_name", "username", "email"})
_DISTINCTIVE_SHARE = 0.5
"""Share of distinct values from which on a column names rows rather than groups of them. Names of
people repeat, so not all values need be distinct."""
_MOST_FLAG_VALUES = 25
"""Values that a person still reads at a glance, as many as accepted values of a contract."""
_MOST_STATES = 8
"""Values of a column called state that say how far a row has come, rather than where it is."""
_GROUPING_SHARE = 0.2
"""Share of distinct values up to which values repeat often enough (five rows each) to group by."""
_LARGEST_PERCENTAGE = 100
_CALENDAR_PARTS: tuple[Concept, ...] = ("year", "month", "quarter", "week", "day")
_DAY_PARTS = frozenset({"day", "dow", "doy", "dom"})
_FEWEST_CALENDAR_PARTS = 3
"""Parts of a date that make a table a calendar: an event often has a year and a month too."""


def kind(attribute: Attribute) -> str:
    """Return the family of the attribute's type."""
    return family(attribute.type)


def is_date(attribute: Attribute) -> bool:
    """Return whether an attribute holds days, with or without a time."""
    return kind(attribute) in {"date", "timestamp"}


def is_month(attribute: Attribute) -> bool:
    """Return whether a date is written as a month, and stands for its first day."""
    conversion = attribute.conversion
    return conversion is not None and conversion.format.lower().endswith("%m")


def is_of_period(attribute: Attribute) -> bool:
    """Return whether a date bounds a period that a row covers, such as that of a bill."""
    return is_date(attribute) and bool(terms("period") & set(words(attribute.name)))


def is_record_stamp(attribute: Attribute) -> bool:
    """Return whether a column is about the record: when it was written, or its technical id."""
    if attribute.semantic_type == "uuid" or attribute.type == "uuid":
        return True
    if not is_date(attribute):
        return False
    return _is_about_record(attribute) or is_remark(attribute)


def names_record_author(attribute: Attribute) -> bool:
    """Return whether a column's name says that it holds who wrote or changed the record."""
    if is_date(attribute) or attribute.measure is not None or kind(attribute) == "boolean":
        return False
    parts = words(attribute.name)
    is_person = parts[-1:] == ("creator",) or bool(terms("author_mark") & set(parts))
    return is_person and _is_about_record(attribute)


def is_life_date(attribute: Attribute) -> bool:
    """Return whether a date belongs to a person or product, such as a birth, and is no event."""
    if not is_date(attribute):
        return False
    return attribute.semantic_type == "date_of_birth" or bool(
        terms("life") & set(words(attribute.name))
    )


def event_dates(entity: Entity) -> tuple[Attribute, ...]:
    """Return the dates on which the event of a row happened.

    The date when the record was created counts only where the entity has no other, or where it's
    one part of the key.
    """
    dates = [a for a in entity.attributes if is_date(a) and not _is_empty(a)]
    events = [
        date
        for date in dates
        if tells_rows_apart(entity, date) or not (is_record_stamp(date) or is_life_date(date))
    ]
    if events:
        return tuple(events)
    return tuple(date for date in dates if is_creation(date) and _varies(date, entity))


def is_creation(attribute: Attribute) -> bool:
    """Return whether a date says when a record was created."""
    return is_date(attribute) and _says(attribute, "creation")


def is_status(attribute: Attribute) -> bool:
    """Return whether a column says how far a row has come, by the last word of its name."""
    parts = words(attribute.name)
    distinct = attribute.evidence.distinct or 2
    if kind(attribute) not in {"text", "integer"} or distinct <= 1 or not parts:
        return False
    # The states of a country are more than those of an issue.
    is_of_country = attribute.semantic_type is not None or distinct > _MOST_STATES
    return parts[-1] in terms("status") and not (parts[-1] == "state" and is_of_country)


def tells_rows_apart(entity: Entity, date: Attribute) -> bool:
    """Return whether a date is a part of the key, whatever its name says.

    Balances by customer and ``updated_at`` are of that day: the next one is another row.
    """
    key = entity.primary_key
    return key is not None and key.holds and len(key.attributes) > 1 and date.name in key.attributes


def calendar_day(entity: Entity) -> Attribute | None:
    """Return the attribute of a calendar of the source that holds the day; None without one."""
    days = [
        attribute
        for attribute in entity.attributes
        # A row for "no date" has no day.
        if is_date(attribute) and (attribute.evidence.distinct or 0) >= entity.rows - 1
    ]
    return min(days, key=lambda day: (day.type != "date", day.evidence.nulls), default=None)


def is_date_of_row(attribute: Attribute, entity: Entity) -> bool:
    """Return whether a date is simply that of the row: ``match_date`` of a match, or ``date``."""
    row_words = {singular(word) for word in words(entity.name.rsplit(".", 1)[-1])}
    date_words = {singular(word) for word in words(attribute.name)}
    plain = loose_terms("date", "day", "moment")
    return is_date(attribute) and bool(date_words & plain) and date_words <= plain | row_words


def is_planned(attribute: Attribute) -> bool:
    """Return whether a date says when something should happen."""
    return any(word.startswith(starts("planned")) for word in words(attribute.name))


def is_naming(attribute: Attribute) -> bool:
    """Return whether a column's name says that it holds the name of something."""
    if kind(attribute) != "text" or is_remark(attribute):
        return False
    if attribute.semantic_type in _OF_PERSONS:
        return True
    return bool(naming_word(attribute.name)) or _describes(attribute)


def is_describing(attribute: Attribute) -> bool:
    """Return whether a column's name says that it holds a description rather than a name."""
    return _describes(attribute) or naming_word(attribute.name) in terms("describing_label")


def is_own_name(attribute: Attribute, entity: Entity) -> bool:
    """Return whether a column names the entity itself, and not something that it refers to."""
    if not is_naming(attribute):
        return False
    columns = [a.name for a in entity.attributes if words(a.name)[:1] != ("fk",)]
    own = words(attribute.name)[common_prefix_words(columns) :]
    entity_words = {singular(word) for word in words(entity.name.rsplit(".", 1)[-1])}
    general_words = NAME_WORDS | TITLE_WORDS | terms("name_part", "description", "preposition")
    # A single letter is a prefix of the table's columns: o_name.
    foreign_words = {
        word for word in {singular(word) for word in own} - general_words if len(word) > 1
    }
    return all(any(are_forms(word, noun) for noun in entity_words) for word in foreign_words)


def is_state_date(attribute: Attribute) -> bool:
    """Return whether a date is the first or the latest of many events that a member had."""
    return bool(terms("one_of_many") & set(words(attribute.name)))


def period_words(attribute: Attribute) -> frozenset[str]:
    """Return the words of a column that isn't a date which say the year or month of a row."""
    is_number = kind(attribute) in {"integer", "text"}
    return loose_terms("period_word") & set(words(attribute.name)) if is_number else frozenset()


def is_identifier(attribute: Attribute) -> bool:
    """Return whether a column's name says that it identifies something."""
    parts = words(attribute.name)
    if not parts or kind(attribute) not in {"integer", "text"}:
        return False
    if parts[-1] in terms("number"):
        return len(parts) > 1 and not terms("numbered_line") & set(parts)
    return (
        parts[-1] in terms("key_word")
        or parts[0] in terms("key_word")
        or parts[-1].endswith(_GLUED_KEYS)
    )


def is_person(entity: Entity) -> bool:
    """Return whether an entity's rows are people, by what their names look like or are called."""
    names = [a.name for a in entity.attributes if is_own_name(a, entity)]
    return names_people(names) or any(
        attribute.semantic_type == "person_name" for attribute in entity.attributes
    )


def is_distinctive(attribute: Attribute, entity: Entity) -> bool:
    """Return whether most rows have a value of their own; assumed where no row was seen."""
    filled = attribute.evidence.rows - attribute.evidence.nulls
    distinct = attribute.evidence.distinct
    if distinct is None or not filled:
        return entity.rows == 0
    return distinct >= _DISTINCTIVE_SHARE * filled


def is_flag(attribute: Attribute) -> bool:
    """Return whether a column holds one of a few codes that say which sort of row it is."""
    if attribute.pii or attribute.measure is not None or is_date(attribute):
        return False
    if kind(attribute) == "boolean":
        return True
    if kind(attribute) not in {"text", "integer"}:
        return False
    distinct, rows = attribute.evidence.distinct, attribute.evidence.rows
    if distinct is None or not 0 < distinct <= _MOST_FLAG_VALUES:
        return False
    if attribute.accepted_values:
        return True
    # Two values are a flag in a table of any size.
    return is_category_name(attribute.name) and distinct <= max(2, _GROUPING_SHARE * rows)


def has_few_values(attribute: Attribute) -> bool:
    """Return whether a column has so few values that each of them occurs often."""
    distinct, rows = attribute.evidence.distinct, attribute.evidence.rows
    if attribute.measure is not None or distinct is None:
        return False
    return distinct <= min(_MOST_FLAG_VALUES, _GROUPING_SHARE * rows)


def is_category(attribute: Attribute) -> bool:
    """Return whether facts can be grouped by a column: it has several values, and they repeat.

    A department of 300 employees does; a license plate of each doesn't.
    """
    if attribute.pii or attribute.measure is not None or is_date(attribute):
        return False
    if kind(attribute) not in {"text", "integer", "boolean"}:
        return False
    filled = attribute.evidence.rows - attribute.evidence.nulls
    distinct = attribute.evidence.distinct or 0
    return 1 < distinct <= _GROUPING_SHARE * filled


def is_descriptive(attribute: Attribute) -> bool:
    """Return whether a column says something about its row besides measures and record keeping."""
    return attribute.measure is None and not is_record_stamp(attribute)


def is_weak_measure(attribute: Attribute, low: float, high: float) -> bool:
    """Return whether a number may as well be a rank or a percentage: whole, and 0 to 100."""
    if attribute.measure is None or attribute.measure.additivity == "semi-additive":
        return False
    if is_quantity_name(attribute.name):
        return False
    return kind(attribute) == "integer" and 0 <= low <= high <= _LARGEST_PERCENTAGE


def is_numbering(attribute: Attribute) -> bool:
    """Return whether a column's name says that it numbers or identifies."""
    parts = words(attribute.name)
    return bool(parts) and (
        parts[-1] in terms("key_word")
        or parts[-1].endswith(("number", "num"))
        or is_category_name(attribute.name)
    )


def is_share(attribute: Attribute, low: float, high: float) -> bool:
    """Return whether a number is a share of a whole, by its name and bounds: to 1, or to 100.

    Every word of the name must say so, since a percentage of discount isn't a share.
    """
    parts = {singular(word) for word in words(attribute.name)}
    if not parts or kind(attribute) not in {"integer", "decimal", "float"}:
        return False
    is_weight = parts <= terms("share", "weighting") and high <= 1
    return (parts <= terms("share") or is_weight) and 0 <= low <= high <= _LARGEST_PERCENTAGE


def is_remark(attribute: Attribute) -> bool:
    """Return whether a column holds what somebody noted."""
    return bool(terms("remark") & set(words(attribute.name)))


def is_calendar(entity: Entity) -> bool:
    """Return whether an entity is a calendar: one row a day, and columns for parts of a date.

    A column of days says so. A timestamp or a numbered day may be an event's too, unless most
    columns are parts of a date.
    """
    part_columns = [a for a in entity.attributes if is_date(a) or _calendar_parts(a)]
    parts = {part for attribute in entity.attributes for part in _calendar_parts(attribute)}
    if len(parts) < _FEWEST_CALENDAR_PARTS:
        return False
    has_days = any(
        attribute.type == "date"
        and (entity.rows == 0 or attribute.evidence.distinct == entity.rows)
        for attribute in entity.attributes
    )
    primary = entity.primary_key
    is_numbered = primary is not None and primary.holds and len(primary.attributes) == 1
    measures = sum(attribute.measure is not None for attribute in entity.attributes)
    is_all_parts = 2 * len(part_columns) > len(entity.attributes) and not measures
    has_dates = any(map(is_date, entity.attributes))
    is_daily = bool(parts & _DAY_PARTS) and (calendar_day(entity) is not None or not has_dates)
    return has_days or (is_numbered and is_all_parts and is_daily)


def _calendar_parts(attribute: Attribute) -> set[str]:
    """Return the parts of a date that a column's name speaks of."""
    parts = set(words(attribute.name))
    spoken = {
        part
        for part in _CALENDAR_PARTS
        for word in parts
        if word in terms(part) or word.startswith(starts(part)) or word.endswith(ends(part))
    }
    return spoken | parts & terms("calendar_part")


def _is_about_record(attribute: Attribute) -> bool:
    if _says(attribute, "creation", "changed"):
        return True
    # What loads rows stamps each of them: a ship that isn't loaded yet is no record.
    is_reached = is_date(attribute) and 0 < attribute.evidence.nulls < attribute.evidence.rows
    return _says(attribute, "created") and not is_reached


def _says(attribute: Attribute, *concepts: Concept) -> bool:
    """Return whether a word of a column begins like one of the concepts, or has it inside."""
    return any(
        word.startswith(starts(*concepts)) or any(part in word for part in infixes(*concepts))
        for word in words(attribute.name)
    )


def _varies(attribute: Attribute, entity: Entity) -> bool:
    return entity.rows == 0 or (attribute.evidence.distinct or 0) > 1


def _is_empty(attribute: Attribute) -> bool:
    rows = attribute.evidence.rows
    return rows > 0 and attribute.evidence.nulls == rows


def _describes(attribute: Attribute) -> bool:
    parts = words(attribute.name)
    is_glued = attribute.name.lower().endswith(ends("description"))
    return is_glued or (bool(parts) and parts[-1] in terms("description"))
