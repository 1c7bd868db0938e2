"""``schema.sql``: the published relations of a plan as CREATE TABLE statements of a target."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.sql_names import RESERVED
from fluid_build.sources.sql import literal, quote
from fluid_build.text import clip, counted
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target, target_type
from fluid_build.transform.plan.elements import (
    EVERY_ROW,
    Build,
    BuildTest,
    PlanColumn,
    TransformPlan,
)

# The keys that a schema may declare: those that hold, of tables in an order that allows them.

Columns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table that refer to a key of another, or of itself."""

    table: str
    columns: Columns
    to_table: str
    to_columns: Columns


def primary_key(build: Build) -> Columns:
    """Return the key that identifies a row, if no row breaks it."""
    holds = any(
        set(test.columns) == set(build.key) and _holds(test)
        for test in build.tests
        if test.kind == "unique"
    )
    return build.key if holds else ()


def unique_keys(build: Build) -> tuple[Columns, ...]:
    """Return the other keys that the source declares; a key that was only measured may end."""
    keys = [
        test.columns
        for test in build.tests
        if test.kind == "unique" and test.key_kind == "declared" and _holds(test)
    ]
    return tuple(key for key in dict.fromkeys(keys) if set(key) != set(build.key))


def foreign_keys(
    builds: Sequence[Build], *, references_unique: bool
) -> Mapping[str, tuple[ForeignKey, ...]]:
    """Return by table the references that hold and lead to a declared key of the same types."""
    by_name = {build.name: build for build in builds}
    return {
        build.name: tuple(dict.fromkeys(_references(build, by_name, references_unique)))
        for build in builds
    }


def in_dependency_order(
    builds: Sequence[Build], keys: Mapping[str, tuple[ForeignKey, ...]]
) -> list[Build]:
    """Return tables after those that they refer to, else in the order of the plan.

    Where tables refer to each other in a circle, the one that the plan has first comes first.
    """
    ordered: list[Build] = []
    waiting = list(builds)
    while waiting:
        names = {build.name for build in waiting}
        free = [
            build
            for build in waiting
            if not any(
                key.to_table in names and key.to_table != build.name for key in keys[build.name]
            )
        ] or waiting[:1]
        ordered += free
        free_names = {build.name for build in free}
        waiting = [build for build in waiting if build.name not in free_names]
    return ordered


def _broken_not_null(build: Build) -> set[tuple[str, ...]]:
    """Return the columns that must be filled, each alone, although some rows have none."""
    return {test.columns for test in build.tests if test.kind == "not_null" and test.allowed}


def _holds(test: BuildTest) -> bool:
    return test.allowed == 0 and test.scope == EVERY_ROW


def _references(
    build: Build, by_name: Mapping[str, Build], references_unique: bool
) -> Iterator[ForeignKey]:
    for test in build.tests:
        target = by_name.get(test.to_model or "")
        if target is None or not test.is_join or not _holds(test):
            continue
        keys = [primary_key(target), *(unique_keys(target) if references_unique else ())]
        # A key is referred to in its own order, which the pairs of a test may not have.
        pairs = dict(zip(test.to_columns, test.columns, strict=True))
        key = next((key for key in keys if key and set(key) == set(pairs)), None)
        if key is None or len(pairs) != len(test.columns):
            continue
        columns = tuple(pairs[name] for name in key)
        if _types(build, columns) == _types(target, key):
            yield ForeignKey(build.name, columns, target.name, key)


def _types(build: Build, columns: Columns) -> list[str]:
    return [build.column(name).type for name in columns]


# How each target writes names, texts, comments and keys in its DDL.
# Sources: "CREATE TABLE" and "COMMENT" in the SQL references of DuckDB, PostgreSQL, Snowflake,
# BigQuery and Databricks. The last three record keys and don't enforce them; with RELY,
# Snowflake's and Databricks' optimizers use them.

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_LONGEST_BIGQUERY_COMMENT = 1024
"""Characters of a column's description: https://cloud.google.com/bigquery/quotas#tables"""


@dataclass(frozen=True, slots=True)
class Syntax:
    """The DDL of one target.

    ``after_key`` follows a key. ``text_with_length`` is the type of text up to a length, "" where
    there's none. ``column_comment`` and ``table_comment`` are where a comment goes inside of a
    statement; where they're "", comments are statements of their own. ``references_unique`` says
    whether a foreign key may refer to a unique key, ``allows_circles`` whether tables can refer to
    each other, and to themselves, and still be loaded.
    """

    text: Callable[[str], str]
    name_quote: str = '"'
    after_key: str = ""
    text_with_length: str = "VARCHAR({})"
    column_comment: str = ""
    table_comment: str = ""
    references_unique: bool = True
    allows_circles: bool = True

    def name(self, name: str) -> str:
        """Return a name as dbt writes it, without quotes unless it needs them."""
        if _PLAIN_NAME.fullmatch(name) and name not in RESERVED:
            return name
        mark = self.name_quote
        return quote(name) if mark == '"' else f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _standard_text(text: str) -> str:
    return literal(text.replace("\0", ""))


def _postgres_text(text: str) -> str:
    """Return a literal that means the same whatever ``standard_conforming_strings`` is set to."""
    standard = _standard_text(text)
    return "E" + standard.replace("\\", "\\\\") if "\\" in standard else standard


def _escaped_text(text: str) -> str:
    """Return a literal of a database that reads backslashes as escapes."""
    escaped = text.replace("\0", "").replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\r", "\\r").replace("\n", "\\n") + "'"


def _bigquery_text(text: str) -> str:
    """Return a literal in double quotes, whose escapes are those of JSON."""
    return json.dumps(clip(text.replace("\0", ""), _LONGEST_BIGQUERY_COMMENT), ensure_ascii=False)


SYNTAX: Mapping[Target, Syntax] = {
    # DuckDB doesn't keep the length of a text, can't add a foreign key later, and doesn't find a
    # parent that the same INSERT brings.
    "duckdb": Syntax(_standard_text, text_with_length="", allows_circles=False),
    "postgres": Syntax(_postgres_text),
    "snowflake": Syntax(
        _escaped_text,
        after_key=" RELY",
        column_comment=" COMMENT {}",
        table_comment=" COMMENT = {}",
    ),
    "bigquery": Syntax(
        _bigquery_text,
        name_quote="`",
        after_key=" NOT ENFORCED",
        text_with_length="STRING({})",
        column_comment=" OPTIONS(description={})",
        table_comment=" OPTIONS(description={})",
        references_unique=False,
    ),
    "databricks": Syntax(
        _escaped_text,
        name_quote="`",
        after_key=" NOT ENFORCED RELY",
        column_comment=" COMMENT {}",
        table_comment=" COMMENT {}",
        references_unique=False,
    ),
}


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
    broken = _broken_not_null(build)
    lines = [
        _column(column, target, syntax, column.required and (column.name,) not in broken)
        for column in build.columns
    ]
    primary = primary_key(build)
    if primary:
        lines.append(f"PRIMARY KEY ({_names(primary, syntax)}){syntax.after_key}")
    if syntax.references_unique:
        lines += [f"UNIQUE ({_names(key, syntax)}){syntax.after_key}" for key in unique_keys(build)]
    lines += [_foreign_key(key, syntax) for key in references]
    body = ",\n    ".join(lines)
    comment = _inline(syntax.table_comment, build.description, syntax)
    return f"CREATE TABLE {syntax.name(build.name)} (\n    {body}\n){comment};"


def _column(column: PlanColumn, target: Target, syntax: Syntax, never_null: bool) -> str:
    required = " NOT NULL" if never_null else ""
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
