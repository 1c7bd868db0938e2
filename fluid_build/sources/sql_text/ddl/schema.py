"""A schema while statements still change it: its tables, and how names are found."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from fluid_build.sources.base import Skipped
from fluid_build.sources.sql_text.ddl.dialects import Dialect, Folding
from fluid_build.sources.sql_text.ddl.tokens import Token


class Identifier(NamedTuple):
    """A name and whether it was in quotes."""

    text: str
    quoted: bool = False


class ObjectName(NamedTuple):
    """The name of a table or type, with its schema where one was written."""

    name: Identifier
    schema: Identifier | None = None


@dataclass(slots=True, eq=False)
class ColumnDef:
    """A column as written; ``nullable`` is None if the text doesn't say.

    ``faults`` are the words of its definition that weren't understood. ``origin`` is the same
    before and after a change.
    """

    name: Identifier
    type: tuple[Token, ...] = ()
    nullable: bool | None = None
    generated: bool = False
    comment: str | None = None
    faults: tuple[str, ...] = ()
    origin: object = field(default_factory=object)


@dataclass(frozen=True, slots=True)
class Key:
    """A primary or unique key; ``index`` names the index it's made from instead of columns.

    ``nulls_are_equal`` says that two rows with the same nulls break it (NULLS NOT DISTINCT).
    """

    primary: bool
    columns: tuple[Identifier, ...]
    name: str = ""
    index: str = ""
    nulls_are_equal: bool = False


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key; no ``to_columns`` means the primary key of the table referred to."""

    columns: tuple[Identifier, ...]
    to_table: ObjectName
    to_columns: tuple[Identifier, ...] = ()
    name: str = ""


@dataclass
class Elements:
    """What a statement declares of a table.

    ``models`` are the tables that it's declared to be LIKE or to inherit from, ``parent`` is the
    one it's a partition of.
    """

    columns: list[ColumnDef] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    models: list[ObjectName] = field(default_factory=list)
    with_model_keys: bool = False
    comment: str | None = None
    parent: ObjectName | None = None
    faults: list[str] = field(default_factory=list)


class NamedType(NamedTuple):
    """A domain or enumeration: the tokens of its base type, and whether it forbids nulls."""

    base: tuple[Token, ...]
    is_required: bool = False


@dataclass(eq=False)
class DraftTable:
    """A table while statements still change it. ``parent`` is the table it's a partition of.

    ``folded`` are the names of its columns as the database compares them, or nothing where they
    aren't known any more: a script may add thousands of columns one by one.
    """

    name: Identifier
    schema: str
    columns: list[ColumnDef] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    comment: str | None = None
    parent: ObjectName | None = None
    folded: set[str] = field(default_factory=set)


@dataclass
class Schema:
    """Tables and types so far, and what was left out.

    ``current`` is the schema of names without one, ``enclosing`` what it was before an open
    CREATE SCHEMA statement; ``is_late`` while statements that waited for their tables are
    applied. ``aside`` are sentences about tables that nobody will miss,
    ``irrelevant`` counts statements that say nothing of structure by what they are, and ``absent``
    are tables that statements change and none creates. ``moved`` are names, without case, under
    which tables came or went.
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
    moved: set[str] = field(default_factory=set)


class AbsentTableError(LookupError):
    """A statement is about a table that no statement has created yet."""


class ChangeError(ValueError):
    """A change that can't be made, or only in part."""


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
