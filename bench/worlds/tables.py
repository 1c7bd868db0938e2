"""Tables of a made-up database: columns with their values, keys, and links to parents."""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.worlds.domains import Entity

DECLARED = "declared"
BY_MEANING = "undeclared, true by meaning"


@dataclass(slots=True, eq=False)
class Column:
    """A column; ``content`` says what fills it."""

    name: str
    words: list[str]
    content: str
    type: str = "VARCHAR"
    values: list[object] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Link:
    """Columns that refer to a parent's key, and the parent's row that each row refers to."""

    columns: list[Column]
    parent: Table
    parent_columns: list[Column]
    is_optional: bool = False
    kind: str = DECLARED
    nature: str = "implied"
    """How the columns come by their names: ``plain``, by a ``role``, ..."""
    none: object = None
    """The value of rows that refer to nothing, where it's no null."""
    via: tuple[Link, Link] | None = None
    """For a copy of a grandparent's key: the link to the parent, and the parent's link."""
    parent_rows: list[int | None] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Table:
    """A table; ``identifying`` are the links whose parents tell its rows apart."""

    entity: Entity
    name: str
    initials: str
    columns: list[Column] = field(default_factory=list)
    key: list[Column] = field(default_factory=list)
    unique: list[list[Column]] = field(default_factory=list)
    identifying: list[Link] = field(default_factory=list)
    counters: list[Column] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tenant: Column | None = None
    rows: int = 0
    is_absent: bool = False
    """Whether its children are given without it."""

    def column_names(self) -> set[str]:
        return {column.name.lower() for column in self.columns}

    def has_code_key(self) -> bool:
        return len(self.key) == 1 and self.key[0].content == "code"


def is_free(table: Table, column: Column) -> bool:
    """Whether a column identifies nothing, and belongs to one reference alone."""
    identifying = [column for key in (table.key, *table.unique) for column in key]
    return column not in identifying and sum(column in link.columns for link in table.links) == 1
