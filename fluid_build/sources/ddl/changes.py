"""Changes to a table: columns and keys that come, go, and get other names."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from fluid_build.sources.ddl.draft import (
    DraftTable,
    Schema,
    find_column,
    find_table,
    fold,
    table_key,
)
from fluid_build.sources.ddl.grammar import (
    Action,
    Add,
    Attach,
    Drop,
    Identifier,
    InheritFrom,
    MoveToSchema,
    ObjectName,
    Redefine,
    RenameColumn,
    RenameTable,
    SetComment,
)


def change_table(schema: Schema, table: DraftTable, action: Action) -> str:
    """Do one change to a table; says what stood against it, if anything did."""
    return _CHANGES[type(action)](schema, table, action)


def _add(schema: Schema, table: DraftTable, action: Add) -> str:
    body, folding = action.body, schema.dialect.folding
    faults = list(body.faults)
    taken = {fold(column.name, folding) for column in table.columns}
    for column in body.columns:
        folded = fold(column.name, folding)
        if folded in taken:
            faults.append(f"the column {column.name.text} is there already")
        else:
            taken.add(folded)
            table.columns.append(column)
    for key in body.keys:
        index = schema.indexes.get(key.index) if key.index else None
        table.keys.append(replace(index, primary=key.primary) if index else key)
    table.foreign_keys += body.foreign_keys
    return "; ".join(faults)


def _drop(schema: Schema, table: DraftTable, action: Drop) -> str:
    if action.what == "column":
        return _drop_column(schema, table, action.name)
    if action.what == "primary":
        table.keys = [key for key in table.keys if not key.primary]
        return ""
    wanted = action.name.text.lower()
    table.keys = [key for key in table.keys if key.name.lower() != wanted]
    table.foreign_keys = [key for key in table.foreign_keys if key.name.lower() != wanted]
    return ""


def _drop_column(schema: Schema, table: DraftTable, name: Identifier) -> str:
    place = find_column(table.columns, name, schema.dialect.folding)
    if place is None:
        return f"there is no column {name.text} to drop"
    gone = table.columns.pop(place).name
    table.keys = [key for key in table.keys if not _among(gone, key.columns)]
    table.foreign_keys = [key for key in table.foreign_keys if not _among(gone, key.columns)]
    return ""


def _among(name: Identifier, names: Iterable[Identifier]) -> bool:
    return any(known.text.lower() == name.text.lower() for known in names)


def _rename_column(schema: Schema, table: DraftTable, action: RenameColumn) -> str:
    place = find_column(table.columns, action.old, schema.dialect.folding)
    if place is None:
        return f"there is no column {action.old.text} to rename"
    table.columns[place] = replace(table.columns[place], name=action.new)
    swap = _swapper(action.old, action.new)
    table.keys = [replace(key, columns=swap(key.columns)) for key in table.keys]
    table.foreign_keys = [replace(key, columns=swap(key.columns)) for key in table.foreign_keys]
    for other in schema.tables.values():
        other.foreign_keys = [
            replace(key, to_columns=swap(key.to_columns))
            if find_table(schema, key.to_table) is table
            else key
            for key in other.foreign_keys
        ]
    return ""


def _swapper(
    old: Identifier, new: Identifier
) -> Callable[[tuple[Identifier, ...]], tuple[Identifier, ...]]:
    def swap(names: tuple[Identifier, ...]) -> tuple[Identifier, ...]:
        return tuple(new if name.text.lower() == old.text.lower() else name for name in names)

    return swap


def _rename_table(schema: Schema, table: DraftTable, action: RenameTable) -> str:
    of = action.new.schema.text if action.new.schema else table.schema
    return _rehome(schema, table, action.new.name, of)


def _move(schema: Schema, table: DraftTable, action: MoveToSchema) -> str:
    return _rehome(schema, table, table.name, action.schema.text)


def _rehome(schema: Schema, table: DraftTable, name: Identifier, of: str) -> str:
    """Give a table another name or schema; references to it follow."""
    home = ObjectName(name, Identifier(of, True) if of else None)
    key = table_key(schema, home)
    if key in schema.tables and schema.tables[key] is not table:
        return f"there is a table {name.text} already"
    for other in schema.tables.values():
        other.foreign_keys = [
            replace(reference, to_table=home)
            if find_table(schema, reference.to_table) is table
            else reference
            for reference in other.foreign_keys
        ]
    table.name, table.schema = name, of
    schema.tables = {
        key if known is table else place: known for place, known in schema.tables.items()
    }
    return ""


def _redefine(schema: Schema, table: DraftTable, action: Redefine) -> str:
    place = find_column(table.columns, action.old, schema.dialect.folding)
    if place is None:
        return f"there is no column {action.old.text} to change"
    before, new = table.columns[place], action.column
    table.columns[place] = replace(
        before,
        type=new.type or before.type,
        nullable=before.nullable if new.nullable is None else new.nullable,
        generated=before.generated or new.generated,
        comment=new.comment or before.comment,
        faults=(*before.faults, *new.faults),
    )
    if new.name.text != before.name.text and new.name.text != action.old.text:
        return _rename_column(schema, table, RenameColumn(action.old, new.name))
    return ""


def _comment(schema: Schema, table: DraftTable, action: SetComment) -> str:
    if action.column is None:
        table.comment = action.comment
        return ""
    place = find_column(table.columns, action.column, schema.dialect.folding)
    if place is None:
        return f"there is no column {action.column.text} to comment on"
    table.columns[place] = replace(table.columns[place], comment=action.comment)
    return ""


def _attach(schema: Schema, table: DraftTable, action: Attach) -> str:
    child = find_table(schema, action.child)
    if child is not None and child is not table:
        child.parent = _name_of(table)
    return ""


def _inherit(schema: Schema, table: DraftTable, action: InheritFrom) -> str:
    parent = find_table(schema, action.parent)
    if parent is not None and {column.name.text for column in table.columns} <= {
        column.name.text for column in parent.columns
    }:
        table.parent = action.parent
    return ""


def _name_of(table: DraftTable) -> ObjectName:
    schema = Identifier(table.schema, True) if table.schema else None
    return ObjectName(Identifier(table.name.text, True), schema)


_CHANGES: dict[type[Action], Callable[..., str]] = {
    Add: _add,
    Attach: _attach,
    Drop: _drop,
    InheritFrom: _inherit,
    MoveToSchema: _move,
    Redefine: _redefine,
    RenameColumn: _rename_column,
    RenameTable: _rename_table,
    SetComment: _comment,
}
