"""A schema while statements still change it, and how names are found in it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from fluid_build.sources.base import Skipped
from fluid_build.sources.ddl.dialects import Dialect, Folding
from fluid_build.sources.ddl.grammar import (
    ColumnDef,
    ForeignKeyDef,
    Identifier,
    KeyDef,
    Meaning,
    NamedType,
    ObjectName,
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
    tables spoken of that no statement makes, ``aside`` sentences about tables not wanted.
    """

    dialect: Dialect
    tables: dict[tuple[str, str], DraftTable] = field(default_factory=dict)
    types: dict[str, NamedType] = field(default_factory=dict)
    indexes: dict[str, KeyDef] = field(default_factory=dict)
    skipped: dict[tuple[str, str], Skipped] = field(default_factory=dict)
    aside: dict[tuple[str, str], str] = field(default_factory=dict)
    current: str = ""
    passed: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    waiting: list[tuple[int, Meaning]] = field(default_factory=list)


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
    key = table_key(schema, name)
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


def table_key(schema: Schema, name: ObjectName) -> tuple[str, str]:
    """Where a table is kept; an unqualified name belongs to the current or default schema."""
    folding = schema.dialect.folding
    default = schema.current or schema.dialect.default_schema
    of = fold(name.schema, folding) if name.schema else fold(Identifier(default, True), folding)
    return of, fold(name.name, folding)
