"""Migrations: how relations that remember come to have the columns that a changed model writes.

Each is a few plain statements that may run again, for one relation or one column of it. Who runs
them records each in the warehouse's own table, so that none runs twice. A history whose new column
isn't filled yet takes its present values in the versions that are valid now, at the next load.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from fluid_build.modeling.element import ModelPart, SourceColumn
from fluid_build.modeling.evolution import Evolution
from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.called_models import expression
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.stateful import StoredColumn

MigrationKind = Literal["add_column", "widen_column", "retire_column", "retire_relation"]
FOLDER = "migrations"
_RETIRED_COLUMN = "The source no longer has this column. Rows keep what they had."
_RETIRED_RELATION = "The source no longer has what this is loaded from. Its rows stay."


class Migration(ModelPart):
    """A change of a relation that is in a warehouse; ``column`` is the one that it's about.

    A column that is added or widened has the ``type`` of that name in DuckDB. ``before`` is the
    plan's SQL of what rows of earlier loads have in an added one, "" for null.
    """

    kind: MigrationKind
    relation: str
    column: str = ""
    type: str = ""
    before: str = ""


def migrations_of(
    plan: TransformPlan, stored: dict[str, tuple[StoredColumn, ...]], evolution: Evolution
) -> tuple[Migration, ...]:
    """Return the migrations that follow from how a model evolved, whatever a warehouse has."""
    return tuple(_migrations(plan, stored, evolution))


def _migrations(
    plan: TransformPlan, stored: dict[str, tuple[StoredColumn, ...]], evolution: Evolution
) -> Iterator[Migration]:
    dated = set(evolution.dated_tables)
    retyped = set(evolution.retyped_columns)
    later = {(each.relation, each.column) for each in evolution.later_columns}
    for relation, columns in stored.items():
        if plan.build(relation).is_retired:
            yield Migration(kind="retire_relation", relation=relation)
            continue
        is_dated = not dated.isdisjoint(plan.build(relation).mapped_source_tables)
        valued = [column for column in columns if _has_values(column)]
        if valued and all(_is_of(column, evolution.added_columns) for column in valued):
            # A relation of its own, such as a further satellite: no warehouse has it without them,
            # but it may be older than the decision that dates its rows.
            yield from (added(relation, c) for c in columns if is_dated and c.is_applied_date)
            continue
        for column in columns:
            came = (relation, column.name) in later or _is_of(column, evolution.added_columns)
            if came or (is_dated and column.is_applied_date):
                yield added(relation, column)
            # The key of a hub has the values of several tables.
            if not (column.before or retyped.isdisjoint(column.source_columns)):
                yield widened(relation, column)
            is_lasting = plan.build(relation).materialization == "incremental"
            if is_lasting and _is_of(column, evolution.retired_columns):
                yield Migration(kind="retire_column", relation=relation, column=column.name)


def _is_of(column: StoredColumn, changed: Sequence[SourceColumn]) -> bool:
    """Whether a column has the values of one that changed; keys and hashes have none."""
    return _has_values(column) and column.source_columns[0] in changed


def _has_values(column: StoredColumn) -> bool:
    return column.before == "" and len(column.source_columns) == 1


def added(relation: str, column: StoredColumn) -> Migration:
    """Return the migration that adds a column to a relation."""
    return Migration(
        kind="add_column",
        relation=relation,
        column=column.name,
        type=column.type,
        before=column.before,
    )


def widened(relation: str, column: StoredColumn) -> Migration:
    """Return the migration that gives a column of a relation a wider type, in place."""
    return Migration(kind="widen_column", relation=relation, column=column.name, type=column.type)


def statements(migration: Migration, relation: str, dialect: TargetDialect) -> tuple[str, ...]:
    """Return the statements of a migration; ``relation`` is where its relation is, in SQL."""
    column = migration.column
    if migration.kind == "add_column":
        return tuple(_adding(migration, relation, dialect))
    if migration.kind == "widen_column":
        return (_widening(column, dialect.type(migration.type), relation, dialect.target),)
    if migration.kind == "retire_column":
        return (_column_comment(column, relation, dialect.target),)
    return (_relation_comment(relation, dialect.target),)


def _adding(migration: Migration, relation: str, dialect: TargetDialect) -> Iterator[str]:
    column, type_ = migration.column, dialect.type(migration.type)
    if dialect.target == "databricks":
        yield f"ALTER TABLE {relation} ADD COLUMNS ({column} {type_})"
    else:
        yield f"ALTER TABLE {relation} ADD COLUMN IF NOT EXISTS {column} {type_}"
    if migration.before:
        before = expression(migration.before, dialect)
        yield f"UPDATE {relation} SET {column} = {before} WHERE {column} IS NULL"


def _widening(column: str, type_: str, relation: str, target: Target) -> str:
    """Return what changes a type in place; some databases only do so for a table made again."""
    widened_column = f"CAST({column} AS {type_})"
    if target == "duckdb":
        return f"ALTER TABLE {relation} ALTER COLUMN {column} TYPE {type_}"
    if target == "postgres":
        return f"ALTER TABLE {relation} ALTER COLUMN {column} TYPE {type_} USING {widened_column}"
    if target == "databricks":
        others = f"* EXCEPT ({column}), {widened_column} AS {column}"
    elif target == "snowflake":
        # It knows no other way to more digits after the point, or from a number to a text.
        others = f"* REPLACE ({widened_column} AS {column})"
        return f"CREATE OR REPLACE TABLE {relation} COPY GRANTS AS SELECT {others} FROM {relation}"
    else:
        others = f"* REPLACE ({widened_column} AS {column})"
    return f"CREATE OR REPLACE TABLE {relation} AS SELECT {others} FROM {relation}"


def _column_comment(column: str, relation: str, target: Target) -> str:
    comment = literal(_RETIRED_COLUMN)
    if target == "bigquery":
        return f"ALTER TABLE {relation} ALTER COLUMN {column} SET OPTIONS (description = {comment})"
    if target == "databricks":
        return f"ALTER TABLE {relation} ALTER COLUMN {column} COMMENT {comment}"
    return f"COMMENT ON COLUMN {relation}.{column} IS {comment}"


def _relation_comment(relation: str, target: Target) -> str:
    comment = literal(_RETIRED_RELATION)
    if target == "bigquery":
        return f"ALTER TABLE {relation} SET OPTIONS (description = {comment})"
    return f"COMMENT ON TABLE {relation} IS {comment}"


def further_migrations(
    migrations: Iterable[Migration], earlier: Mapping[str, str], dialect: TargetDialect
) -> dict[str, str]:
    """Return a project's files of migrations by path: the earlier ones, and what those lack.

    A migration is in a file that has its statements for its relation. Files stay as they are, since
    warehouses have recorded them by name.
    """
    missing = [
        migration
        for migration in migrations
        if not any(_step_body(migration, dialect) in text for text in earlier.values())
    ]
    if not missing:
        return dict(earlier)
    numbers = [int(path.removeprefix(f"{FOLDER}/")[:4]) for path in earlier]
    path, text = migration_file(max(numbers, default=0) + 1, _words(missing), missing, dialect)
    return {**earlier, path: text}


def is_migration_file(path: str) -> bool:
    """Return whether a path in a project is one that ``migration_file`` names."""
    return _FILE.fullmatch(path) is not None


_FILE = re.compile(rf"{FOLDER}/[0-9]{{4}}_[a-z0-9_]{{1,80}}\.sql")


def _words(migrations: Sequence[Migration]) -> str:
    """Return what the first migration does, as a few words of a file's name."""
    first = migrations[0]
    verb = first.kind.partition("_")[0]
    name = re.sub(r"[^a-z0-9]+", "_", f"{verb}_{first.column or first.relation}".lower())
    more = "_and_more" if len({each.column or each.relation for each in migrations}) > 1 else ""
    return f"{name[:60].strip('_')}{more}"


def migration_file(
    number: int, what: str, migrations: Iterable[Migration], dialect: TargetDialect
) -> tuple[str, str]:
    """Return the path of a file of migrations in a dbt project, and the file: a macro.

    ``what`` is a few words of the file's name in snake_case.
    """
    name = f"{number:04}_{what}"
    steps = "\n".join(_step(name, migration, dialect) for migration in migrations)
    head = (
        "{#- What the warehouse needs before this project loads it again: dbt run-operation"
        " migrate -#}"
    )
    text = f"{head}\n{{% macro migration_{number:04}(steps, seen) %}}\n{steps}\n{{% endmacro %}}\n"
    return f"{FOLDER}/{name}.sql", text


def _step(name: str, migration: Migration, dialect: TargetDialect) -> str:
    return (
        f"{{% call(relation) migration_step(steps, seen, '{name}', {_step_body(migration, dialect)}"
    )


def _step_body(migration: Migration, dialect: TargetDialect) -> str:
    """Return what of a step doesn't depend on the file that it's in."""
    adds = ", adds=true" if migration.kind == "add_column" else ""
    body = ";\n".join(statements(migration, "{{ relation }}", dialect))
    return f"'{migration.relation}', '{migration.column}'{adds}) %}}\n{body}\n{{% endcall %}}"


def created_table(table: str, dialect: TargetDialect) -> str:
    """Return what makes the table of migrations where a warehouse hasn't got it yet."""
    text, moment = dialect.type("VARCHAR"), dialect.type("TIMESTAMP")
    return (
        f"CREATE TABLE IF NOT EXISTS {table} (\n    name {text},\n    relation {text},\n"
        f"    column_name {text},\n    applied_at {moment},\n    filled_at {moment}\n)"
    )


def recorded(
    table: str,
    name: str,
    migration: Migration,
    moment: str,
    dialect: TargetDialect,
    *,
    is_new: bool,
) -> str:
    """Return what records that a migration of the file ``name`` ran at a moment, in UTC.

    ``is_new`` says that it added a column which wasn't there: a history still has to fill it.
    """
    applied = f"CAST({literal(moment)} AS {dialect.type('TIMESTAMP')})"
    values = ", ".join(map(literal, (name, migration.relation, migration.column)))
    return (
        f"INSERT INTO {table} (name, relation, column_name, applied_at, filled_at)"
        f" VALUES ({values}, {applied}, {'NULL' if is_new else applied})"
    )


def shown_type(type_: str, target: Target) -> str:
    """Return how a database's own catalog shows a type of ours, in lower case without spaces.

    Only of DuckDB and PostgreSQL; "" for others, whose catalogs aren't compared.
    """
    if target not in ("duckdb", "postgres"):
        return ""
    shown = type_.lower().replace(" ", "")
    if target == "duckdb":
        return shown
    head, opening, digits = shown.partition("(")
    return f"{_IN_POSTGRES.get(head, head)}{opening}{digits}"


_IN_POSTGRES = {
    "int": "integer",
    "decimal": "numeric",
    "doubleprecision": "doubleprecision",
    "timestamp": "timestampwithouttimezone",
    "timestamptz": "timestampwithtimezone",
    "time": "timewithouttimezone",
    "timetz": "timewithtimezone",
}
