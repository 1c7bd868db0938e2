"""Dates that conform to a calendar of the source, so that facts have one calendar and not two.

A business calendar knows fiscal periods and days on which nobody works, which a generated one
doesn't. It stands for a date if it has a row for every day from the date's first to its last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.lexicon import loose_terms
from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import calendar_day
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph
from fluid_build.profiling.names.words import strip_key_words, words


@dataclass(frozen=True, slots=True)
class ConformedDate:
    """The calendar that a date conforms to, which of its attributes holds the day, and why."""

    calendar: str
    day: str
    reason: str


def calendar_references(graph: ReferenceGraph, entity: Entity) -> list[Relationship]:
    """Return the references by which an event leads to a day in a calendar of the source."""
    return [parent for parent in graph.parents[entity.name] if parent.to_entity in graph.calendars]


def days_of_event(
    graph: ReferenceGraph, entity: Entity, dates: Sequence[Attribute]
) -> tuple[Attribute, ...]:
    """Return what says on which days an event happened: keys of calendars, and its ``dates``.

    A date that is named like a key says the same day again (``OrderDate``, ``OrderDateKey``).
    """
    keys = [
        entity.attribute(name)
        for reference in calendar_references(graph, entity)
        for name in reference.from_attributes
    ]
    named = [_what_happened(key) for key in keys]
    days = {key.name for key in keys} | {
        date.name for date in dates if _what_happened(date) not in named
    }
    return tuple(attribute for attribute in entity.attributes if attribute.name in days)


def _what_happened(day: Attribute) -> frozenset[str]:
    """Return the words of a day's name without those for a key or a date: ``{"order"}``."""
    said_of_any = loose_terms("date", "day", "moment", "moment_mark")
    return frozenset(strip_key_words(words(day.name))) - said_of_any


def conformed_date(graph: ReferenceGraph, entity: Entity, date: Attribute) -> ConformedDate | None:
    """Return the calendar that has every day of a date; None where none has.

    The one that a date refers to goes before the others, and then the one that most refer to.
    """
    for parent in calendar_references(graph, entity):
        if parent.from_attributes == (date.name,):
            return ConformedDate(parent.to_entity, parent.to_attributes[0], parent.reason)
    span = graph.spans.get((entity.name, date.name))
    if span is None:
        return None
    covering = [
        day
        for day in _listed_days(graph)
        if graph.spans[day.calendar, day.day][0] <= span[0]
        and span[1] <= graph.spans[day.calendar, day.day][1]
    ]
    return max(covering, key=lambda day: len(graph.children[day.calendar]), default=None)


def _listed_days(graph: ReferenceGraph) -> Iterator[ConformedDate]:
    """Return the calendars that have each day from their first to their last, once."""
    for name, entity in graph.entities.items():
        day = calendar_day(entity) if name in graph.calendars else None
        span = graph.spans.get((name, day.name)) if day is not None else None
        if day is None or span is None or not graph.is_unique(name, (day.name,)):
            continue
        if day.evidence.exact and day.evidence.distinct == (span[1] - span[0]).days + 1:
            reason = f"{name}.{day.name} has each day from its first to its last."
            yield ConformedDate(name, day.name, reason)
