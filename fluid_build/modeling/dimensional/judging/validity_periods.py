"""Periods between two dates of a row: how long the row applies, or what it tells of lasts."""

import re
from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_date
from fluid_build.profiling.names.words import words

_VALIDITY_STARTS = frozenset("begin dal desde effective from od since start von".split())
_VALIDITY_ENDS = frozenset(
    "al bis do expiration expire expires expiry hasta through thru till to until".split()
)
"""Words for the first and the last day on which a row applies, in the languages of Europe."""
_PERIOD_STARTS = frozenset("begin begins debut inicio inizio rozpoczecia start starts".split())
_PERIOD_ENDS = frozenset("end ends fin fine finish stop zakonczenia".split())
"""Words for the end of a validity, but of an event too: only in a history are they the former."""
_VALIDITY_WORDS = frozenset("effective rec record valid validity version".split())
_GLUED_MOMENT = re.compile("(datetime|timestamp|date|time|day|dt)$")
"""A word for days and times at the end of another word, or by itself."""
_HISTORY_NAME = re.compile("(^|_)hist(_|$)|histor(y|ies|ic|ia|ial|ique)(_|$)|historie")
"""What the names of tables say that keep the past of something, glued or not."""


def is_period(dates: Sequence[Attribute]) -> bool:
    """Return whether dates are the first and the last day of something that lasts."""
    names = [set(words(date.name)) for date in dates]
    starts = any(name & (_VALIDITY_STARTS | _PERIOD_STARTS) for name in names)
    return starts and any(name & (_VALIDITY_ENDS | _PERIOD_ENDS) for name in names)


def validity_start(end: Attribute, entity: Entity) -> Attribute | None:
    """Return the date from which a row applies if another date says until when; else None.

    The end of an event isn't meant: that happens, too.
    """
    parts = _period_words(end)
    is_history = _HISTORY_NAME.search("_".join(words(entity.name))) is not None
    if not (parts & (_VALIDITY_ENDS | _VALIDITY_WORDS) or is_history):
        return None
    return period_start(end, entity)


def period_start(end: Attribute, entity: Entity) -> Attribute | None:
    """Return the date on which a period starts that ends on another date; else None."""
    parts = _period_words(end)
    ends = parts & (_VALIDITY_ENDS | _PERIOD_ENDS)
    if not ends:
        return None
    for start in filter(is_date, entity.attributes):
        start_parts = _period_words(start)
        starts = start_parts & _VALIDITY_STARTS
        if starts and start_parts - starts == parts - ends:
            return start
    return None


def _period_words(date: Attribute) -> set[str]:
    """Return the words of a date's name without those for days, glued ones too: ``enddate``."""
    return {_GLUED_MOMENT.sub("", word) for word in words(date.name)} - {""}
