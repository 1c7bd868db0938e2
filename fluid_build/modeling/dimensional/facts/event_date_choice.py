"""The date of a fact's event, which decides the version of each member that the event meets.

The date is one of the fact's own: of its columns, or of the day that a key of it leads to in a
calendar of the source. A line without a date has its header's. It's never a date of another
dimension: when a promotion started says nothing about when something was sold.

What happened goes before what was planned, and that before when the record was written. Only where
no row is sure to have happened, such as a flight that may be cancelled, the plan dates all of them.
Of several dates on which something happened that every row has, it's the one that is named after
the row (an interview's ``interview_date``, though it was invited to before), or else the one that
comes first: the event begins with it. The period that a bill covers is none of them if the bill has
a date.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fluid_build.errors import UsageError, unknown_name
from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.dimensional.calendars.conformed_dates import calendar_references
from fluid_build.modeling.dimensional.column_purposes import (
    calendar_day,
    is_date,
    is_date_of_row,
    is_month,
    is_of_period,
    is_planned,
    is_record_stamp,
    tells_rows_apart,
)
from fluid_build.modeling.dimensional.judging.date_roles import DateRoles, precedes
from fluid_build.modeling.dimensional.judging.reference_graph import (
    AttributeNames,
    ReferenceGraph,
    is_mandatory,
)
from fluid_build.text import did_you_mean, listed

_REQUESTED, _AS_DATE = "You chose ", " as the date of the event."
"""Around the date in the reason of one that the user chose: a model keeps no other note of it."""


@dataclass(frozen=True, slots=True)
class DateCandidate:
    """A date that an event may be dated by; ``label`` is how users name it.

    ``attribute`` is a column of the fact's entity, unless ``calendar`` or ``header`` is given: the
    reference by which the day of a calendar is found, or the one to a header with that date.
    ``is_of_whole`` says that the header identifies the row: a line belongs to its invoice, and only
    mentions a container.
    """

    label: str
    attribute: str
    is_planned: bool = False
    is_always_there: bool = False
    is_about_record: bool = False
    is_month: bool = False
    is_of_period: bool = False
    is_of_row: bool = False
    is_of_whole: bool = False
    precedes: frozenset[str] = frozenset()
    calendar: Relationship | None = None
    header: Relationship | None = None


@dataclass(frozen=True, slots=True)
class DateChoice:
    """The date that was chosen, the sentence that says why, and the other candidates."""

    candidate: DateCandidate
    reason: str
    alternatives: tuple[str, ...] = ()


def dates_by_fact(
    graph: ReferenceGraph, facts: Sequence[str], event_dates: Mapping[str, str]
) -> dict[str, str]:
    """Return the dates that a user chose, by the exact name of the entity of a fact.

    Raise UsageError for the name of what is no table, or no fact.
    """
    by_folded = {entity.casefold(): entity for entity in graph.entities}
    dates = {}
    for name, date in event_dates.items():
        entity = name if name in graph.entities else by_folded.get(name.casefold())
        if entity is None:
            raise unknown_name("table", name, graph.entities)
        if entity not in facts:
            raise UsageError(
                f"{entity} isn't a fact in this model, so it has no event date.",
                hint=f"The facts are: {', '.join(facts) or 'none'}.",
            )
        dates[entity] = date
    return dates


def own_candidates(
    graph: ReferenceGraph, entity: Entity, roles: DateRoles
) -> Iterator[DateCandidate]:
    """Return the own columns that an event may be dated by, in the order of the source."""
    calendars = {
        calendar.from_attributes[-1]: calendar
        for calendar in calendar_references(graph, entity)
        if calendar_day(graph.entities[calendar.to_entity]) is not None
    }
    for attribute in entity.attributes:
        calendar = calendars.get(attribute.name)
        if attribute in roles.dates or (calendar and not is_date(attribute)):
            yield DateCandidate(
                label=attribute.name,
                attribute=attribute.name,
                is_planned=is_planned(attribute),
                is_always_there=is_mandatory(calendar) if calendar else attribute.required,
                is_about_record=is_record_stamp(attribute)
                and attribute.name not in roles.beginnings
                and not tells_rows_apart(entity, attribute),
                is_month=is_month(attribute),
                is_of_period=is_of_period(attribute),
                is_of_row=is_date_of_row(attribute, entity),
                precedes=frozenset(
                    later.name
                    for later in roles.dates
                    if precedes(graph, entity.name, attribute.name, later.name)
                ),
                calendar=None if is_date(attribute) else calendar,
            )


def of_header(candidate: DateCandidate, header: Relationship, key: AttributeNames) -> DateCandidate:
    """Return the date of a header as a candidate of a row that refers to it, and has this key."""
    return replace(
        candidate,
        label=f"{header.to_entity}.{candidate.label}",
        is_always_there=candidate.is_always_there and is_mandatory(header),
        is_of_whole=set(header.from_attributes) <= set(key),
        header=header,
        precedes=frozenset(),
    )


def requested_date(reason: str) -> str | None:
    """Return the date that a user chose, as ``--event-date`` takes it, from a date's reason."""
    is_requested = reason.startswith(_REQUESTED) and reason.endswith(_AS_DATE)
    return reason.removeprefix(_REQUESTED).removesuffix(_AS_DATE) if is_requested else None


def choose_event_date(
    candidates: Sequence[DateCandidate], requested: str | None, entity: str
) -> DateChoice | None:
    """Return the date of an event: the requested one, or what the rules say; None without dates.

    Raise UsageError where no candidate has the requested name.
    """
    labels = [candidate.label for candidate in candidates]
    if requested is not None:
        chosen = _requested(candidates, requested, entity)
        reason = f"{_REQUESTED}{chosen.label}{_AS_DATE}"
    elif candidates:
        chosen = min(candidates, key=lambda candidate: _rank(candidate, candidates))
        reason = _reason(chosen, candidates)
    else:
        return None
    alternatives = dict.fromkeys(label for label in labels if label != chosen.label)
    return DateChoice(chosen, reason, tuple(alternatives))


def _requested(candidates: Sequence[DateCandidate], name: str, entity: str) -> DateCandidate:
    by_label = {candidate.label: candidate for candidate in candidates}
    by_folded = {label.casefold(): label for label in by_label}
    label = name if name in by_label else by_folded.get(name.casefold())
    if label is not None:
        return by_label[label]
    if not by_label:
        raise UsageError(
            f"{entity} has no date that its events could be dated by.",
            hint=f"Leave out --event-date {entity}={name}.",
        )
    raise UsageError(
        f"{entity} has no event date {name!r}.",
        hint=f"{did_you_mean(name, by_label)}Event dates of {entity}: {', '.join(by_label)}.",
    )


def _rank(
    candidate: DateCandidate, candidates: Sequence[DateCandidate]
) -> tuple[int, bool, bool, bool, bool, bool, bool, int]:
    """Return the rank of a candidate, the least first; order within a row decides at last."""
    rivals = [other for other in candidates if other.is_always_there == candidate.is_always_there]
    return (
        2 if candidate.is_about_record else int(_waits(candidate, candidates)),
        candidate.header is not None,
        not candidate.is_of_whole,
        # A month or period begins before each of its days, and says less.
        candidate.is_month,
        not candidate.is_always_there,
        candidate.is_of_period,
        not candidate.is_of_row,
        sum(candidate.label in other.precedes for other in rivals if not other.is_planned),
    )


def _waits(candidate: DateCandidate, candidates: Sequence[DateCandidate]) -> bool:
    """Return whether a planned date comes after what happened: where something surely did."""
    return candidate.is_planned and (
        not candidate.is_always_there
        or any(
            other.is_always_there and not (other.is_planned or other.is_about_record)
            for other in candidates
            if other.header == candidate.header
        )
        or not any(
            other.header == candidate.header and other is not candidate for other in candidates
        )
    )


def _reason(chosen: DateCandidate, candidates: Sequence[DateCandidate]) -> str:
    """Return why a date was chosen before the others."""
    if chosen.header is not None:
        return (
            f"The date of the header {chosen.header.to_entity}, since no date of the row is read as"
            " an event's."
        )
    happened = [other.label for other in candidates if not (other.is_planned or other.header)]
    if chosen.is_planned and happened:
        return f"Every row has {chosen.label}, but not {listed(happened, 'or')}."
    if chosen.is_planned:
        return f"{chosen.label} is read as planned, and no other date as when it happened."
    if chosen.is_about_record:
        return f"{chosen.label} is read as when the record was written, and no other as the event."
    of_calendar = f" It's the day in {chosen.calendar.to_entity}." if chosen.calendar else ""
    rivals = [
        other
        for other in candidates
        if other is not chosen and not (other.is_planned or other.header)
    ]
    if not rivals:
        return (
            f"{chosen.label} is the only date of the row that is read as an event's.{of_calendar}"
        )
    periods = [other.label for other in rivals if other.is_of_period and other.is_always_there]
    if periods and not chosen.is_of_period:
        return f"{chosen.label} is a day of its own, and {listed(periods)} bound a period."
    months = [other.label for other in rivals if other.is_month]
    if months and not chosen.is_month:
        return f"{chosen.label} is a day, and {listed(months)} only a month.{of_calendar}"
    if chosen.is_of_row and any(chosen.label in other.precedes for other in rivals):
        return f"{chosen.label} is read as the date of the row, by its name.{of_calendar}"
    later = [other.label for other in rivals if other.label in chosen.precedes]
    if later:
        verb = "come" if len(later) > 1 else "comes"
        return f"The event begins with {chosen.label}; {listed(later)} {verb} later.{of_calendar}"
    missing = [other.label for other in rivals if not other.is_always_there]
    if chosen.is_always_there and missing:
        return f"Every row has {chosen.label}, but not {listed(missing, 'or')}.{of_calendar}"
    return f"Of its dates, {chosen.label} is the first in the table.{of_calendar}"
