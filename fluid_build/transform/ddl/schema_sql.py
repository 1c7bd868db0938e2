"""``schema.sql``: the published relations of a plan as CREATE TABLE statements of a target."""

import re
from collections.abc import Iterator, Mapping

from fluid_build.text import counted
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target, target_type
from fluid_build.transform.ddl.keys import (
    Columns,
    ForeignKey,
    foreign_keys,
    in_dependency_order,
    is_not_null,
    primary_key,
    unique_keys,
)
from fluid_build.transform.ddl.syntax import SYNTAX, Syntax
from fluid_build.transform.plan.elements import Build, PlanColumn, TransformPlan

SCHEMA_FILE = "schema.sql"
_LIMITED_TEXT = re.compile(r"(?:var)?char\((\d+)\)")


def ddl_files(plan: TransformPlan, target: Target) -> Mapping[str, str]:
    """Return the schema of what a plan publishes, by the name of its file."""
    builds = [build for build in plan.published if build.materialization != "view"]
    syntax = SYNTAX[target]
    keys = foreign_keys(builds, references_unique=syntax.references_unique)
    ordered = in_dependency_order(builds, keys)
    created: set[str] = set()
    statements: list[str] = [_header(target)]
    in_circles: list[ForeignKey] = []
    for build in ordered:
        if syntax.allows_circles:
            created.add(build.name)
        inside = [key for key in keys[build.name] if key.to_table in created]
        in_circles += [key for key in keys[build.name] if key.to_table not in created]
        created.add(build.name)
        statements.append(_create_table(build, inside, target, syntax))
        if not syntax.table_comment:
            statements += _comments(build, syntax)
    statements += _keys_in_circles(in_circles, target, syntax)
    return {SCHEMA_FILE: "\n\n".join(statements) + "\n"}


def _header(target: Target) -> str:
    return (
        f"-- The tables of this data product for {TARGET_LABELS[target]}.\n"
        "-- The dbt project creates and fills them without this file.\n"
        "-- Keys are declared where every row of the source obeys them."
    )


def _create_table(
    build: Build, references: list[ForeignKey], target: Target, syntax: Syntax
) -> str:
    lines = [_column(build, column, target, syntax) for column in build.columns]
    primary = primary_key(build)
    if primary:
        lines.append(f"PRIMARY KEY ({_names(primary, syntax)}){syntax.after_key}")
    if syntax.references_unique:
        lines += [f"UNIQUE ({_names(key, syntax)}){syntax.after_key}" for key in unique_keys(build)]
    lines += [_foreign_key(key, syntax) for key in references]
    body = ",\n    ".join(lines)
    comment = _inline(syntax.table_comment, build.description, syntax)
    return f"CREATE TABLE {syntax.name(build.name)} (\n    {body}\n){comment};"


def _column(build: Build, column: PlanColumn, target: Target, syntax: Syntax) -> str:
    required = " NOT NULL" if is_not_null(build, column.name) else ""
    comment = _inline(syntax.column_comment, column.description, syntax)
    return f"{syntax.name(column.name)} {_type(column, target, syntax)}{required}{comment}"


def _type(column: PlanColumn, target: Target, syntax: Syntax) -> str:
    """Return the type that dbt builds; a promised length of a text is kept where that means it."""
    length = _LIMITED_TEXT.fullmatch(column.contract_type)
    if column.type == "VARCHAR" and length and syntax.text_with_length:
        return syntax.text_with_length.format(length[1])
    return target_type(column.type, target).name


def _foreign_key(key: ForeignKey, syntax: Syntax) -> str:
    columns, to_columns = _names(key.columns, syntax), _names(key.to_columns, syntax)
    parent = syntax.name(key.to_table)
    return f"FOREIGN KEY ({columns}) REFERENCES {parent} ({to_columns}){syntax.after_key}"


def _comments(build: Build, syntax: Syntax) -> Iterator[str]:
    table = syntax.name(build.name)
    lines = []
    if build.description:
        lines.append(f"COMMENT ON TABLE {table} IS {syntax.text(build.description)};")
    for column in build.columns:
        if column.description:
            place = f"{table}.{syntax.name(column.name)}"
            lines.append(f"COMMENT ON COLUMN {place} IS {syntax.text(column.description)};")
    if lines:
        yield "\n".join(lines)


def _keys_in_circles(keys: list[ForeignKey], target: Target, syntax: Syntax) -> Iterator[str]:
    """Add the keys of tables that refer to each other, once all tables are there."""
    if syntax.allows_circles:
        for key in keys:
            yield f"ALTER TABLE {syntax.name(key.table)} ADD {_foreign_key(key, syntax)};"
    elif keys:
        yield (
            f"-- Left out: {counted(len(keys), 'foreign key')} of tables that refer to each other"
            f" or to themselves;\n-- {TARGET_LABELS[target]} couldn't load such tables."
        )


def _names(columns: Columns, syntax: Syntax) -> str:
    return ", ".join(syntax.name(name) for name in columns)


def _inline(clause: str, text: str, syntax: Syntax) -> str:
    # The text isn't formatted into the clause's braces again: it's a stranger's.
    return clause.replace("{}", syntax.text(text)) if clause and text else ""
