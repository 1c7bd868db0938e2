"""The generated times of the day: a dimension of all minutes, apart from that of the days.

Together they'd have a row for each minute of each year. Apart, a fact is grouped by the hour over
all days as easily as by the day.
"""

from collections.abc import Sequence

from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, Fact
from fluid_build.modeling.element import SourceColumn
from fluid_build.observations.times_of_day import TimesOfDay

TIME_KEY = "time_key"
TIME_OF_DAY = "time_of_day"
WIDE_TIME_COLUMNS = ("hour_of_day", "part_of_day")
"""The columns of a time that a wide fact carries; its moment says the minute."""
_COLUMNS: tuple[tuple[str, str, str], ...] = (
    (TIME_OF_DAY, "string", "The time to the minute, such as 14:05."),
    ("hour_of_day", "integer", "The hour, 0 to 23."),
    ("minute_of_hour", "integer", "The minute of the hour, 0 to 59."),
    ("hour_label", "string", "The hour from its first to its last minute: 14:00 to 14:59."),
    (
        "part_of_day",
        "string",
        "Night until 05:59, morning until 11:59, afternoon until 17:59, then evening.",
    ),
)


def time_of_day_dimensions(name: str, facts: Sequence[Fact]) -> tuple[Dimension, ...]:
    """Return the dimension of the times of the day; nothing where no fact refers to it."""
    moments = tuple(
        dict.fromkeys(
            SourceColumn(table=fact.entity_name, column=column)
            for fact in facts
            for reference in fact.dimensions
            if reference.dimension == name and not reference.source
            for column in reference.columns
        )
    )
    if not any(r.dimension == name for fact in facts for r in fact.dimensions):
        return ()
    dimension = Dimension(
        name=name,
        entity_name="",
        description="Every minute of the day.",
        dimension_type="time",
        surrogate_key=TIME_KEY,
        natural_key_columns=(TIME_OF_DAY,),
        attributes=tuple(
            DimensionAttribute(
                name=column,
                type=type_,
                scd_type=0,
                description=description,
                reason="A property of the minute, which never changes.",
            )
            for column, type_, description in _COLUMNS
        ),
        mapped_source_tables=tuple(dict.fromkeys(moment.table for moment in moments)),
        source_columns=moments,
        reason="One dimension for the times of all facts, which group by hour and part of the day.",
    )
    return (dimension,)


def reason_for_time(times: TimesOfDay) -> str:
    """Return why a fact refers to the time of a moment."""
    return (
        f"The time of {times.column}: {times.minutes:,} different minutes in {times.hours} hours"
        " of the day."
    )
