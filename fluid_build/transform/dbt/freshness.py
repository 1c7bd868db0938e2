"""When dbt says that a source table is stale: by which column, and after how many days.

A table is loaded when its newest row was written. That is told, in this order, by a column that is
named as the time of the last change, or of the creation, of the row; or by the date of its event,
where every row has one and it rises with the table's counting key, so that rows are written as
things happen. How long a table usually waits for its next row is measured in whole days: nights and
weekends are no fault. dbt only warns: a forge doesn't know today's date, so it can't tell a source
that rests for years from one that broke yesterday. A table that had already rested longer than it
ever did, when most of the others still got rows, has no such age: it would be stale on the first
day, and an age beyond that rest would never be reached by one that broke.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from statistics import median_high

import duckdb

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    is_creation,
    is_date,
    is_of_period,
    is_planned,
    is_record_stamp,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.observations.observed_tables import reporting_failures, unless_unreadable
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import quote
from fluid_build.text import counted
from fluid_build.transform.plan.present_source import present_source
from fluid_build.transform.plan.staging import by_value, reading, staged_type

_FEWEST_DAYS = 20
"""Days with rows from which on a table's habit shows: with fewer, one pause is a habit."""
_USUAL = 0.99
"""Share of the pauses between two days with rows that are usual; longer ones, as at the end of a
year, may be asked about."""
_MOST_BACKWARDS = 0.01
"""Share of rows whose date may be before that of the row with the key before: corrections."""
_COUNTING_TYPES = frozenset({"SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})


@dataclass(frozen=True, slots=True)
class Freshness:
    """How dbt tells when a source table was loaded last, or why nothing tells it.

    ``loaded_at`` is the plan's SQL of the moment that a row was written, "" where nothing says
    that; dbt warns when there's none in ``days``, and never where they are 0. ``reason`` is what
    both rest on.
    """

    reason: str
    loaded_at: str = ""
    days: int = 0


NOTHING_MEASURED: Mapping[str, Freshness] = {}


@dataclass(frozen=True, slots=True)
class _Habit:
    """How a column's days follow each other: the usual and the longest pause, the newest day."""

    column: str
    loaded_at: str
    days: int
    usual: int
    longest: int
    newest: date


def source_freshness(source: Source, model: LogicalModel) -> dict[str, Freshness]:
    """Return the freshness of each table of a model by the model's name of it."""
    relations = {table.name: table for table in source.tables}
    present, entities = present_source(model), model.conceptual.entities
    habits: dict[str, _Habit] = {}
    if source.has_data:
        with reporting_failures(source):
            for entity in entities:
                table = relations.get(present.new_name(entity.name) or entity.name)
                if table is not None and present.has_table(entity.name):
                    columns = dict(present.columns(entity))
                    found = _habits(source.connection, entity, table, columns)
                    enough = (habit for habit in found if habit.days >= _FEWEST_DAYS)
                    if (habit := next(enough, None)) is not None:
                        habits[entity.name] = habit
    # One table with a date that lies ahead doesn't make the others late.
    of_most = median_high(habit.newest for habit in habits.values()) if habits else date.min
    nothing = Freshness(_NOTHING if source.has_data else _NO_ROWS)
    return {
        entity.name: _freshness(habits[entity.name], of_most) if entity.name in habits else nothing
        for entity in entities
    }


_NOTHING = (
    "No column says when a row was written: none is named as the time of its creation or change,"
    f" and no date rises with the rows on {_FEWEST_DAYS} days or more."
)
_NO_ROWS = "The source had no rows that show how often it's loaded."


def _freshness(habit: _Habit, newest_of_most: date) -> Freshness:
    found = (
        f"{habit.column} has {habit.days:,} days, {_USUAL:.0%} of them at most"
        f" {counted(habit.usual, 'day')} after the one before."
    )
    rest = (newest_of_most - habit.newest).days
    if rest > habit.longest:
        return Freshness(
            reason=(
                f"{found} The newest is {habit.newest}, {counted(rest, 'day')} before that of most"
                f" tables, and there had never been more than {counted(habit.longest, 'day')}"
                " without rows: it no longer gets any, or had already failed."
            ),
            loaded_at=habit.loaded_at,
        )
    pause = habit.usual
    if rest > habit.usual:
        pause = habit.longest
        found += (
            f" The newest is {counted(rest, 'day')} before that of most tables, and there have been"
            f" {counted(pause, 'day')} without rows."
        )
    # The day of the newest row isn't over, and that of the next has begun.
    return Freshness(found, habit.loaded_at, pause + 1)


def _habits(
    connection: duckdb.DuckDBPyConnection,
    entity: Entity,
    table: Table,
    columns: Mapping[str, Attribute],
) -> Iterator[_Habit]:
    """Return what the columns show that say when a row was written, the surest first.

    ``columns`` are those that the source has, by what they're read by.
    """
    values = {
        attribute.name: reading(quote(alias), attribute, by_value)
        for alias, attribute in columns.items()
    }
    stamps = [one for one in columns.values() if is_date(one) and is_record_stamp(one)]
    events = [
        event
        for event in event_dates(entity)
        if event.name in values
        and event not in stamps
        and event.required
        and not (is_planned(event) or is_of_period(event))
    ]
    for column in (*sorted(stamps, key=is_creation), *events):
        with unless_unreadable():
            value, key = values[column.name], _counting_key(entity)
            if column not in stamps and (
                key is None
                or key.name not in values
                or not _rises(connection, table, values[key.name], value)
            ):
                continue
            yield from _habit(connection, table, column, value)


def _counting_key(entity: Entity) -> Attribute | None:
    key = entity.primary_key
    if key is None or not key.holds or len(key.attributes) > 1:
        return None
    attribute = entity.attribute(key.attributes[0])
    return attribute if attribute.source_type in _COUNTING_TYPES else None


def _rises(connection: duckdb.DuckDBPyConnection, table: Table, key: str, value: str) -> bool:
    """Whether rows with a higher key have a later date."""
    row = connection.execute(
        "SELECT count_if(written < before) <= ? * count(*) FROM"
        f" (SELECT {value} AS written, lag({value}) OVER (ORDER BY {key}) AS before"
        f" FROM {table.relation})",
        [_MOST_BACKWARDS],
    ).fetchone()
    return bool(row and row[0])


def _habit(
    connection: duckdb.DuckDBPyConnection, table: Table, column: Attribute, value: str
) -> Iterator[_Habit]:
    row = connection.execute(
        f"WITH days AS (SELECT DISTINCT CAST({value} AS DATE) AS day FROM {table.relation}),"
        " pauses AS (SELECT day, day - lag(day) OVER (ORDER BY day) AS pause FROM days"
        " WHERE isfinite(day))"
        " SELECT count(*), CAST(ceil(quantile_cont(pause, ?)) AS INTEGER),"
        " max(pause), max(day) FROM pauses",
        [_USUAL],
    ).fetchone()
    if row is None or row[1] is None:
        return
    is_moment = staged_type(column, by_value).startswith("TIMESTAMP")
    yield _Habit(
        column=column.name,
        # dbt compares moments, and no days.
        loaded_at=value if is_moment else f"CAST({value} AS TIMESTAMP)",
        days=int(row[0]),
        usual=int(row[1]),
        longest=int(row[2]),
        newest=row[3],
    )
