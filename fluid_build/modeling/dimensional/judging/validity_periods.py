"""Periods between two dates of a row: how long the row applies, or what it tells of lasts."""

from collections.abc import Sequence

from fluid_build.lexicon import ends, terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_date
from fluid_build.profiling.names.words import without_ending, words

_STARTS = terms("start", "since", "from_word")
_ENDS = terms("end", "until")


def is_period(dates: Sequence[Attribute]) -> bool:
    """Return whether dates are the first and the last day of something that lasts."""
    names = [set(words(date.name)) for date in dates]
    starts = any(name & terms("begin_mark") for name in names)
    return starts and any(name & _ENDS for name in names)


def validity_start(end: Attribute, entity: Entity) -> Attribute | None:
    """Return the date from which a row applies if another date says until when; else None.

    The end of an event isn't meant: that happens, too.
    """
    parts = _period_words(end)
    if not (parts & terms("until", "validity") or _is_history(entity)):
        return None
    return period_start(end, entity)


def period_start(end: Attribute, entity: Entity) -> Attribute | None:
    """Return the date on which a period starts that ends on another date; else None."""
    parts = _period_words(end)
    last = parts & _ENDS
    if not last:
        return None
    for start in filter(is_date, entity.attributes):
        start_parts = _period_words(start)
        # A date that is effective is a start by itself, but not one that is effective from then.
        first = start_parts & _STARTS or start_parts & terms("effective")
        if first and start_parts - first == parts - last:
            return start
    return None


def _period_words(date: Attribute) -> set[str]:
    """Return the words of a date's name without those for days, glued ones too: ``enddate``."""
    moments = ends("date", "day", "moment")
    return {without_ending(word, moments) for word in words(date.name)} - {""}


def _is_history(entity: Entity) -> bool:
    """Return whether a table is named for keeping the past of something, glued or not."""
    parts = words(entity.name)
    return any(word in terms("history") or word.endswith(ends("history")) for word in parts)
