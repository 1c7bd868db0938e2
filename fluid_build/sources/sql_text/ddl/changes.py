"""Changes to a table. Each raises ChangeError if it can't be made."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from fluid_build.sources.sql_text.ddl.schema import (
    ChangeError,
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
Change: TypeAlias = partial[None]


def add_elements(schema: Schema, table: DraftTable, elements: Elements) -> None:
    """Add columns and keys to a table."""
    folding = schema.dialect.folding
    faults = list(elements.faults)
    if elements.columns and len(table.folded) < len(table.columns):
        table.folded = {fold(column.name, folding) for column in table.columns}
    for column in elements.columns:
        folded = fold(column.name, folding)
        if folded in table.folded:
            faults.append(f"the column {column.name.text} already exists")
        else:
            table.folded.add(folded)
            table.columns.append(column)
    for key in elements.keys:
        index = schema.indexes.get(key.index) if key.index else None
        table.keys.append(replace(index, primary=key.primary) if index else key)
    table.foreign_keys += elements.foreign_keys
    if faults:
        raise ChangeError("; ".join(faults))


def _place(schema: Schema, table: DraftTable, name: Identifier, purpose: str) -> int:
    place = find_column(table.columns, name, schema.dialect.folding)
    if place is None:
        raise ChangeError(f"there is no column {name.text} to {purpose}")
    return place


def drop_constraint(_: Schema, table: DraftTable, name: str) -> None:
    """Drop the keys of a name."""
    table.keys = [key for key in table.keys if key.name.lower() != name.lower()]
    table.foreign_keys = [key for key in table.foreign_keys if key.name.lower() != name.lower()]


def drop_primary_key(_: Schema, table: DraftTable) -> None:
    """Drop the primary key."""
    table.keys = [key for key in table.keys if not key.primary]


def drop_column(schema: Schema, table: DraftTable, name: Identifier) -> None:
    """Drop a column and every key it's part of."""
    place = _place(schema, table, name, "drop")
    dropped = table.columns.pop(place).name.text.lower()
    table.folded.clear()
    table.keys = [key for key in table.keys if dropped not in _lower(key.columns)]
    table.foreign_keys = [key for key in table.foreign_keys if dropped not in _lower(key.columns)]


def move_column(
    schema: Schema, table: DraftTable, name: Identifier, after: Identifier | None
) -> None:
    """Move a column behind another one, or to the front."""
    column = table.columns.pop(_place(schema, table, name, "move"))
    place = 0 if after is None else _place(schema, table, after, "move it behind") + 1
    table.columns.insert(place, column)


def _lower(names: Iterable[Identifier]) -> list[str]:
    return [name.text.lower() for name in names]


def rename_column(schema: Schema, table: DraftTable, old: Identifier, new: Identifier) -> None:
    """Rename a column; keys and references to it follow."""
    place = _place(schema, table, old, "rename")

    def swap(names: tuple[Identifier, ...]) -> tuple[Identifier, ...]:
        return tuple(new if name.text.lower() == old.text.lower() else name for name in names)

    table.columns[place] = replace(table.columns[place], name=new)
    table.folded.clear()
    table.keys = [replace(key, columns=swap(key.columns)) for key in table.keys]
    table.foreign_keys = [replace(key, columns=swap(key.columns)) for key in table.foreign_keys]
    _change_references(schema, table, lambda key: replace(key, to_columns=swap(key.to_columns)))


def _change_references(
    schema: Schema, table: DraftTable, change: Callable[[ForeignKey], ForeignKey]
) -> None:
    for referring in schema.tables.values():
        referring.foreign_keys = [
            change(key) if find_table(schema, key.to_table) is table else key
            for key in referring.foreign_keys
        ]


def rename_table(schema: Schema, table: DraftTable, new: ObjectName) -> None:
    """Rename a table."""
    home = new.schema.text if new.schema else table.schema
    _move(schema, table, new.name, home)


def move_to_schema(schema: Schema, table: DraftTable, home: Identifier) -> None:
    """Move a table to another schema."""
    _move(schema, table, table.name, home.text)


def _move(schema: Schema, table: DraftTable, name: Identifier, home: str) -> None:
    new = ObjectName(name, Identifier(home, True) if home else None)
    place = table_key(schema, new)
    if schema.tables.get(place, table) is not table:
        raise ChangeError(f"there is already a table {name.text}")
    _change_references(schema, table, lambda key: replace(key, to_table=new))
    schema.moved |= {table.name.text.casefold(), name.text.casefold()}
    table.name, table.schema = name, home
    schema.tables = {
        place if known is table else key: known for key, known in schema.tables.items()
    }


def redefine(schema: Schema, table: DraftTable, old: Identifier, new: ColumnDef) -> None:
    """Change a column's definition; what the new one doesn't say stays as it was."""
    place = _place(schema, table, old, "change")
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
        rename_column(schema, table, old, new.name)


def set_comment(
    schema: Schema, table: DraftTable, column: Identifier | None, comment: str | None
) -> None:
    """Set the comment of a table, or of one of its columns."""
    if column is None:
        table.comment = comment
        return
    place = _place(schema, table, column, "comment on")
    table.columns[place] = replace(table.columns[place], comment=comment)


def attach_partition(schema: Schema, table: DraftTable, child: ObjectName) -> None:
    """Make another table a partition of this one."""
    partition = find_table(schema, child)
    if partition is not None and partition is not table:
        partition.parent = name_of(table)


def inherit(schema: Schema, table: DraftTable, parent: ObjectName) -> None:
    """Make this table a partition of the one it inherits from, if it adds no columns to it."""
    whole = find_table(schema, parent)
    if whole is not None and set(_lower(column.name for column in table.columns)) <= set(
        _lower(column.name for column in whole.columns)
    ):
        table.parent = parent
