"""The generated calendar: a dimension of all days, for facts that are dated."""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, Fact
from fluid_build.modeling.element import SourceColumn

CALENDAR_DAY = "full_date"
WIDE_CALENDAR_COLUMNS = (CALENDAR_DAY, "year_number", "month_number")
"""The columns of a day that a wide fact carries; the others follow from these."""
_COLUMNS: tuple[tuple[str, str, str], ...] = (
    (CALENDAR_DAY, "date", "The day."),
    ("year_number", "integer", "The year."),
    ("quarter_number", "integer", "The quarter of the year, 1 to 4."),
    ("month_number", "integer", "The month of the year, 1 to 12."),
    ("month_name", "string", "The month's English name."),
    ("day_of_month", "integer", "The day of the month."),
    ("day_of_week", "integer", "The day of the week, 1 for Monday to 7 for Sunday."),
    ("day_name", "string", "The day's English name."),
    ("week_start_date", "date", "The Monday of the week."),
    ("is_weekend", "boolean", "Whether it is a Saturday or Sunday."),
)


@dataclass(frozen=True, slots=True)
class GeneratedCalendar:
    """The names of the generated calendar's dimension and of its key."""

    name: str
    key: str


def calendar_dimensions(
    calendar: GeneratedCalendar, facts: Sequence[Fact]
) -> tuple[Dimension, ...]:
    """Return the generated calendar; nothing where no fact refers to it."""
    dates = _dates(calendar, facts)
    if not dates:
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
            for name, type_, description in _COLUMNS
        ),
        mapped_source_tables=tuple(dict.fromkeys(date.table for date in dates)),
        source_columns=dates,
        reason="All facts share one calendar, so they can be grouped by day, month and year.",
    )
    return (dimension,)


def _dates(calendar: GeneratedCalendar, facts: Sequence[Fact]) -> tuple[SourceColumn, ...]:
    """Return the columns of all dates by which facts refer to the calendar."""
    dates: dict[SourceColumn, None] = {}
    for fact in facts:
        entities = {"": fact.entity_name} | {join.name: join.entity for join in fact.joins}
        for reference in fact.dimensions:
            if reference.dimension == calendar.name:
                table = entities[reference.source]
                dates[SourceColumn(table=table, column=reference.columns[0])] = None
    return tuple(dates)
