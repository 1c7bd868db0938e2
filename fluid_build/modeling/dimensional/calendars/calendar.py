"""The generated calendar: a dimension of all days, for facts that are dated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    CalendarSettings,
    Dimension,
    DimensionAttribute,
    Fact,
    ServiceDays,
)
from fluid_build.modeling.element import SourceColumn

CALENDAR_DAY = "full_date"
WIDE_CALENDAR_COLUMNS = (
    CALENDAR_DAY,
    "year_number",
    "month_number",
    "fiscal_year",
    "fiscal_period",
)
"""The columns of a day that a wide fact carries; the others follow from these."""
_COLUMNS: tuple[tuple[str, str, str], ...] = (
    (CALENDAR_DAY, "date", "The day."),
    ("year_number", "integer", "The year."),
    ("quarter_number", "integer", "The quarter of the year, 1 to 4."),
    ("month_number", "integer", "The month of the year, 1 to 12."),
    ("month_name", "string", "The month's name in {language}."),
    ("day_of_month", "integer", "The day of the month."),
    ("day_of_week", "integer", "The day of the week, 1 for Monday to 7 for Sunday."),
    ("day_name", "string", "The day's name in {language}."),
    ("iso_year", "integer", "The year that the ISO week belongs to: that of its Thursday."),
    ("iso_week", "integer", "The week of the ISO year, 1 to 53: its weeks start on Monday."),
    ("week_start_date", "date", "The Monday of the week."),
    ("is_weekend", "boolean", "Whether it is a Saturday or Sunday."),
)
_FISCAL_COLUMNS: tuple[tuple[str, str, str], ...] = (
    (
        "fiscal_year",
        "integer",
        "The fiscal year, which starts in {month}. It's named after the calendar year in which it"
        " ends.",
    ),
    ("fiscal_quarter", "integer", "The quarter of the fiscal year, 1 to 4."),
    ("fiscal_period", "integer", "The month of the fiscal year, 1 for {month} to 12."),
)


@dataclass(frozen=True, slots=True)
class GeneratedCalendar:
    """The generated calendar: the names of its dimension and of its key, and its settings.

    ``times`` is the dimension of the times of a day, which its dates have beside it.
    """

    name: str
    key: str
    settings: CalendarSettings = DEFAULT_CALENDAR
    times: str = "dim_time_of_day"


def calendar_dimensions(
    calendar: GeneratedCalendar, facts: Sequence[Fact]
) -> tuple[Dimension, ...]:
    """Return the generated calendar; nothing where no fact refers to it."""
    dates = calendar_dates(calendar.name, facts)
    is_used = any(r.dimension == calendar.name for fact in facts for r in fact.dimensions)
    if not is_used:
        return ()
    dimension = Dimension(
        name=calendar.name,
        entity_name="",
        description="Every day of each year that has an event.",
        dimension_type="date",
        surrogate_key=calendar.key,
        natural_key_columns=(CALENDAR_DAY,),
        attributes=tuple(
            DimensionAttribute(
                name=name,
                type=type_,
                scd_type=0,
                description=description,
                reason="A property of the day, which never changes.",
            )
            for name, type_, description in _columns(calendar.settings)
        ),
        mapped_source_tables=tuple(dict.fromkeys(date.table for date in dates)),
        source_columns=dates,
        reason="One calendar for the dates of all facts, which group by day, month and year.",
        calendar=calendar.settings,
    )
    return (dimension,)


def _columns(settings: CalendarSettings) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and description of each column, the fiscal ones where there is a year."""
    start = settings.fiscal_year_start
    month = DEFAULT_CALENDAR.month_names[start - 1] if start else ""
    for name, type_, description in (*_COLUMNS, *(_FISCAL_COLUMNS if start else ())):
        yield name, type_, description.format(language=settings.language, month=month)


def calendar_dates(calendar: str, facts: Sequence[Fact]) -> tuple[SourceColumn, ...]:
    """Return the columns of all dates by which facts refer to the calendar of that name."""
    dates: dict[SourceColumn, None] = {}
    for fact in facts:
        if fact.service_days is not None:
            for column in _service_dates(fact.service_days):
                dates[column] = None
            continue
        entities = {"": fact.entity_name} | {join.name: join.entity for join in fact.joins}
        for reference in fact.dimensions:
            if reference.dimension == calendar and reference.columns:
                table = entities[reference.source]
                dates[SourceColumn(table=table, column=reference.columns[0])] = None
    return tuple(dates)


def _service_dates(service: ServiceDays) -> Iterator[SourceColumn]:
    """Yield the columns of the first and last day of services, and of their exceptions."""
    for column in (service.start, service.end):
        yield SourceColumn(table=service.entity_name, column=column)
    if service.changes is not None:
        yield SourceColumn(table=service.changes.entity_name, column=service.changes.date)
