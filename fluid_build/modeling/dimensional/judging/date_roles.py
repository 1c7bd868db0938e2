"""Which dates of a fact get a key of the calendar: one for each event that the row tells of.

A role is worth its key where reports group by it. These dates stay plain columns:

- what belongs to a person or product for life, such as a birth;
- what is about the record: when it was written, changed or deleted;
- the second of two columns that say the same moment;
- the end of a validity, which says how long a row applies and not that something happened;
- what goes beyond ``_MOST_ROLES``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.lexicon import ends, terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    is_creation,
    is_date,
    is_life_date,
    is_of_period,
    is_planned,
    is_status,
    tells_rows_apart,
)
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph
from fluid_build.observations.date_orders import DateOrder
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

    A price ``valid_to`` a day didn't happen on it. The end of an event isn't meant: that happens.
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


_MOST_ROLES = 8
"""Calendar keys of one fact. The order pipelines of the literature have up to ten milestones; a
fact with more keys than that is hard to read, and nobody groups by the last of them."""
_IN_ORDER = 0.95
"""Share of rows in which the dates of a process must follow each other; a few are mistyped."""


OPEN_ROWS = 0.005
"""Share of rows in which a milestone must still be open, so that a few nulls by accident don't make
one."""
_FEWEST_REACHED = 0.25
"""Share of rows that must have reached a milestone. Fewer have a date in case something happens,
such as a cancellation."""
_MOST_REACHED = 0.5
"""The same where the open rows aren't the youngest: an open process is one that isn't finished
yet, unless it ends for most rows."""
_MOST_SKIPPED = 0.05
"""Share of rows that may have reached a milestone without the one before it."""


@dataclass(frozen=True, slots=True)
class DateRoles:
    """The dates of an entity: those with a role, in the order of the source, and the others.

    ``reasons`` says of each other date why it has no role. ``beginnings`` are the dates with a role
    that would be a life's or a record's, if the row had no life cycle that they begin.
    """

    dates: tuple[Attribute, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    beginnings: frozenset[str] = frozenset()


def date_roles(graph: ReferenceGraph, entity: Entity) -> DateRoles:
    """Return which dates of a fact's entity have a role."""
    events = _without_housekeeping(graph, entity, event_dates(entity))
    events = events or tuple(filter(_is_start_of_life, entity.attributes))
    beginnings = _beginnings(graph, entity, events)
    steps = beginnings | _later_steps(graph, entity, events)
    events = tuple(a for a in entity.attributes if a in events or a.name in steps)
    reasons = {
        attribute.name: _reason_of_others(attribute)
        for attribute in entity.attributes
        if is_date(attribute) and attribute not in events
    }
    for find_others in (_repeats, _ends_of_validity, _beyond_limit):
        dates = [date for date in events if date.name not in reasons]
        reasons |= find_others(graph, entity, dates)
    dates = [date for date in events if date.name not in reasons]
    return DateRoles(tuple(dates), reasons, beginnings & {date.name for date in dates})


def precedes(graph: ReferenceGraph, entity: str, earlier: str, later: str) -> bool:
    """Return whether one date was observed to come before another in nearly all rows."""
    order = observed_order(graph, entity, earlier, later)
    return order is not None and order.earlier == earlier and holds(order)


def holds(order: DateOrder) -> bool:
    """Return whether the order of two dates holds in nearly all rows that have both."""
    return order.both > 0 and order.in_order >= _IN_ORDER * order.both


def is_step(order: DateOrder) -> bool:
    """Return whether the later of two dates is filled in when a row has come so far."""
    rows = order.both + order.open + order.skipped
    if not holds(order) or order.open < OPEN_ROWS * rows:
        return False
    if order.skipped > _MOST_SKIPPED * order.both:
        return False
    reached = order.both / (order.both + order.open)
    return reached >= (_FEWEST_REACHED if order.open_is_recent else _MOST_REACHED)


def observed_order(graph: ReferenceGraph, entity: str, first: str, second: str) -> DateOrder | None:
    """Return the order of two dates as observed; None where it wasn't looked for."""
    return next(
        (
            order
            for order in graph.observations.date_orders
            if order.table == entity and {order.earlier, order.later} == {first, second}
        ),
        None,
    )


def _without_housekeeping(
    graph: ReferenceGraph, entity: Entity, dates: tuple[Attribute, ...]
) -> tuple[Attribute, ...]:
    """Return the dates without those that most tables have, unless there is no other."""
    stamps = graph.record_keeping.stamps
    kept = tuple(
        date
        for date in dates
        if (entity.name, date.name) not in stamps or tells_rows_apart(entity, date)
    )
    return kept or dates


def _beginnings(
    graph: ReferenceGraph, entity: Entity, events: Sequence[Attribute]
) -> frozenset[str]:
    """Return the dates of a creation or release with which the life cycle of a row begins.

    A work order with a status is released before it's started: that's no release of a product, nor
    is the creation of an invoice that of a record. Every row has it, and it comes before the rest.
    Of what is opened, a later date that the latest rows still lack shows the same without a status.
    """
    happened = [date for date in events if not (is_planned(date) or is_of_period(date))]
    if not happened:
        return frozenset()
    has_status = any(map(is_status, entity.attributes))
    return frozenset(
        date.name
        for date in entity.attributes
        if is_date(date)
        and date not in events
        and date.required
        and date.semantic_type != "date_of_birth"
        and (is_life_date(date) or is_creation(date))
        and all(precedes(graph, entity.name, date.name, other.name) for other in happened)
        and (has_status or _opens_case(graph, entity, date, happened))
    )


def _opens_case(
    graph: ReferenceGraph, entity: Entity, date: Attribute, others: Sequence[Attribute]
) -> bool:
    """Return whether a date is when something was opened that isn't over in the latest rows."""
    orders = (observed_order(graph, entity.name, date.name, other.name) for other in others)
    return bool(terms("opening") & set(words(date.name))) and any(
        order is not None and is_step(order) for order in orders
    )


def _later_steps(
    graph: ReferenceGraph, entity: Entity, events: Sequence[Attribute]
) -> frozenset[str]:
    """Return the dates that are read as a life's, but that rows reach after another date.

    A life begins before all that happens in it. Who was hired after an interview and an offer was
    hired by this application, in the rows that have come so far.
    """
    return frozenset(
        date.name
        for date in entity.attributes
        if is_date(date)
        and date not in events
        and not (date.required or _is_empty(date))
        and date.semantic_type != "date_of_birth"
        and is_life_date(date)
        and any(_is_reached_after(graph, entity.name, other, date) for other in events)
    )


def _is_reached_after(
    graph: ReferenceGraph, entity: str, earlier: Attribute, later: Attribute
) -> bool:
    """Return whether the order of two dates holds, and some rows have only the earlier one."""
    order = observed_order(graph, entity, earlier.name, later.name)
    if order is None or order.earlier != earlier.name or not holds(order):
        return False
    return order.open > 0 and order.skipped <= _MOST_SKIPPED * order.both


def _is_empty(date: Attribute) -> bool:
    return date.evidence.rows > 0 and date.evidence.nulls == date.evidence.rows


def _is_start_of_life(attribute: Attribute) -> bool:
    """Return whether a date begins a membership or the like; a birth is no event of a fact."""
    return is_life_date(attribute) and attribute.semantic_type != "date_of_birth"


def _reason_of_others(attribute: Attribute) -> str:
    if is_life_date(attribute):
        return "It's read as a date of a life, and not of this event."
    if _is_empty(attribute):
        return "It's empty."
    return "It's read as when the record was written, not when something happened."


def _repeats(graph: ReferenceGraph, entity: Entity, dates: Sequence[Attribute]) -> dict[str, str]:
    """Return the dates that repeat the moment of another one, each with the reason."""
    names = {date.name for date in dates}
    said_less = {date.name for date in dates if is_planned(date) or is_of_period(date)}
    reasons: dict[str, str] = {}
    for kept, repeated, reason in _same_moments(graph, entity.name, said_less):
        if {kept, repeated} <= names and kept not in reasons:
            reasons.setdefault(repeated, reason)
    return reasons


def _ends_of_validity(
    _graph: ReferenceGraph, entity: Entity, dates: Sequence[Attribute]
) -> dict[str, str]:
    """Return the dates that end a validity whose start has a role, each with the reason."""
    starts = {date.name: validity_start(date, entity) for date in dates}
    return {
        end: f"It ends what starts at {start.name}: it says how long the row applies, and no report"
        " groups by it."
        for end, start in starts.items()
        if start is not None and start in dates
    }


def _beyond_limit(
    _graph: ReferenceGraph, _entity: Entity, dates: Sequence[Attribute]
) -> dict[str, str]:
    """Return the dates beyond the most that a fact has roles for, each with the reason."""
    return {
        date.name: f"One of {len(dates)} dates: the {_MOST_ROLES} that more rows have are in the"
        " calendar."
        for date in sorted(dates, key=_rank)[_MOST_ROLES:]
    }


def _same_moments(
    graph: ReferenceGraph, entity: str, said_less: set[str]
) -> Iterator[tuple[str, str, str]]:
    """Return the dates to keep and to leave out of each pair that says the same moment, and why.

    What is planned, or bounds a period, says less than what happened then.
    """
    for pair in graph.observations.same_moments:
        if pair.table == entity:
            if pair.date in said_less and pair.timestamp not in said_less:
                yield pair.timestamp, pair.date, f"The day of {pair.timestamp} in all rows."
                continue
            reason = f"The time of {pair.date}, which is in the calendar: the same moment."
            yield pair.date, pair.timestamp, reason
    for twin in graph.observations.twin_moments:
        if twin.table == entity:
            kept, repeated = twin.column, twin.twin
            if kept in said_less and repeated not in said_less:
                kept, repeated = repeated, kept
            reason = f"The same moment as {kept} in all {twin.rows:,} rows."
            yield kept, repeated, reason


def _rank(date: Attribute) -> tuple[bool, float]:
    """Return how much is to be said for a role: what happened first, then what more rows have."""
    return is_planned(date), date.evidence.nulls / max(1, date.evidence.rows)
