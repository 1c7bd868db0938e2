"""The generated calendar: every day of each year that occurs in the data.

A date far away, such as 9999-12-31, adds its own year and not the millennia before it. With too
many years to fill, only the days that occur are there.
"""

from collections.abc import Sequence

from fluid_build.modeling.dimensional.calendars.calendar import CALENDAR_DAY
from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    UNKNOWN_DATE_KEY,
    CalendarSettings,
    Dimension,
)
from fluid_build.modeling.types import type_name
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.dimensional.mart_tests import surrogate_key_tests
from fluid_build.transform.plan.dimensional.star import DATE_KEY_TYPE, Star
from fluid_build.transform.plan.elements import Build, PlanColumn
from fluid_build.transform.plan.sql_layout import indent, select_list

_MOST_YEARS = 400
"""Years that are filled with all of their days: about 146,000 rows."""
_FOR_EVER = 99_999_999
"""The key of infinity (negative: minus infinity): no day has a month 99."""

DIGITS = "\nUNION ALL ".join(("SELECT 0 AS digit", *(f"SELECT {n}" for n in range(1, 10))))
"""The numbers 0 to 9, of which queries make series: every target has its own way otherwise."""

_MONTH = "CAST(EXTRACT(MONTH FROM full_date) AS INTEGER)"
_TYPES = {"date": "DATE", "integer": "INTEGER", "string": "VARCHAR", "boolean": "BOOLEAN"}
_EXPRESSIONS = {
    CALENDAR_DAY: "full_date",
    "year_number": "CAST(EXTRACT(YEAR FROM full_date) AS INTEGER)",
    "quarter_number": "CAST(EXTRACT(QUARTER FROM full_date) AS INTEGER)",
    "month_number": _MONTH,
    "day_of_month": "CAST(EXTRACT(DAY FROM full_date) AS INTEGER)",
    "day_of_week": "CAST(day_of_week AS INTEGER)",
    "iso_year": "CAST(EXTRACT(YEAR FROM thursday) AS INTEGER)",
    # Whole weeks before it, and one. Without the remainder, every dialect divides exactly.
    "iso_week": "CAST((year_day_of_thursday - year_day_of_thursday % 7) / 7 AS INTEGER) + 1",
    "week_start_date": "CAST(full_date - CAST(day_of_week - 1 AS INTEGER) AS DATE)",
    "is_weekend": "day_of_week >= 6",
}


def calendar_build(star: Star, dimension: Dimension, more_days: Sequence[str]) -> Build:
    """Return the build of the generated calendar.

    ``more_days`` are queries for days, other than those in the source's columns, whose years it
    has; they may read ``digits``.
    """
    entities = {column.table for column in dimension.source_columns}
    return Build(
        name=dimension.name,
        layer="mart",
        materialization="table",
        title=dimension.name,
        description=dimension.description,
        sql=_sql(star, dimension, more_days),
        ref_models=(
            *(
                star.names.staging(entity.name)
                for entity in star.conceptual.entities
                if entity.name in entities
            ),
            *(snapshot.name for snapshot in star.snapshots),
        ),
        columns=(
            technical(
                dimension.surrogate_key,
                DATE_KEY_TYPE,
                "The day as a number, 20260131; -1 if there is no date.",
                tags=("primary-key", "technical"),
            ),
            *calendar_columns(dimension),
        ),
        key=(dimension.surrogate_key,),
        tests=surrogate_key_tests(dimension.name, dimension.surrogate_key),
        mapped_source_tables=dimension.mapped_source_tables,
        source_columns=dimension.source_columns,
        reason=dimension.reason,
    )


def calendar_columns(dimension: Dimension) -> list[PlanColumn]:
    """Return the columns of the calendar except its key."""
    return [
        PlanColumn(
            name=attribute.name,
            type=_TYPES[attribute.type],
            contract_type=type_name(_TYPES[attribute.type]),
            description=attribute.description,
            mapped_source_tables=dimension.mapped_source_tables,
            source_columns=dimension.source_columns if attribute.name == CALENDAR_DAY else (),
            reason=attribute.reason,
        )
        for attribute in dimension.attributes
    ]


def _sql(star: Star, dimension: Dimension, more_days: Sequence[str]) -> str:
    occurring = "\nUNION\n".join(
        (
            *(
                f"SELECT CAST({star.column(column.table, column.column)} AS DATE) AS full_date\n"
                f"FROM {star.staged(column.table)}"
                for column in dimension.source_columns
            ),
            *more_days,
        )
    )
    expressions = _EXPRESSIONS | _settled_expressions(dimension.calendar or DEFAULT_CALENDAR)
    columns = [
        (day_key("full_date"), dimension.surrogate_key),
        *((expressions[column.name], column.name) for column in dimension.attributes),
    ]
    unknown = [
        (f"CAST({UNKNOWN_DATE_KEY} AS {DATE_KEY_TYPE})", dimension.surrogate_key),
        *((f"CAST(NULL AS {_TYPES[column.type]})", column.name) for column in dimension.attributes),
    ]
    return f"""\
WITH digits AS (
{indent(DIGITS)}
),
occurring AS (
{indent(occurring)}
),
{_DAYS_OF_YEARS}
SELECT
{select_list(columns)}
FROM week_days
UNION ALL
SELECT
{select_list(unknown)}"""


def _settled_expressions(settings: CalendarSettings) -> dict[str, str]:
    """Return the expressions of the columns that the calendar's settings decide."""
    expressions = {
        "month_name": _names(_MONTH, settings.month_names),
        "day_name": _names("day_of_week", settings.day_names),
    }
    start = settings.fiscal_year_start
    if start is None:
        return expressions
    months_before = f"({_MONTH} + {12 - start}) % 12"
    is_next_year = f" + CASE WHEN {_MONTH} >= {start} THEN 1 ELSE 0 END" if start > 1 else ""
    return expressions | {
        "fiscal_year": f"{_EXPRESSIONS['year_number']}{is_next_year}",
        "fiscal_quarter": (f"CAST(({months_before} - {months_before} % 3) / 3 AS INTEGER) + 1"),
        "fiscal_period": f"{months_before} + 1",
    }


def _names(number: str, names: Sequence[str]) -> str:
    whens = "\n".join(f"    WHEN {n} THEN {literal(name)}" for n, name in enumerate(names, 1))
    return f"CASE {number}\n{whens}\nEND"


def day_of_week(day: str) -> str:
    """Return SQL for the weekday of a day, 1 for Monday to 7."""
    return f"((DATE_DIFF('day', DATE '1900-01-01', {day}) % 7) + 7) % 7 + 1"


def day_key(day: str) -> str:
    """Return SQL for the key of a day in the calendar."""
    return (
        "COALESCE(\n"
        f"    CAST(EXTRACT(YEAR FROM {day}) AS BIGINT) * 10000\n"
        f"    + CAST(EXTRACT(MONTH FROM {day}) AS BIGINT) * 100\n"
        f"    + CAST(EXTRACT(DAY FROM {day}) AS BIGINT),\n"
        f"    CASE WHEN {day} > DATE '1900-01-01' THEN {_FOR_EVER} ELSE -{_FOR_EVER} END\n"
        ")"
    )


_DAYS_OF_YEARS = f"""\
year_days AS (
    SELECT 100 * hundreds.digit + 10 * tens.digit + ones.digit AS days
    FROM digits AS hundreds
    CROSS JOIN digits AS tens
    CROSS JOIN digits AS ones
    WHERE 100 * hundreds.digit + 10 * tens.digit + ones.digit < 366
),
years AS (
    SELECT DISTINCT
        CAST(DATE_TRUNC('YEAR', full_date) AS DATE) AS first_day,
        CAST(EXTRACT(YEAR FROM full_date) AS INTEGER) AS year_number
    FROM occurring
    WHERE EXTRACT(YEAR FROM full_date) BETWEEN 1 AND 9999
),
calendar_days AS (
    SELECT full_date
    FROM occurring
    WHERE full_date IS NOT NULL
    UNION
    SELECT CAST(years.first_day + CAST(year_days.days AS INTEGER) AS DATE) AS full_date
    FROM years
    CROSS JOIN year_days
    WHERE
        (
            year_days.days < 365
            OR (
                years.year_number % 4 = 0
                AND (years.year_number % 100 <> 0 OR years.year_number % 400 = 0)
            )
        )
        AND (SELECT COUNT(*) FROM years) <= {_MOST_YEARS}
),
weekdays AS (
    SELECT
        full_date,
        {day_of_week("full_date")} AS day_of_week
    FROM calendar_days
),
weeks AS (
    SELECT
        full_date,
        day_of_week,
        CAST(full_date + CAST(4 - day_of_week AS INTEGER) AS DATE) AS thursday
    FROM weekdays
),
week_days AS (
    SELECT
        full_date,
        day_of_week,
        thursday,
        DATE_DIFF('day', CAST(DATE_TRUNC('YEAR', thursday) AS DATE), thursday)
            AS year_day_of_thursday
    FROM weeks
)"""
"""From the days that occur to all days of their years, with what weeks are counted by."""
