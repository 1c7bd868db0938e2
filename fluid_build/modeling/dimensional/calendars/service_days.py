"""Service days: one row for each service and day on which it runs, as a factless fact.

A timetable says so in weekday flags, a first and a last day, and a list of exceptions. Which days
these come to is nothing that a query should work out by itself each time, so they're listed: the
coverage fact of Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", chapter 3.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fluid_build.lexicon import terms
from fluid_build.modeling.dimensional.calendars.calendar import CALENDAR_DAY, GeneratedCalendar
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    FactAttribute,
    ServiceChanges,
    ServiceDays,
    ServiceKey,
    ServiceWeekday,
)
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import Alternative, SourceColumn, source_columns
from fluid_build.observations.recurring_services import RecurringService
from fluid_build.profiling.names.words import singular, strip_key_words, words
from fluid_build.text import listed


def service_days_facts(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    facts: Iterable[Fact],
    calendar: GeneratedCalendar,
    used_relations: set[str],
) -> tuple[Fact, ...]:
    """Return a fact for each dimension or fact of services; ``dimensions`` are by entity."""
    facts_by_entity = {fact.entity_name: fact for fact in facts}
    described = []
    for service in layout.graph.observations.recurring_services:
        holder = None
        if service.table in dimensions:
            holder = _in_dimension(layout, dimensions[service.table])
        elif service.table in facts_by_entity:
            holder = _in_fact(layout, service, facts_by_entity[service.table], calendar)
        if holder is not None:
            described.append(_fact(layout, service, holder, calendar, used_relations))
    return tuple(described)


@dataclass(frozen=True, slots=True)
class _Holder:
    """What has a row for each service: how it's found, and what its days take over from it.

    ``grain`` are the columns that identify a service in the fact of its days.
    """

    name: str
    key: tuple[ServiceKey, ...]
    references: tuple[DimensionReference, ...]
    grain: tuple[str, ...]
    attributes: tuple[FactAttribute, ...] = ()


def _in_dimension(layout: StarLayout, dimension: Dimension) -> _Holder:
    own = {a.name: a.attribute for a in dimension.attributes if not a.source}
    columns = dimension.natural_key_columns
    member = layout.names.member(dimension.entity_name).replace("_", " ")
    reference = DimensionReference(
        dimension=dimension.name,
        columns=tuple(own[name] for name in columns),
        key=dimension.member_key,
        to_columns=columns,
        reason=f"The {member} that runs.",
    )
    key = tuple(ServiceKey(attribute=own[name], column=name) for name in columns)
    return _Holder(dimension.name, key, (reference,), (reference.key,))


def _in_fact(
    layout: StarLayout, service: RecurringService, fact: Fact, calendar: GeneratedCalendar
) -> _Holder | None:
    """Return the fact of services, with its dimensions; None where it doesn't hold their key."""
    kept = {a.attribute: a for a in fact.attributes if not a.source}
    own = [reference for reference in fact.dimensions if not reference.source]
    days = {r.columns[0]: r for r in own if r.dimension == calendar.name}
    names = layout.graph.keys[fact.entity_name]
    if not names or any(name not in kept and name not in days for name in names):
        return None
    key = tuple(
        ServiceKey(attribute=name, column=kept[name].name)
        if name in kept
        else ServiceKey(attribute=name, column=days[name].key, is_day=True)
        for name in names
    )
    columns = {part.column for part in key}
    flags = {flag.column for flag in service.flags}
    references = [
        reference
        for reference in own
        if (reference.dimension != calendar.name or reference.key in columns)
        # The weekdays of a service say nothing about one of its days.
        and not flags.issuperset(reference.columns)
    ]
    return _Holder(
        fact.name,
        key,
        tuple(references),
        tuple(part.column for part in key),
        tuple(kept[name] for name in names if name in kept),
    )


def _fact(
    layout: StarLayout,
    service: RecurringService,
    holder: _Holder,
    calendar: GeneratedCalendar,
    used_relations: set[str],
) -> Fact:
    member = _member(layout, service.table)
    period = (service.start, service.end)
    used_columns = {reference.key for reference in holder.references} | set(holder.grain)
    to_day = DimensionReference(
        dimension=calendar.name,
        role="service_date",
        columns=period,
        key=free_column("service_date_key", used_columns),
        to_columns=(CALENDAR_DAY,),
        reason=f"Each day from {service.start} to {service.end} on which it runs.",
    )
    sources = tuple(_sources(service))
    return Fact(
        name=free_column(f"fct_{member}_days", used_relations),
        entity_name="",
        fact_type="factless",
        grain=f"One row for each {member.replace('_', ' ')} and day on which it runs.",
        grain_columns=(*holder.grain, to_day.key),
        dimensions=(*holder.references, to_day),
        degenerate_dimensions=tuple(attribute.name for attribute in holder.attributes),
        attributes=holder.attributes,
        service_days=_service_days(service, holder),
        mapped_source_tables=tuple(dict.fromkeys(column.table for column in sources)),
        source_columns=sources,
        reason=" ".join(_reasons(service)),
        alternatives=(
            Alternative(
                choice="the weekday flags as they are",
                reason="they can't be joined with a calendar, so each query would list the days"
                " again",
            ),
            Alternative(
                choice="a bridge between the service and the calendar",
                reason="it would have the same rows and keys; as a fact, they can be counted",
            ),
        ),
    )


def _member(layout: StarLayout, entity: str) -> str:
    """Return what one service is called: by its table, or by its key if the table is a calendar."""
    member = layout.names.member(entity)
    key = layout.graph.keys[entity]
    if member in terms("calendar") and len(key) == 1:
        return "_".join(strip_key_words(words(key[0]))) or member
    return "_".join((*member.split("_")[:-1], singular(member.split("_")[-1])))


def _service_days(service: RecurringService, holder: _Holder) -> ServiceDays:
    return ServiceDays(
        entity_name=service.table,
        held_by=holder.name,
        key=holder.key,
        weekdays=tuple(
            ServiceWeekday(weekday=flag.weekday, attribute=flag.column, yes=flag.yes)
            for flag in service.flags
        ),
        start=service.start,
        end=service.end,
        changes=None
        if service.exceptions is None
        else ServiceChanges(
            entity_name=service.exceptions.table,
            columns=service.exceptions.columns,
            to_columns=service.exceptions.to_columns,
            date=service.exceptions.date,
            effect=service.exceptions.effect,
            added=service.exceptions.added,
            removed=service.exceptions.removed,
        ),
    )


def _sources(service: RecurringService) -> Iterator[SourceColumn]:
    """Yield the columns that the days follow from."""
    flags = (flag.column for flag in service.flags)
    yield from source_columns(service.table, (service.start, service.end, *flags))
    if exceptions := service.exceptions:
        effect = (exceptions.effect,) if exceptions.effect else ()
        columns = (*exceptions.columns, exceptions.date, *effect)
        yield from source_columns(exceptions.table, columns)


def _reasons(service: RecurringService) -> Iterator[str]:
    flags = f"{service.flags[0].column} to {service.flags[-1].column}"
    yield (
        f"{service.table} has a flag for each weekday ({flags}), which holds from"
        f" {service.start} to {service.end}: {service.days:,} days in all."
    )
    exceptions = service.exceptions
    if exceptions is None:
        return
    if not exceptions.effect:
        yield f"The days of {exceptions.table} are left out."
        return
    effects = []
    if exceptions.added:
        effects.append(f"{exceptions.effect} {listed(exceptions.added, 'or')} adds a day")
    if exceptions.removed:
        effects.append(f"{exceptions.effect} {listed(exceptions.removed, 'or')} leaves one out")
    yield (
        f"In {exceptions.table}, {listed(effects)}, as the weekdays of these days show: what is"
        " added wouldn't run, and what is left out would."
    )
