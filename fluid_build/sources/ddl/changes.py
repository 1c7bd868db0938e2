"""Changes to a table. Each returns why it can't be made, or nothing."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from fluid_build.sources.ddl.schema import (
    ColumnDef,
    DraftTable,
    Elements,
    ForeignKey,
    Identifier,
    ObjectName,
    Schema,
    find_column,
    find_table,
    fold,
    name_of,
    table_key,
)

# A change that still lacks the schema and the table.
Change: TypeAlias = partial[str]


def add_elements(schema: Schema, table: DraftTable, elements: Elements) -> str:
    """Add columns and keys to a table."""
    folding = schema.dialect.folding
    faults = list(elements.faults)
    names = {fold(column.name, folding) for column in table.columns}
    for column in elements.columns:
        folded = fold(column.name, folding)
        if folded in names:
            faults.append(f"the column {column.name.text} already exists")
        else:
            names.add(folded)
            table.columns.append(column)
    for key in elements.keys:
        index = schema.indexes.get(key.index) if key.index else None
        table.keys.append(replace(index, primary=key.primary) if index else key)
    table.foreign_keys += elements.foreign_keys
    return "; ".join(faults)


def drop_constraint(_: Schema, table: DraftTable, name: str) -> str:
    """Drop the keys of a name."""
    table.keys = [key for key in table.keys if key.name.lower() != name.lower()]
    table.foreign_keys = [key for key in table.foreign_keys if key.name.lower() != name.lower()]
    return ""


def drop_primary_key(_: Schema, table: DraftTable) -> str:
    """Drop the primary key."""
    table.keys = [key for key in table.keys if not key.primary]
    return ""


def drop_column(schema: Schema, table: DraftTable, name: Identifier) -> str:
    """Drop a column and every key it's part of."""
    place = find_column(table.columns, name, schema.dialect.folding)
    if place is None:
        return f"there is no column {name.text} to drop"
    dropped = table.columns.pop(place).name.text.lower()
    table.keys = [key for key in table.keys if dropped not in _lower(key.columns)]
    table.foreign_keys = [key for key in table.foreign_keys if dropped not in _lower(key.columns)]
    return ""


def _lower(names: Iterable[Identifier]) -> list[str]:
    return [name.text.lower() for name in names]


def rename_column(schema: Schema, table: DraftTable, old: Identifier, new: Identifier) -> str:
    """Rename a column; keys and references to it follow."""
    place = find_column(table.columns, old, schema.dialect.folding)
    if place is None:
        return f"there is no column {old.text} to rename"

    def swap(names: tuple[Identifier, ...]) -> tuple[Identifier, ...]:
        return tuple(new if name.text.lower() == old.text.lower() else name for name in names)

    table.columns[place] = replace(table.columns[place], name=new)
    table.keys = [replace(key, columns=swap(key.columns)) for key in table.keys]
    table.foreign_keys = [replace(key, columns=swap(key.columns)) for key in table.foreign_keys]
    _change_references(schema, table, lambda key: replace(key, to_columns=swap(key.to_columns)))
    return ""


def _change_references(
    schema: Schema, table: DraftTable, change: Callable[[ForeignKey], ForeignKey]
) -> None:
    for referring in schema.tables.values():
        referring.foreign_keys = [
            change(key) if find_table(schema, key.to_table) is table else key
            for key in referring.foreign_keys
        ]


def rename_table(schema: Schema, table: DraftTable, new: ObjectName) -> str:
    """Rename a table."""
    home = new.schema.text if new.schema else table.schema
    return _move(schema, table, new.name, home)


def move_to_schema(schema: Schema, table: DraftTable, home: Identifier) -> str:
    """Move a table to another schema."""
    return _move(schema, table, table.name, home.text)


def _move(schema: Schema, table: DraftTable, name: Identifier, home: str) -> str:
    new = ObjectName(name, Identifier(home, True) if home else None)
    place = table_key(schema, new)
    if schema.tables.get(place, table) is not table:
        return f"there is already a table {name.text}"
    _change_references(schema, table, lambda key: replace(key, to_table=new))
    table.name, table.schema = name, home
    schema.tables = {
        place if known is table else key: known for key, known in schema.tables.items()
    }
    return ""


def redefine(schema: Schema, table: DraftTable, old: Identifier, new: ColumnDef) -> str:
    """Change a column's definition; what the new one doesn't say stays as it was."""
    place = find_column(table.columns, old, schema.dialect.folding)
    if place is None:
        return f"there is no column {old.text} to change"
    before = table.columns[place]
    table.columns[place] = replace(
        before,
        type=new.type or before.type,
        nullable=before.nullable if new.nullable is None else new.nullable,
        generated=before.generated or new.generated,
        comment=new.comment or before.comment,
        faults=(*before.faults, *new.faults),
    )
    if new.name.text not in (before.name.text, old.text):
        return rename_column(schema, table, old, new.name)
    return ""


def set_comment(
    schema: Schema, table: DraftTable, column: Identifier | None, comment: str | None
) -> str:
    """Set the comment of a table, or of one of its columns."""
    if column is None:
        table.comment = comment
        return ""
    place = find_column(table.columns, column, schema.dialect.folding)
    if place is None:
        return f"there is no column {column.text} to comment on"
    table.columns[place] = replace(table.columns[place], comment=comment)
    return ""


def attach_partition(schema: Schema, table: DraftTable, child: ObjectName) -> str:
    """Make another table a partition of this one."""
    partition = find_table(schema, child)
    if partition is not None and partition is not table:
        partition.parent = name_of(table)
    return ""


def inherit(schema: Schema, table: DraftTable, parent: ObjectName) -> str:
    """Make this table a partition of the one it inherits from, if it adds no columns to it."""
    whole = find_table(schema, parent)
    if whole is not None and set(_lower(column.name for column in table.columns)) <= set(
        _lower(column.name for column in whole.columns)
    ):
        table.parent = parent
    return ""
