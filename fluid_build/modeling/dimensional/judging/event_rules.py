"""Why an entity is an event to count rather than a dimension to count by.

An event happens or is measured: it has a date, adds something up, or brings several entities
together. In the order of the rules:

- An exchange is an event, whatever text comes with it: it's dated, it has an amount, and it refers
  to one entity in two roles (from one account to another).
- A case is one too, such as a claim or an issue: it has a status, and dates that follow each other,
  the later ones open until they're reached. Its title says what it's about.
- What has a name of its own is no event, since people look it up rather than count it. A
  description doesn't name a dated row, though: it says what happened there.
- A table of its own, which neither refers nor is referred to, needs a date and a measure, or a
  measure or a period for each combination of its key.
- What others refer to is an event if it's a header with lines: dated, with few lines per row. A
  period with a name (a campaign, a season) isn't one, nor what has a name and no measure (a race).
  Nor is an undated thing that dated rows use over and over, such as a copy of a film, nor what has
  no date even through what it refers to and adds nothing up (a measuring station), nor what was
  there years before anything happened to it (a container).
- What nothing refers to is an event if it's dated, is of a period (a year), or relates several
  entities, even if one of them has no table, or one of them twice (the teams of a match). With one
  reference and nothing of that it describes what it refers to (a translation, a skill, a room),
  unless it measures.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import permutations

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    has_few_values,
    is_creation,
    is_date,
    is_describing,
    is_descriptive,
    is_distinctive,
    is_identifier,
    is_naming,
    is_own_name,
    is_person,
    is_planned,
    is_record_stamp,
    is_state_date,
    is_status,
    is_weak_measure,
    period_words,
)
from fluid_build.modeling.dimensional.judging.date_roles import is_period, is_step, observed_order
from fluid_build.modeling.dimensional.judging.reference_graph import (
    ReferenceGraph,
    is_filled,
    is_mandatory,
)
from fluid_build.profiling.names.naming_words import TITLE_WORDS, names_people
from fluid_build.profiling.names.words import singular, strip_key_words, words
from fluid_build.text import listed

_MOST_LINES = 50
"""Rows that refer to one row of a header, on average. An order seldom has more lines; what has more
is something that is used over and over, such as a promotion."""

_FEWEST_MEMBERS, _FEWEST_USES = 20, 2
"""Rows, and dated tables that refer to them, from which on their being older isn't by accident: the
first orders of a shop come before its payments and deliveries too."""
_NEWEST = 0.1
"""Part of the time in which members came to be that may go on while they're used: some are new."""
_NEARLY_UNIQUE = 0.9
"""Share of distinct values from which on a name of something else names the row all the same."""


def event_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity is an event; "" where it isn't one."""
    dealt_with = _exchange_reason(graph, entity) or _case_reason(graph, entity)
    if dealt_with or _has_own_name(entity):
        return dealt_with
    parents, children = graph.direct_parents(entity.name), graph.children[entity.name]
    if not parents and not children:
        return _isolated_event_reason(graph, entity)
    if children:
        return (
            "" if _is_older_than_events(graph, entity) else _header_reason(graph, entity, parents)
        )
    return _leaf_reason(graph, entity, parents)


def dimension_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity that isn't an event is a dimension, by what is true of it."""
    if entity.name in graph.calendars:
        return "Each row is a day: a calendar."
    children = sorted({child.from_entity for child in graph.children[entity.name]})
    if children:
        return f"{listed(children)} {'refer' if len(children) > 1 else 'refers'} to it."
    name = next(filter(None, (_own_name(entity), _distinctive_name(graph, entity))), None)
    if name is not None:
        return f"No table refers to it. {name.name} names its rows, so it's there to be looked up."
    parents = graph.direct_parents(entity.name)
    if len({parent.to_entity for parent in parents}) == 1 and not graph.event_dates(entity):
        return f"It describes {name_parents(parents)}: it has no date of its own."
    missing = [
        text
        for text, is_missing in (
            ("no date on which something happened", not graph.event_dates(entity)),
            ("no measure that adds up", not _sums(graph, entity)),
            ("no reference to another table", not parents),
        )
        if is_missing
    ]
    return f"It has {listed(missing)}." if missing else "It describes rather than measures."


def describes(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> bool:
    """Return whether an attribute describes its row: no key, reference, measure or date."""
    if not is_descriptive(attribute) or is_date(attribute):
        return False
    if graph.is_referring(entity.name, attribute.name):
        return False
    return attribute.name not in graph.keys[entity.name]


def name_parents(references: tuple[Relationship, ...]) -> str:
    """Return the entities that references lead to, as a list in a sentence."""
    return listed(sorted({reference.to_entity for reference in references}))


def _exchange_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity is a dated amount between two parties; "" where it isn't.

    A transfer has a subject that names it, but nobody looks up transfers by it.
    """
    dates = _happenings(entity)
    if not dates or is_person(entity) or _lines_per_row(graph, entity) > _MOST_LINES:
        return ""
    amounts = [a for a in _sums(graph, entity) if a.measure and a.measure.additivity == "additive"]
    targets = [p.to_entity for p in graph.direct_parents(entity.name) if is_filled(p)]
    party = next((target for target in targets if targets.count(target) > 1), None)
    if not amounts or party is None:
        return ""
    return (
        f"It has a date ({dates[0].name}), a measure ({amounts[0].name}), and refers to {party} in"
        " several roles."
    )


def _case_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity is a case that is opened, dealt with and closed; "" where it isn't."""
    status = next(filter(is_status, entity.attributes), None)
    filled = tuple(filter(is_filled, graph.direct_parents(entity.name)))
    if status is None or not filled or is_person(entity):
        return ""
    if _lines_per_row(graph, entity) > _MOST_LINES or _is_named(entity):
        return ""
    happened = _happenings(entity)
    # A creation stamp dates a case by itself: it's opened with its record.
    dates = [
        date
        for date in entity.attributes
        if (date in happened or is_creation(date)) and not is_planned(date)
    ]
    for earlier, later in permutations(dates, 2):
        order = observed_order(graph, entity.name, earlier.name, later.name)
        if earlier.required and order and is_step(order) and order.earlier == earlier.name:
            return (
                f"A case: {status.name} is read as how far it has come, and {later.name}, null in"
                f" {order.open:,} rows, comes after {earlier.name}."
            )
    return ""


def _is_named(entity: Entity) -> bool:
    """Return whether a column names the rows otherwise than by a title or a description."""
    return any(
        is_own_name(attribute, entity)
        and is_distinctive(attribute, entity)
        and not (is_describing(attribute) or set(words(attribute.name)) & TITLE_WORDS)
        for attribute in entity.attributes
    )


def _money_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity whose references may all be empty is an event.

    A wallet's transactions refer to nothing but the coupon of a few of them. They still have an
    amount, and a day on which it was paid.
    """
    dates, measures = _happenings(entity), _sums(graph, entity)
    if not dates or not measures:
        return ""
    return f"It has a date ({dates[0].name}) and a measure ({measures[0].name})."


def _isolated_event_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity without references in either direction is an event.

    A file of sales with the customer's name in each row is; a file of 200 countries with their
    population isn't, nor a list of holidays.
    """
    dates, measures = graph.event_dates(entity), _sums(graph, entity)
    if dates and measures:
        return f"It has a date ({dates[0].name}) and a measure ({measures[0].name})."
    key, period = graph.keys[entity.name], _period(graph, entity)
    if _distinctive_name(graph, entity) is not None:
        return ""
    if measures and len(key) > 1:
        return f"It has a measure ({measures[0].name}) for each {listed(list(key))}."
    if period is not None and len(key) > 1:
        return f"Each row is of a period ({period.name}), and its key has several columns."
    is_list_of_days = any(date.evidence.distinct == entity.rows for date in dates)
    if dates and not (is_period(dates) or is_list_of_days or any(_texts(graph, entity))):
        return f"It has a date ({dates[0].name}), and nothing names or describes its rows."
    if measures and not any(_texts(graph, entity)):
        return f"It has a measure ({measures[0].name}), and nothing names or describes its rows."
    return ""


def _header_reason(graph: ReferenceGraph, entity: Entity, parents: tuple[Relationship, ...]) -> str:
    """Return why an entity that others refer to is an event all the same: a header of lines."""
    if _lines_per_row(graph, entity) > _MOST_LINES:
        return ""
    dates, measures = graph.event_dates(entity), _sums(graph, entity)
    # Who wrote an order is one of a few, and names no order.
    has_title = any(
        is_own_name(attribute, entity)
        and not (is_describing(attribute) or has_few_values(attribute))
        for attribute in entity.attributes
    )
    is_named_period = is_period(dates) and (has_title or not parents)
    if dates and measures and not parents and not is_named_period:
        return f"It has a date ({dates[0].name}) and a measure ({measures[0].name})."
    filled = tuple(filter(is_filled, parents))
    if not filled or is_named_period:
        return ""
    calendars = tuple(p for p in parents if p.to_entity in graph.calendars)
    if calendars and measures:
        ends = name_parents(calendars)
        return f"It refers to {ends} for its date and has a measure ({measures[0].name})."
    if has_title and not measures:
        return ""
    has_name = any(is_naming(a) and is_distinctive(a, entity) for a in entity.attributes)
    if dates and (measures or not has_name):
        return (
            f"An event with lines: it has a date ({dates[0].name}), refers to"
            f" {name_parents(filled)}, and the rows that refer to it are read as its lines."
        )
    describes_nothing = not any(describes(graph, entity, a) for a in entity.attributes)
    relates_several = len({p.to_entity for p in parents}) > 1 and all(map(is_mandatory, parents))
    is_header = measures or (describes_nothing and not _is_used_by_dated(graph, entity))
    if is_header and _is_undated_place(graph, entity, parents):
        return ""
    if relates_several and is_header and not has_name:
        return f"It links {name_parents(filled)}, and its rows have no names."
    return ""


def _leaf_reason(graph: ReferenceGraph, entity: Entity, parents: tuple[Relationship, ...]) -> str:
    """Return why an entity that nothing refers to is an event."""
    filled = tuple(filter(is_filled, parents))
    if not filled:
        return _money_reason(graph, entity)
    ends = name_parents(filled)
    dates = graph.event_dates(entity)
    if dates and (_happenings(entity) or _distinctive_name(graph, entity) is None):
        return f"No table refers to it. It has a date ({dates[0].name}) and refers to {ends}."
    relates_several = len({reference.to_entity for reference in filled}) > 1
    if not relates_several and _distinctive_name(graph, entity) is not None:
        return ""
    if any(is_naming(a) and _is_nearly_unique(a, entity) for a in entity.attributes):
        return ""
    measures = [a for a in entity.attributes if a.measure is not None]
    if measures and (len(filled) > 1 or _measures_lines(graph, entity)):
        return f"No table refers to it. It has a measure ({measures[0].name}) and refers to {ends}."
    if relates_several:
        return f"No table refers to it, and it links {ends}."
    period = _period(graph, entity)
    if period is not None:
        return (
            f"No table refers to it. Its rows are of a period ({period.name}) and refer to {ends}."
        )
    targets = [reference.to_entity for reference in filled if is_mandatory(reference)]
    opponents = next((target for target in targets if targets.count(target) > 1), "")
    season = next((a for a in entity.attributes if period_words(a)), None)
    if opponents and season is not None:
        return (
            f"No table refers to it. It refers to {opponents} in several roles, and is of a period"
            f" ({season.name})."
        )
    unresolved = _unresolved_key(graph, entity)
    if unresolved is not None:
        return f"No table refers to it, and it links {ends} and {unresolved.name}."
    return ""


def _has_own_name(entity: Entity) -> bool:
    """Return whether a column names the entity's rows, or two of them people."""
    names = (a.name for a in entity.attributes if is_own_name(a, entity))
    return _own_name(entity) is not None or names_people(names)


def _own_name(entity: Entity) -> Attribute | None:
    """Return the column that names the entity's rows."""
    is_dated = bool(_happenings(entity))
    for attribute in entity.attributes:
        if not is_own_name(attribute, entity) or not is_distinctive(attribute, entity):
            continue
        # A dated event may hold the address that somebody wrote from, and what was said.
        if is_dated and (attribute.semantic_type == "email" or is_describing(attribute)):
            continue
        return attribute
    return None


def _distinctive_name(graph: ReferenceGraph, entity: Entity) -> Attribute | None:
    """Return a column that names the rows of an undated entity, by its own name or its values."""
    for attribute in entity.attributes:
        looks_like_name = (entity.name, attribute.name) in graph.names
        if looks_like_name or (is_naming(attribute) and is_distinctive(attribute, entity)):
            return attribute
    return None


def _texts(graph: ReferenceGraph, entity: Entity) -> Iterator[Attribute]:
    """Return the text columns of an entity, its key included, apart from references."""
    for attribute in entity.attributes:
        is_text = attribute.type == "string" and attribute.semantic_type != "uuid"
        if is_text and not graph.is_referring(entity.name, attribute.name):
            yield attribute


def _is_nearly_unique(attribute: Attribute, entity: Entity) -> bool:
    """Return whether a name is that of its row: titles of theses are, names of their tutors not."""
    filled = attribute.evidence.rows - attribute.evidence.nulls
    distinct = attribute.evidence.distinct
    return entity.rows == 0 or (distinct is not None and distinct >= _NEARLY_UNIQUE * filled > 0)


def _happenings(entity: Entity) -> list[Attribute]:
    """Return the dates on which something happened to the row alone.

    Without the first and last day of a period, when the record was written, and dates that are the
    latest of many.
    """
    dates = [d for d in event_dates(entity) if not (is_record_stamp(d) or is_state_date(d))]
    return [] if is_period(dates) else dates


def _period(graph: ReferenceGraph, entity: Entity) -> Attribute | None:
    """Return the number of a period, such as a year, that the rows are about.

    It's part of the key, or it's one of several that make a date together.
    """
    numbers = [attribute for attribute in entity.attributes if period_words(attribute)]
    in_key = [number for number in numbers if number.name in graph.keys[entity.name]]
    make_a_date = len(frozenset().union(*map(period_words, numbers))) > 1
    return next(iter(in_key or (numbers if make_a_date else [])), None)


def _unresolved_key(graph: ReferenceGraph, entity: Entity) -> Attribute | None:
    """Return a part of the key that identifies something of which the source has no table."""
    key = graph.keys[entity.name]
    noun = {singular(word) for word in words(entity.name)[-1:]}
    for attribute in entity.attributes:
        is_own = attribute.name in key and not graph.is_referring(entity.name, attribute.name)
        # The number of a seat identifies the seat itself.
        named_for = {singular(word) for word in strip_key_words(words(attribute.name))}
        is_foreign = not noun & named_for
        if is_own and len(key) > 1 and is_foreign and is_identifier(attribute):
            return attribute
    return None


def _measures_lines(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether an entity measures more than it describes, or is numbered within another."""
    measures = [attribute for attribute in entity.attributes if attribute.measure is not None]
    # A level without a date is a property, such as how many people a room holds.
    sums = [a for a in _sums(graph, entity) if a.measure and a.measure.additivity == "additive"]
    key = graph.keys[entity.name]
    is_within = len(key) > 1 and any(graph.is_referring(entity.name, name) for name in key)
    described = sum(describes(graph, entity, attribute) for attribute in entity.attributes)
    return bool(sums) and (is_within or len(measures) >= described)


def _is_undated_place(
    graph: ReferenceGraph, entity: Entity, parents: tuple[Relationship, ...]
) -> bool:
    """Return whether neither dates nor measures make more of an entity than others refer to.

    The level of a pair (the stock of a product in a store) is measured; the level of what has a key
    of its own is a property of it, such as the level at which a station warns.
    """
    targets = [graph.entities[parent.to_entity] for parent in parents]
    if _period(graph, entity) is not None or any(
        graph.event_dates(each) or each.name in graph.calendars for each in (entity, *targets)
    ):
        return False
    kinds_of_sums = {a.measure.additivity for a in _sums(graph, entity) if a.measure}
    is_pair = all(graph.is_referring(entity.name, name) for name in graph.keys[entity.name])
    return kinds_of_sums == (set() if is_pair else {"semi-additive"})


def _is_older_than_events(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether rows were there before what refers to them: containers built years ago.

    Orders are as old as their lines and payments, and come about as long as these do. What several
    tables use was made before, over a longer time.
    """
    own = _span(graph, [entity.name])
    if own is None or entity.rows < _FEWEST_MEMBERS:
        return False
    later = [
        span
        for name in {child.from_entity for child in graph.children[entity.name]}
        if (span := _span(graph, [name]) or _span_of_other_parents(graph, name, entity.name))
    ]
    age = own[1] - own[0]
    return len(later) >= _FEWEST_USES and all(
        own[1] - first <= _NEWEST * age and last - first < age for first, last in later
    )


def _span_of_other_parents(
    graph: ReferenceGraph, name: str, parent: str
) -> tuple[date, date] | None:
    """Return the first and last day of what else an undated entity surely belongs to."""
    others = [p.to_entity for p in graph.direct_parents(name) if is_mandatory(p)]
    return _span(graph, [other for other in others if other != parent])


def _span(graph: ReferenceGraph, names: Sequence[str]) -> tuple[date, date] | None:
    """Return the first and last day of all dates of entities that aren't about the record."""
    spans = [
        graph.spans[name, attribute.name]
        for name in names
        for attribute in graph.entities[name].attributes
        if (name, attribute.name) in graph.spans and not is_record_stamp(attribute)
    ]
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None


def _is_used_by_dated(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether dated rows refer to an entity that has no date itself."""
    children = (graph.entities[child.from_entity] for child in graph.children[entity.name])
    return not graph.event_dates(entity) and any(graph.event_dates(child) for child in children)


def _lines_per_row(graph: ReferenceGraph, entity: Entity) -> float:
    children = [graph.entities[c.from_entity].rows for c in graph.children[entity.name]]
    return max(children, default=0) / entity.rows if entity.rows else 0.0


def _sums(graph: ReferenceGraph, entity: Entity) -> list[Attribute]:
    """Return the measures that add up at least across members, the certain ones first.

    A weak one (a small whole number, which may be a rank) counts only if it's fully additive.
    """
    weak, certain = [], []
    for attribute in entity.attributes:
        measure = attribute.measure
        if measure is None or measure.additivity == "non-additive":
            continue
        if not is_weak_measure(attribute, *graph.bounds[entity.name, attribute.name]):
            certain.append(attribute)
        elif measure.additivity == "additive":
            weak.append(attribute)
    return certain + weak
