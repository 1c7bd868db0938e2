"""What is generated: every day of each year that occurs in the data, and every minute of a day."""

from collections.abc import Sequence

from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    Dimension,
)
from fluid_build.modeling.types import type_name
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.dimensional.mart_calls import Arguments, mart_call
from fluid_build.transform.plan.dimensional.mart_tests import surrogate_key_tests
from fluid_build.transform.plan.dimensional.star import DATE_KEY_TYPE, Star
from fluid_build.transform.plan.elements import (
    Build,
    MacroCall,
    PlanColumn,
    Relation,
    Sql,
    SqlType,
)
from fluid_build.transform.plan.macro_calls import CalledSql

DIGITS = "\nUNION ALL ".join(("SELECT 0 AS digit", *(f"SELECT {n}" for n in range(1, 10))))
"""The numbers 0 to 9, of which queries make series: every target has its own way otherwise."""

_TYPES = {"date": "DATE", "integer": "INTEGER", "string": "VARCHAR", "boolean": "BOOLEAN"}


def calendar_build(star: Star, dimension: Dimension, more_days: Sequence[Arguments]) -> Build:
    """Return the build of the generated calendar.

    ``more_days`` say where days are, other than in the source's columns, whose years it has.
    """
    entities = {column.table for column in dimension.source_columns}
    return _build(
        dimension,
        _call(star, dimension, more_days),
        "The day as a number, 20260131; -1 if there is no date.",
        ref_models=(
            *(
                star.names.staging(entity.name)
                for entity in star.conceptual.entities
                if entity.name in entities
            ),
            *(snapshot.name for snapshot in star.snapshots),
        ),
    )


def time_of_day_build(dimension: Dimension) -> Build:
    """Return the build of the times of a day."""
    call = mart_call(
        "times_of_day",
        dimension.name,
        key=dimension.surrogate_key,
        columns=_types(dimension),
    )
    return _build(dimension, call, "The time as a number, 1405 for 14:05; -1 if there is none.")


def _build(
    dimension: Dimension,
    called: tuple[MacroCall, CalledSql],
    key: str,
    ref_models: tuple[str, ...] = (),
) -> Build:
    call, made = called
    return Build(
        name=dimension.name,
        layer="mart",
        materialization="table",
        title=dimension.name,
        description=dimension.description,
        sql=made.sql,
        next_load=made.next_load,
        call=call,
        ref_models=ref_models,
        columns=(
            technical(
                dimension.surrogate_key,
                DATE_KEY_TYPE,
                key,
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
    """Return the columns of a generated dimension except its key."""
    return [
        PlanColumn(
            name=attribute.name,
            type=_TYPES[attribute.type],
            contract_type=type_name(_TYPES[attribute.type]),
            description=attribute.description,
            mapped_source_tables=dimension.mapped_source_tables,
            source_columns=(
                dimension.source_columns if attribute.name in dimension.natural_key_columns else ()
            ),
            reason=attribute.reason,
        )
        for attribute in dimension.attributes
    ]


def _call(
    star: Star, dimension: Dimension, more_days: Sequence[Arguments]
) -> tuple[MacroCall, CalledSql]:
    settings = dimension.calendar or DEFAULT_CALENDAR
    by_table: dict[str, list[str]] = {}
    for column in dimension.source_columns:
        columns = by_table.setdefault(column.table, [])
        is_moment = star.is_moment(column.table, column.column)
        columns.append(star.column(column.table, column.column) if is_moment else "NULL")
    days: list[Arguments] = [
        {"in": Relation(star.names.staging(table)), "columns": columns}
        for table, columns in by_table.items()
    ]
    return mart_call(
        "calendar",
        dimension.name,
        key=dimension.surrogate_key,
        days=[*days, *more_days],
        columns=_types(dimension),
        keeps_days=not all(
            star.present.has(column.table, column.column)
            and star.is_moment(column.table, column.column)
            for column in dimension.source_columns
        ),
        month_names=_other_than(settings.month_names, DEFAULT_CALENDAR.month_names),
        day_names=_other_than(settings.day_names, DEFAULT_CALENDAR.day_names),
        fiscal_year_start=settings.fiscal_year_start or "",
    )


def _types(dimension: Dimension) -> dict[str, SqlType]:
    return {column.name: SqlType(_TYPES[column.type]) for column in dimension.attributes}


def _other_than(names: Sequence[str], usual: Sequence[str]) -> list[Sql]:
    """Return names as the macro writes them; none where they are those that it has itself."""
    return [Sql(literal(name)) for name in names] if names != usual else []
