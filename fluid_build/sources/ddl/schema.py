"""The schema that a row of statements adds up to."""

from collections.abc import Iterable
from dataclasses import replace

from fluid_build.sources.base import Skipped
from fluid_build.sources.ddl.changes import change_table
from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.draft import DraftTable, Schema, find_column, find_table, table_key
from fluid_build.sources.ddl.grammar import (
    Add,
    AlterTable,
    CreateTable,
    Drop,
    DropTables,
    Meaning,
    NamedType,
    ObjectName,
    Passed,
    SetComment,
    UniqueIndex,
    UseSchema,
)


def build(dialect: Dialect, meanings: Iterable[tuple[int, tuple[Meaning, ...], bool]]) -> Schema:
    """The schema after all statements: (number, meanings, whether a semicolon ended it) each.

    What speaks of a table that is not there yet waits for the end, so that the order of files
    does not matter.
    """
    schema = Schema(dialect)
    outer: str | None = None
    for number, statement, terminated in meanings:
        for meaning in statement:
            if isinstance(meaning, UseSchema) and meaning.scoped:
                outer = schema.current if outer is None else outer
            _apply(schema, number, meaning)
        if terminated and outer is not None:
            schema.current, outer = outer, None
    left = -1
    while left != len(schema.waiting):
        left = len(schema.waiting)
        waiting, schema.waiting = schema.waiting, []
        for number, meaning in waiting:
            _apply(schema, number, meaning)
    for _, meaning in schema.waiting:
        _note_absent(schema, meaning)
    return schema


def _apply(schema: Schema, number: int, meaning: Meaning) -> None:
    if isinstance(meaning, Passed):
        schema.passed[meaning.kind] += 1
        return
    if isinstance(meaning, UseSchema):
        schema.current = meaning.schema.text
    elif isinstance(meaning, NamedType):
        schema.types[meaning.name.name.text.lower()] = meaning
    elif isinstance(meaning, CreateTable):
        _create(schema, number, meaning)
    elif isinstance(meaning, DropTables):
        for name in meaning.names:
            table = schema.tables.get(table_key(schema, name))
            if table is not None:
                remove_table(schema, table)
    else:
        _change(schema, number, meaning)


def _change(schema: Schema, number: int, meaning: AlterTable | UniqueIndex) -> None:
    name = meaning.name if isinstance(meaning, AlterTable) else meaning.table
    table = find_table(schema, name)
    if table is None:
        _postpone(schema, number, meaning, name)
        return
    if isinstance(meaning, UniqueIndex):
        table.keys.append(meaning.key)
        schema.indexes[meaning.key.name] = meaning.key
        return
    schema.faults += [(number, f"ALTER TABLE {table.name.text}: {it}") for it in meaning.faults]
    for action in meaning.actions:
        fault = change_table(schema, table, action)
        if fault:
            schema.faults.append((number, f"ALTER TABLE {table.name.text}: {fault}"))


def _postpone(
    schema: Schema, number: int, meaning: AlterTable | UniqueIndex, name: ObjectName
) -> None:
    """Let a change wait for its table, except that what is dropped before it is made stays made.

    Dumps that clear the way first (pg_dump --clean) begin with such drops.
    """
    if table_key(schema, name) in (schema.skipped | schema.aside):
        schema.passed["ALTER TABLE (no table)"] += 1
        return
    if isinstance(meaning, AlterTable):
        lasting = tuple(action for action in meaning.actions if not isinstance(action, Drop))
        if not lasting and not meaning.faults:
            schema.passed["ALTER TABLE"] += 1
            return
        meaning = replace(meaning, actions=lasting)
    schema.waiting.append((number, meaning))


def _note_absent(schema: Schema, meaning: Meaning) -> None:
    """Count a statement about a table that never came; comments of views are no loss."""
    if isinstance(meaning, CreateTable):
        key = table_key(schema, meaning.name)
        reason = "It takes its columns from a table that is not in the DDL."
        schema.skipped[key] = Skipped(meaning.name.name.text, reason)
    elif isinstance(meaning, AlterTable) and all(
        isinstance(action, SetComment) for action in meaning.actions
    ):
        schema.passed["COMMENT ON (no table)"] += 1
    elif isinstance(meaning, AlterTable | UniqueIndex):
        name = meaning.name if isinstance(meaning, AlterTable) else meaning.table
        schema.absent.append(name.name.text)


def _create(schema: Schema, number: int, made: CreateTable) -> None:
    key = table_key(schema, made.name)
    aside, reason = _why_aside(made), _why_skipped(made)
    if aside:
        schema.aside[key] = f"{made.name.name.text} is left aside: {aside}"
        return
    if reason:
        schema.skipped.setdefault(key, Skipped(made.name.name.text, reason))
        return
    models = [find_table(schema, name) for name in (*made.body.like, *made.inherits)]
    if any(model is None for model in models):
        schema.waiting.append((number, made))
        return
    if key in schema.tables and not made.or_replace:
        if not made.if_not_exists:
            schema.faults.append((number, f"{made.name.name.text} is made twice; the first counts"))
        return
    of = made.name.schema.text if made.name.schema else schema.current
    table = DraftTable(made.name.name, of, comment=made.comment, parent=made.partition_of)
    for model in models:
        if model is not None:
            _copy(made, model, table, schema)
    if made.inherits and not made.body.columns:
        table.parent = made.inherits[0]
    fault = change_table(schema, table, Add(made.body))
    if fault:
        schema.faults.append((number, f"{table.name.text}: {fault}"))
    schema.tables[key] = table
    schema.skipped.pop(key, None)


def _why_aside(made: CreateTable) -> str:
    """Why a table is not one that a user would miss."""
    if made.temporary:
        return "it is a temporary table."
    if made.name.name.text.lower().startswith("sqlite_"):
        return "it is SQLite's own."
    return ""


def _why_skipped(made: CreateTable) -> str:
    """Why a table that a user would miss cannot be given."""
    if made.virtual:
        return "It is a virtual table, whose columns a module decides."
    typed = any(column.type for column in made.body.columns)
    if made.from_query and not typed:
        return "It is made from a query, so its columns are not declared."
    if made.body.columns or made.body.like or made.inherits or made.partition_of:
        return ""
    if made.body.faults:
        return f"None of its columns could be read: {made.body.faults[0]}."
    return "It declares no columns."


def _copy(made: CreateTable, model: DraftTable, table: DraftTable, schema: Schema) -> None:
    """Columns of a table that is copied or inherited from; its keys only where they come along."""
    taken = (*table.columns, *made.body.columns)
    for column in model.columns:
        if find_column(taken, column.name, schema.dialect.folding) is None:
            table.columns.append(column)
    if made.body.like_keys:
        table.keys += model.keys


def remove_table(schema: Schema, table: DraftTable) -> None:
    """Take a table away."""
    for key, known in list(schema.tables.items()):
        if known is table:
            del schema.tables[key]
