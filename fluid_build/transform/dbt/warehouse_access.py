"""How the dbt project reads a source that is in the warehouse that it builds in."""

from collections.abc import Callable, Iterator, Sequence

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.base import Source, Table
from fluid_build.sources.origin import InDatabase
from fluid_build.text import listed_up_to
from fluid_build.transform.dbt.profiles_yml import warehouse_profile
from fluid_build.transform.dbt.project_names import project_name
from fluid_build.transform.dbt.source_entries import (
    SCHEMA_VARIABLE,
    SourceAccess,
    SourceEntry,
    inside_quotes,
    schema_variable,
)
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target
from fluid_build.transform.plan.elements import PlanSource, TransformPlan

_MOST_NAMED = 5
"""Tables that a note names; the others are counted."""


def warehouse_access(
    source: Source,
    plan: TransformPlan,
    pairs: Sequence[tuple[PlanSource, Table]],
    target: Target,
) -> SourceAccess:
    """Return the access of a project that builds in the database that has the source tables."""
    places = [_place_in_warehouse(table) for _, table in pairs]
    schemas = {schema for schema, _ in places}
    at_home = source.kind == target
    own = at_home or len(schemas) > 1
    model_schema = free_identifier(f"{plan.name}_model", {schema.lower() for schema in schemas})
    profile = warehouse_profile(
        project_name(plan), target, model_schema, database=_home(source, pairs) if at_home else None
    )
    escape = inside_quotes if target in ("postgres", "snowflake") else str
    return SourceAccess(
        name=plan.name,
        entries=tuple(
            SourceEntry(
                id=plan_source.id,
                table=plan_source.table,
                identifier=escape(name),
                schema=escape(schema) if own else schema_variable(plan.name),
                database=_database(table, escape) if at_home else None,
            )
            for (plan_source, table), (schema, name) in zip(pairs, places, strict=True)
        ),
        profiles_yml=profile.text,
        notes=(
            *_note_on_loading(target, plan.name, own=own, at_home=at_home),
            *_notes_on_twins(pairs),
            *_note_on_split_tables(pairs),
        ),
        schema=model_schema,
        variables=profile.variables,
    )


def _home(source: Source, pairs: Sequence[tuple[PlanSource, Table]]) -> str:
    """Return the database, project or catalog that the source is in."""
    origins = (table.origin for _, table in pairs)
    databases = (origin.database for origin in origins if isinstance(origin, InDatabase))
    return next(filter(None, databases), source.name)


def _database(table: Table, escape: Callable[[str], str]) -> str | None:
    origin = table.origin
    return (escape(origin.database) or None) if isinstance(origin, InDatabase) else None


def _place_in_warehouse(table: Table) -> tuple[str, str]:
    if isinstance(table.origin, InDatabase):
        return table.origin.schema, table.origin.table
    return "", table.name


def _note_on_loading(target: Target, name: str, *, own: bool, at_home: bool) -> tuple[str, ...]:
    if at_home:
        return ("The source tables are read where they are, from their own schemas.",)
    where = (
        "into schemas of the same names"
        if own
        else f"into one schema, which the variable {SCHEMA_VARIABLE} names ({name} by default)"
    )
    return (
        f"Load the source tables into {TARGET_LABELS[target]} first, {where}. Keep the names"
        " of tables and columns exactly as spelled in the source.",
    )


def _note_on_split_tables(pairs: Sequence[tuple[PlanSource, Table]]) -> Iterator[str]:
    split = [source.table for source, table in pairs if table.split is not None]
    if split:
        yield (
            f"{listed_up_to(_MOST_NAMED, split)} were split from nested columns, so the project"
            " needs tables or views of these names with the columns of the contract. With"
            " `--nested keep`, it reads the nested columns instead."
        )


def _notes_on_twins(pairs: Sequence[tuple[PlanSource, Table]]) -> Iterator[str]:
    for source, table in pairs:
        for column in table.columns:
            if column.alias != column.name:
                yield (
                    f"{source.table} has columns whose names differ only in case: the project"
                    f" reads {column.name} as {column.alias}, so it needs a view with that name."
                )
