"""The schema that a row of statements adds up to."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from fluid_build.sources.base import Skipped
from fluid_build.sources.ddl.dialects import Dialect, Folding
from fluid_build.sources.ddl.grammar import (
    Action,
    Add,
    AlterTable,
    Attach,
    ColumnDef,
    CreateTable,
    Drop,
    DropTables,
    ForeignKeyDef,
    Identifier,
    InheritFrom,
    KeyDef,
    Meaning,
    MoveToSchema,
    NamedType,
    ObjectName,
    Passed,
    Redefine,
    RenameColumn,
    RenameTable,
    SetComment,
    UniqueIndex,
    UseSchema,
)


@dataclass
class DraftTable:
    """A table while statements still change it. ``parent`` is the table it is a partition of."""

    name: Identifier
    schema: str
    columns: list[ColumnDef] = field(default_factory=list)
    keys: list[KeyDef] = field(default_factory=list)
    foreign_keys: list[ForeignKeyDef] = field(default_factory=list)
    comment: str | None = None
    parent: ObjectName | None = None
    notes: list[str] = field(default_factory=list)


@dataclass
class Schema:
    """Tables and types so far, and what was not taken in.

    ``faults`` are (statement number, sentence) of parts that could not be read; ``absent`` the
    tables spoken of that no statement makes.
    """

    dialect: Dialect
    tables: dict[tuple[str, str], DraftTable] = field(default_factory=dict)
    types: dict[str, NamedType] = field(default_factory=dict)
    indexes: dict[str, KeyDef] = field(default_factory=dict)
    skipped: dict[tuple[str, str], Skipped] = field(default_factory=dict)
    current: str = ""
    passed: Counter[str] = field(default_factory=Counter)
    read: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    waiting: list[tuple[int, Meaning]] = field(default_factory=list)


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


def fold(name: Identifier, folding: Folding) -> str:
    """A name as its database compares it."""
    if folding == "insensitive":
        return name.text.lower()
    if name.quoted or folding == "exact":
        return name.text
    return name.text.lower() if folding == "lower" else name.text.upper()


def find_column(columns: Iterable[ColumnDef], name: Identifier, folding: Folding) -> int | None:
    """The place of a column by name: the exact one, else the only one that differs in case."""
    names = [column.name for column in columns]
    wanted = fold(name, folding)
    for place, known in enumerate(names):
        if fold(known, folding) == wanted:
            return place
    near = [place for place, known in enumerate(names) if known.text.lower() == name.text.lower()]
    return near[0] if len(near) == 1 else None


def find_table(schema: Schema, name: ObjectName) -> DraftTable | None:
    """A table by name: in the schema it names or the current one, else the only one called so."""
    key = _key(schema, name)
    if key in schema.tables:
        return schema.tables[key]
    wanted = name.name.text.lower()
    near = [table for table in schema.tables.values() if table.name.text.lower() == wanted]
    if name.schema is not None:
        of = name.schema.text.lower()
        near = [table for table in near if table.schema.lower() == of] or [
            table for table in near if not table.schema or _is_default(schema, of)
        ]
    return near[0] if len(near) == 1 else None


def _is_default(schema: Schema, name: str) -> bool:
    return name == schema.dialect.default_schema.lower() and not schema.current


def _key(schema: Schema, name: ObjectName) -> tuple[str, str]:
    """Where a table is kept; an unqualified name belongs to the current or default schema."""
    folding = schema.dialect.folding
    default = schema.current or schema.dialect.default_schema
    of = fold(name.schema, folding) if name.schema else fold(Identifier(default, True), folding)
    return of, fold(name.name, folding)


def _apply(schema: Schema, number: int, meaning: Meaning) -> None:
    if isinstance(meaning, Passed):
        schema.passed[meaning.kind] += 1
        return
    if isinstance(meaning, UseSchema):
        schema.current = meaning.schema.text
        schema.read += 1
    elif isinstance(meaning, NamedType):
        schema.types[meaning.name.name.text.lower()] = meaning
        schema.read += 1
    elif isinstance(meaning, CreateTable):
        _create(schema, number, meaning)
    elif isinstance(meaning, DropTables):
        schema.read += 1
        for name in meaning.names:
            table = schema.tables.get(_key(schema, name))
            if table is not None:
                _remove(schema, table)
    else:
        _change(schema, number, meaning)


def _change(schema: Schema, number: int, meaning: AlterTable | UniqueIndex) -> None:
    name = meaning.name if isinstance(meaning, AlterTable) else meaning.table
    table = find_table(schema, name)
    if table is None:
        if _key(schema, name) in schema.skipped:
            schema.passed["statements about skipped tables"] += 1
        else:
            schema.waiting.append((number, meaning))
        return
    schema.read += 1
    if isinstance(meaning, UniqueIndex):
        table.keys.append(meaning.key)
        schema.indexes[meaning.key.name] = meaning.key
        return
    schema.faults += [(number, f"ALTER TABLE {table.name.text}: {it}") for it in meaning.faults]
    for action in meaning.actions:
        fault = _CHANGES[type(action)](schema, table, action)
        if fault:
            schema.faults.append((number, f"ALTER TABLE {table.name.text}: {fault}"))


def _note_absent(schema: Schema, meaning: Meaning) -> None:
    """Count a statement about a table that never came; comments of views are no loss."""
    if isinstance(meaning, CreateTable):
        key = _key(schema, meaning.name)
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
    key = _key(schema, made.name)
    reason = _why_skipped(made)
    if reason:
        schema.skipped.setdefault(key, Skipped(made.name.name.text, reason))
        schema.read += 1
        return
    models = [find_table(schema, name) for name in (*made.body.like, *made.inherits)]
    if any(model is None for model in models):
        schema.waiting.append((number, made))
        return
    schema.read += 1
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
    fault = _add(schema, table, Add(made.body))
    if fault:
        schema.faults.append((number, f"{table.name.text}: {fault}"))
    schema.tables[key] = table
    schema.skipped.pop(key, None)


def _why_skipped(made: CreateTable) -> str:
    if made.temporary:
        return "It is a temporary table."
    if made.name.name.text.lower().startswith("sqlite_"):
        return "It is SQLite's own."
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


def _remove(schema: Schema, table: DraftTable) -> None:
    for key, known in list(schema.tables.items()):
        if known is table:
            del schema.tables[key]


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
    key = _key(schema, home)
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
