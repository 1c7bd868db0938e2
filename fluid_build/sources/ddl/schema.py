"""A schema while statements still change it: its tables, how names are found, and the changes."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

from fluid_build.sources.base import Skipped
from fluid_build.sources.ddl.dialects import Dialect, Folding
from fluid_build.sources.ddl.tokens import Token


class Identifier(NamedTuple):
    """A name and whether it was in quotes."""

    text: str
    quoted: bool = False


class ObjectName(NamedTuple):
    """The name of a table or type, with its schema where one was written."""

    name: Identifier
    schema: Identifier | None = None


@dataclass(slots=True)
class ColumnDef:
    """A column as written; ``nullable`` is None if the text doesn't say.

    ``faults`` are the words of its definition that weren't understood.
    """

    name: Identifier
    type: tuple[Token, ...] = ()
    nullable: bool | None = None
    generated: bool = False
    comment: str | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """A primary or unique key; ``index`` names the index it's made from instead of columns."""

    primary: bool
    columns: tuple[Identifier, ...]
    name: str = ""
    index: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key; no ``to_columns`` means the primary key of the table referred to."""

    columns: tuple[Identifier, ...]
    to_table: ObjectName
    to_columns: tuple[Identifier, ...] = ()
    name: str = ""


@dataclass
class Elements:
    """What a table's body declares; ``models`` are the tables it's declared to be LIKE."""

    columns: list[ColumnDef] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    models: list[ObjectName] = field(default_factory=list)
    with_model_keys: bool = False
    faults: list[str] = field(default_factory=list)


class NamedType(NamedTuple):
    """A domain or enumeration: the tokens of its base type, and whether it forbids nulls."""

    base: tuple[Token, ...]
    is_required: bool = False


@dataclass
class DraftTable:
    """A table while statements still change it. ``parent`` is the table it's a partition of."""

    name: Identifier
    schema: str
    columns: list[ColumnDef] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    comment: str | None = None
    parent: ObjectName | None = None


@dataclass
class Schema:
    """Tables and types so far, and what was left out.

    ``current`` is the schema of names without one, ``enclosing`` what it was before an open
    CREATE SCHEMA statement; ``is_late`` while statements that waited for their tables are
    applied. ``aside`` are sentences about tables that nobody will miss,
    ``irrelevant`` counts statements that say nothing of structure by what they are, and
    ``absent`` are tables that statements change and none creates.
    """

    dialect: Dialect
    tables: dict[tuple[str, str], DraftTable] = field(default_factory=dict)
    types: dict[str, NamedType] = field(default_factory=dict)
    indexes: dict[str, Key] = field(default_factory=dict)
    skipped: dict[tuple[str, str], Skipped] = field(default_factory=dict)
    aside: dict[tuple[str, str], str] = field(default_factory=dict)
    current: str = ""
    enclosing: str | None = None
    is_late: bool = False
    irrelevant: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)


# A change to a table, given a schema and the table; it returns why it can't be made, or nothing.
Change: TypeAlias = partial[str]


class AbsentTableError(LookupError):
    """A statement is about a table that no statement has created yet."""


def fold(name: Identifier, folding: Folding) -> str:
    """Return a name as its database compares it."""
    if folding == "insensitive":
        return name.text.lower()
    if name.quoted or folding == "exact":
        return name.text
    return name.text.lower() if folding == "lower" else name.text.upper()


def find_column(columns: Iterable[ColumnDef], name: Identifier, folding: Folding) -> int | None:
    """Return a column's place by name: the exact one, else the only one that differs in case."""
    names = [column.name for column in columns]
    folded = fold(name, folding)
    for place, known in enumerate(names):
        if fold(known, folding) == folded:
            return place
    near = [place for place, known in enumerate(names) if known.text.lower() == name.text.lower()]
    return near[0] if len(near) == 1 else None


def find_table(schema: Schema, name: ObjectName) -> DraftTable | None:
    """Return a table by name: in its schema or the current one, else the only one of that name."""
    key = table_key(schema, name)
    if key in schema.tables:
        return schema.tables[key]
    bare = name.name.text.lower()
    near = [table for table in schema.tables.values() if table.name.text.lower() == bare]
    if name.schema is not None:
        home = name.schema.text.lower()
        is_default = home == schema.dialect.default_schema.lower() and not schema.current
        near = [table for table in near if table.schema.lower() == home] or [
            table for table in near if not table.schema or is_default
        ]
    return near[0] if len(near) == 1 else None


def table_key(schema: Schema, name: ObjectName) -> tuple[str, str]:
    """Return a table's place; a name without a schema belongs to the current or default one."""
    folding = schema.dialect.folding
    default = Identifier(schema.current or schema.dialect.default_schema, True)
    return fold(name.schema or default, folding), fold(name.name, folding)


def name_of(table: DraftTable) -> ObjectName:
    """Return a table's full name."""
    home = Identifier(table.schema, True) if table.schema else None
    return ObjectName(Identifier(table.name.text, True), home)


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
