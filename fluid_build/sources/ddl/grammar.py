"""What a statement of DDL says of tables, read from its tokens.

The reader knows what every dialect writes alike (names, columns, keys, references, comments) and
steps over what has no bearing on structure (storage, collation, partitions). What it neither knows
nor may step over is kept as a fault of the column or table, for the user to see.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from fluid_build.sources.ddl.lexer import Token


class Identifier(NamedTuple):
    """A name and whether it stood in quotes."""

    text: str
    quoted: bool = False


class ObjectName(NamedTuple):
    """The name of a table or type, with its schema where one was written."""

    name: Identifier
    schema: Identifier | None = None


@dataclass(frozen=True, slots=True)
class ColumnDef:
    """A column as written. ``type`` are the tokens of its type; ``nullable`` None if unsaid."""

    name: Identifier
    type: tuple[Token, ...] = ()
    nullable: bool | None = None
    generated: bool = False
    comment: str | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyDef:
    """A primary or unique key; ``index`` names the index it is made from instead of columns."""

    primary: bool
    columns: tuple[Identifier, ...]
    name: str = ""
    index: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKeyDef:
    """A foreign key; no ``to_columns`` means the primary key of the table referred to."""

    columns: tuple[Identifier, ...]
    to_table: ObjectName
    to_columns: tuple[Identifier, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """What stands between the parentheses of CREATE TABLE, or behind ADD."""

    columns: tuple[ColumnDef, ...] = ()
    keys: tuple[KeyDef, ...] = ()
    foreign_keys: tuple[ForeignKeyDef, ...] = ()
    like: tuple[ObjectName, ...] = ()
    like_keys: bool = False
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTable:
    """A table made: its body, or what it takes its columns from."""

    name: ObjectName
    body: Body = field(default_factory=Body)
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    inherits: tuple[ObjectName, ...] = ()
    partition_of: ObjectName | None = None
    from_query: bool = False
    virtual: bool = False


@dataclass(frozen=True, slots=True)
class Add:
    """Columns or constraints added to a table."""

    body: Body


@dataclass(frozen=True, slots=True)
class Drop:
    """A column or constraint dropped; ``what`` is column, constraint or primary."""

    what: Literal["column", "constraint", "primary"]
    name: Identifier


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """A column that gets another name."""

    old: Identifier
    new: Identifier


@dataclass(frozen=True, slots=True)
class RenameTable:
    """A table that gets another name, or another schema, or both."""

    new: ObjectName


@dataclass(frozen=True, slots=True)
class Redefine:
    """A column written anew under a name that may differ; what is unsaid stays as it was."""

    old: Identifier
    column: ColumnDef


@dataclass(frozen=True, slots=True)
class SetComment:
    """What a table or column is for, in words; None takes the words away."""

    column: Identifier | None
    comment: str | None


@dataclass(frozen=True, slots=True)
class MoveToSchema:
    """A table that goes to another schema."""

    schema: Identifier


@dataclass(frozen=True, slots=True)
class Attach:
    """``child`` becomes a partition of the table altered."""

    child: ObjectName


@dataclass(frozen=True, slots=True)
class InheritFrom:
    """The table altered becomes a child of ``parent``."""

    parent: ObjectName


Action: TypeAlias = (
    Add
    | Drop
    | RenameColumn
    | RenameTable
    | Redefine
    | SetComment
    | MoveToSchema
    | Attach
    | InheritFrom
)


@dataclass(frozen=True, slots=True)
class AlterTable:
    """Changes to a table, in order; ``faults`` are actions that could not be read."""

    name: ObjectName
    actions: tuple[Action, ...]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropTables:
    """Tables taken away."""

    names: tuple[ObjectName, ...]


@dataclass(frozen=True, slots=True)
class UniqueIndex:
    """An index that no two rows share; no columns where it is partial or over an expression."""

    table: ObjectName
    key: KeyDef


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type of the schema's own; ``base`` are the tokens of what it is made of."""

    name: ObjectName
    base: tuple[Token, ...]
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class UseSchema:
    """The schema of unqualified names from here on; ``scoped`` to one CREATE SCHEMA statement."""

    schema: Identifier
    scoped: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """A statement that says nothing of a table's structure, and its kind (``INSERT``)."""

    kind: str


Meaning: TypeAlias = (
    CreateTable | AlterTable | DropTables | UniqueIndex | NamedType | UseSchema | Passed
)
