"""What a column is for: a date of the event or of the record, a name, a flag, plain text.

Names rank and the data vetoes. The word lists are general English of databases.
"""

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.measures import is_code, is_quantity
from fluid_build.modeling.types import family
from fluid_build.profiling.names import KEY_WORDS, singular, words

_RECORD = ("audit", "creat", "crtd", "etl", "ingest", "insert", "load", "modif", "sync", "updat")
"""Word parts of the columns that say when a record was written, not when something happened."""
_LIFE = frozenset(
    """
    birth birthdate born dob death died expire expires expiration expiry founded hire hired
    hiredate hiring join joined launch launched opened pubdate published registered registration
    release released since
    """.split()
)
_PLANNED = ("commit", "due", "estimat", "expect", "plan", "promis", "requir", "schedul", "target")
"""How words begin that say that a date was foreseen, and is not the day of the event."""
_NAMING = ("name", "title", "label")
_DESCRIBING = ("desc", "description")
_REMARKS = frozenset("comment comments note notes remark remarks text memo".split())
_OF_PERSONS = frozenset({"person_name", "username", "email"})
_OF_ANYTHING = frozenset(
    """
    address display email emailaddress family first firstname full fullname given last lastname
    legal mail middle official short sur user username
    """.split()
)
"""Words that say which of its names a thing is called by."""
_NAMED_BY_ROWS = 0.5
_MOST_FLAG_VALUES = 25
_FLAG_SHARE = 0.2
_LARGEST_SHARE = 100


def kind(attribute: Attribute) -> str:
    """The family of the attribute's type."""
    return family(attribute.type)


def is_date(attribute: Attribute) -> bool:
    """Whether an attribute holds days, with or without a time."""
    return kind(attribute) in {"date", "timestamp"}


def is_record_stamp(attribute: Attribute) -> bool:
    """Whether a column is about the record: when it was written, or its technical id."""
    if attribute.semantic_type == "uuid" or attribute.type == "uuid":
        return True
    return is_date(attribute) and any(
        part in word for word in words(attribute.name) for part in _RECORD
    )


def is_life_date(attribute: Attribute) -> bool:
    """Whether a date belongs to a person or thing, such as a birth, and is no event to count."""
    if not is_date(attribute):
        return False
    return attribute.semantic_type == "date_of_birth" or bool(_LIFE & set(words(attribute.name)))


def event_dates(entity: Entity) -> tuple[Attribute, ...]:
    """The dates on which what a row tells of happened.

    When the record was written counts where nothing else is dated.
    """
    dates = [one for one in entity.attributes if is_date(one) and not _is_empty(one)]
    events = [one for one in dates if not is_record_stamp(one) and not is_life_date(one)]
    if events:
        return tuple(events)
    return tuple(one for one in dates if _is_creation(one) and _varies(one, entity))


def is_planned(attribute: Attribute) -> bool:
    """Whether a date says when something should happen."""
    return any(word.startswith(_PLANNED) for word in words(attribute.name))


def is_naming(attribute: Attribute) -> bool:
    """Whether a column's name says that it holds the name of something."""
    if kind(attribute) != "text" or _REMARKS & set(words(attribute.name)):
        return False
    if attribute.semantic_type in _OF_PERSONS:
        return True
    return _last(attribute).endswith((*_NAMING, *_DESCRIBING))


def is_own_name(attribute: Attribute, entity: Entity) -> bool:
    """Whether a column names the entity itself, and not something that it has to do with."""
    if not is_naming(attribute):
        return False
    said = {singular(word) for word in words(attribute.name)}
    own = {singular(word) for word in words(entity.name.rsplit(".", 1)[-1])}
    left = said - own - _OF_ANYTHING - {*_NAMING, *_DESCRIBING}
    return not any(len(word) > 1 for word in left)


def is_person(entity: Entity) -> bool:
    """Whether an entity's rows are people, by what their names look like."""
    return any(one.semantic_type == "person_name" for one in entity.attributes)


def is_distinctive(attribute: Attribute, entity: Entity) -> bool:
    """Whether (nearly) each row has its own value; taken for granted where no row was seen."""
    filled = attribute.evidence.rows - attribute.evidence.nulls
    distinct = attribute.evidence.distinct
    if distinct is None or not filled:
        return entity.rows == 0
    return distinct >= _NAMED_BY_ROWS * filled


def is_flag(attribute: Attribute) -> bool:
    """Whether a column holds one of a few codes, that says of which kind a row is."""
    if attribute.pii or attribute.measure is not None or is_date(attribute):
        return False
    family_ = kind(attribute)
    if family_ == "boolean":
        return True
    if family_ not in {"text", "integer"}:
        return False
    distinct, rows = attribute.evidence.distinct, attribute.evidence.rows
    if distinct is None or not 0 < distinct <= _MOST_FLAG_VALUES:
        return False
    if attribute.accepted_values:
        return True
    return is_code(attribute.name) and distinct <= max(2, _FLAG_SHARE * rows)


def has_few_values(attribute: Attribute) -> bool:
    """Whether a column holds no more values than one reads at a glance, each of them often."""
    distinct, rows = attribute.evidence.distinct, attribute.evidence.rows
    if attribute.measure is not None or distinct is None:
        return False
    return distinct <= min(_MOST_FLAG_VALUES, _FLAG_SHARE * rows)


def is_category(attribute: Attribute) -> bool:
    """Whether facts may be grouped by a column: its values repeat, and there are several."""
    if attribute.pii or attribute.measure is not None or is_date(attribute):
        return False
    if kind(attribute) not in {"text", "integer", "boolean"}:
        return False
    filled = attribute.evidence.rows - attribute.evidence.nulls
    distinct = attribute.evidence.distinct or 0
    return 1 < distinct <= _FLAG_SHARE * filled


def is_descriptive(attribute: Attribute) -> bool:
    """Whether a column tells something of its row, beyond keys, measures and record keeping."""
    return attribute.measure is None and not is_record_stamp(attribute)


def is_weak_measure(attribute: Attribute, low: float, high: float) -> bool:
    """Whether a number may as well be a rank or a percentage: whole, and within a hundred."""
    if attribute.measure is None or attribute.measure.additivity == "semi-additive":
        return False
    if is_quantity(attribute.name):
        return False
    return kind(attribute) == "integer" and 0 <= low <= high <= _LARGEST_SHARE


def is_numbering(attribute: Attribute) -> bool:
    """Whether a column's name says that it numbers or identifies."""
    parts = words(attribute.name)
    return bool(parts) and (
        parts[-1] in KEY_WORDS or parts[-1].endswith(("number", "num")) or is_code(attribute.name)
    )


def is_calendar(entity: Entity) -> bool:
    """Whether an entity is a calendar: each row one day, and columns for the parts of a date."""
    parts = {"year", "month", "quarter", "week", "day", "dow", "moy", "qoy", "doy", "dom"}
    days = [
        one
        for one in entity.attributes
        if one.type == "date" and (entity.rows == 0 or one.evidence.distinct == entity.rows)
    ]
    named = {
        part
        for one in entity.attributes
        for word in words(one.name)
        for part in parts
        if word.startswith(part) or word.endswith(part)
    }
    return bool(days) and len(named) >= 3


def _is_creation(attribute: Attribute) -> bool:
    return any(part in word for word in words(attribute.name) for part in ("creat", "crtd"))


def _varies(attribute: Attribute, entity: Entity) -> bool:
    return entity.rows == 0 or (attribute.evidence.distinct or 0) > 1


def _is_empty(attribute: Attribute) -> bool:
    rows = attribute.evidence.rows
    return rows > 0 and attribute.evidence.nulls == rows


def _last(attribute: Attribute) -> str:
    parts = words(attribute.name)
    return parts[-1] if parts else ""
