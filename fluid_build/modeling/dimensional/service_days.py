"""Service days: one row for each service and day on which it runs, as a factless fact.

A timetable says so in weekday flags, a first and a last day, and a list of exceptions. Which days
these come to is nothing that a query should work out by itself each time, so they're listed: the
coverage fact of Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", chapter 3.
"""

from collections.abc import Iterator, Mapping

from fluid_build.modeling.dimensional.calendar import CALENDAR_DAY, GeneratedCalendar
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    ServiceChanges,
    ServiceDays,
    ServiceWeekday,
)
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import Alternative, source_columns
from fluid_build.observations.recurring_services import RecurringService, ServiceExceptions
from fluid_build.profiling.names import singular, strip_key_words, words
from fluid_build.text import listed

_GENERIC_WORDS = frozenset("calendar calendars kalender calendrier calendario schedule".split())
"""Names of tables that say how a service is kept and not what it is."""


def service_days_facts(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    calendar: GeneratedCalendar,
    used_relations: set[str],
) -> tuple[Fact, ...]:
    """Return a fact for each dimension of services; ``dimensions`` are by entity."""
    return tuple(
        _fact(layout, service, dimensions[service.table], calendar, used_relations)
        for service in layout.graph.observations.recurring_services
        if service.table in dimensions
    )


def _fact(
    layout: StarLayout,
    service: RecurringService,
    dimension: Dimension,
    calendar: GeneratedCalendar,
    used_relations: set[str],
) -> Fact:
    member = _member(layout, service.table)
    own = {a.name: a.attribute for a in dimension.attributes if not a.source}
    key = tuple(own[name] for name in dimension.natural_key_columns)
    period = (service.start, service.end)
    to_service = DimensionReference(
        dimension=dimension.name,
        columns=key,
        key=dimension.member_key,
        to_columns=dimension.natural_key_columns,
        reason=f"The {member} that runs.",
    )
    to_day = DimensionReference(
        dimension=calendar.name,
        role="service_date",
        columns=period,
        key=free_column("service_date_key", {dimension.member_key}),
        to_columns=(CALENDAR_DAY,),
        reason=f"Each day from {service.start} to {service.end} on which it runs.",
    )
    exceptions = service.exceptions
    return Fact(
        name=free_column(f"fct_{member}_days", used_relations),
        entity_name="",
        fact_type="factless",
        grain=f"One row for each {member.replace('_', ' ')} and day on which it runs.",
        grain_columns=(to_service.key, to_day.key),
        dimensions=(to_service, to_day),
        service_days=ServiceDays(
            entity_name=service.table,
            weekdays=tuple(
                ServiceWeekday(weekday=flag.weekday, attribute=flag.column, yes=flag.yes)
                for flag in service.flags
            ),
            start=service.start,
            end=service.end,
            changes=None if exceptions is None else _changes(exceptions),
        ),
        mapped_source_tables=(service.table, *([exceptions.table] if exceptions else [])),
        source_columns=(
            *source_columns(service.table, (*period, *(flag.column for flag in service.flags))),
            *(
                source_columns(exceptions.table, tuple(_columns_of_exceptions(exceptions)))
                if exceptions
                else ()
            ),
        ),
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
    if member in _GENERIC_WORDS and len(key) == 1:
        return "_".join(strip_key_words(words(key[0]))) or member
    return "_".join((*member.split("_")[:-1], singular(member.split("_")[-1])))


def _changes(exceptions: ServiceExceptions) -> ServiceChanges:
    return ServiceChanges(
        entity_name=exceptions.table,
        columns=exceptions.columns,
        to_columns=exceptions.to_columns,
        date=exceptions.date,
        effect=exceptions.effect,
        added=exceptions.added,
        removed=exceptions.removed,
    )


def _columns_of_exceptions(exceptions: ServiceExceptions) -> Iterator[str]:
    yield from (*exceptions.columns, exceptions.date)
    if exceptions.effect:
        yield exceptions.effect


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
