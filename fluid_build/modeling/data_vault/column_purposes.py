"""What a column is for, as far as the rules of a vault ask: a name, a date, record keeping."""

import re
from collections.abc import Collection

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.types import family
from fluid_build.profiling.names.naming_words import NAME_WORDS, naming_word
from fluid_build.profiling.names.words import last_word, words

_NAMING_TYPES = frozenset({"person_name", "company_name", "username"})
_DISTINCTIVE_SHARE = 0.5
"""Share of distinct values from which on a column names rows rather than groups of them. Names of
people repeat, so not all values need be distinct."""
_DATE_SUFFIX = re.compile(r"(?<=.)(?:date(?:time)?|dt|dtm|time|ts)$")
"""Endings of words such as ``startdate``, in which the word before isn't set apart."""
_VERB = r"""
    (?:ch(?:an)?g|creat|crtd?|edit|ins(?:ert)?|load|mod(?:if)?|refresh|sync|touch|upd(?:at|t)?)
    (?:e|ed|ied|y|ion)?
"""
_WHEN = r"(?:at|date|datetime|dt|on|stamp|time|timestamp|ts|utc)*"
_WRITTEN = re.compile(rf"(?:row|record|last)?{_VERB}{_WHEN}", re.VERBOSE)
"""Names such as ``last_update``, ``modified_on`` and ``row_created_at``, without their
separators. The whole name must match, since ``update_due_date`` says when something is due."""
_CREATED = re.compile(rf"(?:row|record)?(?:creat|crtd?|ins(?:ert)?|load)(?:e|ed|ion)?{_WHEN}")


def is_naming(attribute: Attribute) -> bool:
    """Return whether an attribute holds names, which entities have and events don't."""
    if attribute.semantic_type in _NAMING_TYPES:
        return True
    return bool(naming_word(attribute.name)) and attribute.type != "boolean"


def is_called_name(attribute: Attribute) -> bool:
    """Return whether an attribute is called a name; a title may be given to several works."""
    return naming_word(attribute.name) in NAME_WORDS


def is_technical(attribute: Attribute) -> bool:
    """Return whether an attribute is about the row as a record: a UUID, or when it was written."""
    if attribute.type == "uuid" or attribute.semantic_type == "uuid":
        return True
    return is_date(attribute) and bool(_WRITTEN.fullmatch(_squashed(attribute)))


def is_change_stamp(attribute: Attribute) -> bool:
    """Return whether an attribute is the time of the last change, which every change updates.

    ``modified_at`` dates no event: it's another day after the next correction.
    """
    squashed = _squashed(attribute)
    return (
        is_date(attribute)
        and bool(_WRITTEN.fullmatch(squashed))
        and not _CREATED.fullmatch(squashed)
    )


def names_writer(column: str) -> bool:
    """Return whether a column says who wrote a row, by which nobody groups rows."""
    name_words = set(words(column))
    return bool(name_words & terms("writing") and name_words & terms("author_mark"))


def is_event_date(attribute: Attribute) -> bool:
    """Return whether an attribute says when something happened."""
    return is_date(attribute) and not is_change_stamp(attribute)


def is_date(attribute: Attribute) -> bool:
    """Return whether an attribute holds days, with or without a time."""
    return family(attribute.type) in {"date", "timestamp"}


def _squashed(attribute: Attribute) -> str:
    return "".join(words(attribute.name))


def is_bookkeeping(attribute: Attribute) -> bool:
    """Return whether an attribute says how a row of a list is shown: in which place, if at all."""
    if attribute.type == "boolean":
        return True
    return family(attribute.type) != "text" and bool(
        terms("bookkeeping") & set(words(attribute.name))
    )


def is_distinctive(attribute: Attribute) -> bool:
    """Return whether most rows have a value of their own; assumed where no row was seen."""
    evidence = attribute.evidence
    filled, distinct = evidence.rows - evidence.nulls, evidence.distinct
    return distinct is None or distinct >= _DISTINCTIVE_SHARE * filled


def is_status(attribute: Attribute) -> bool:
    """Return whether an attribute says how far a process has come; it changes on the way."""
    if family(attribute.type) not in {"text", "integer", "boolean"} or attribute.pii:
        return False
    if (attribute.evidence.distinct or 2) < 2:
        return False
    word = last_word(attribute.name, terms("status"))
    if word == "state":
        # A state of a country isn't a state of a process.
        name_words = words(attribute.name)
        return len(name_words) > 1 and not terms("state_of_place") & set(name_words)
    return bool(word)


def is_period(attributes: Collection[Attribute]) -> bool:
    """Return whether attributes say from when to when something holds."""
    return any(map(is_begin, attributes)) and any(map(is_end, attributes))


def is_validity(attributes: Collection[Attribute]) -> bool:
    """Return whether attributes bound a period that is ended by an update: a price's, a post's.

    Its name says that it's valid, or rows show an open end. When something stopped that began, or
    which month a bill is for, is known with the row.
    """
    ends = list(filter(is_end, attributes))
    bounds = [*ends, *filter(is_begin, attributes)]
    is_called = any(terms("validity") & _date_words(bound) for bound in bounds)
    return is_period(attributes) and (is_called or any(end.evidence.nulls for end in ends))


def is_valid_from(attribute: Attribute) -> bool:
    """Return whether an attribute says from when a row holds, until another one does."""
    since = terms("since", "effective", "from_word", "validity")
    return bool(since & _date_words(attribute)) and not is_end(attribute)


def is_begin(attribute: Attribute) -> bool:
    """Return whether an attribute says from when something holds or lasts."""
    return bool(terms("begin_mark") & _date_words(attribute))


def is_end(attribute: Attribute) -> bool:
    """Return whether an attribute says until when something holds or lasts."""
    return bool(terms("end", "until") & _date_words(attribute))


def _date_words(attribute: Attribute) -> set[str]:
    """Return the words of a date's name without glued ones for days; none where it's no date."""
    if not is_date(attribute):
        return set()
    return {_DATE_SUFFIX.sub("", word) for word in words(attribute.name)}
