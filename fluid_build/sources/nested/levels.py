"""The tables that nested rows are split into: the rows themselves, and each list in them.

A level is the rows of one such table. Its SQL is written over the rows as they were read, so that
another program can run it on its own reading of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fluid_build.sources.base import ENTRY
from fluid_build.sources.declared import unique_names
from fluid_build.sources.nested.nodes import Items, Node, Path, Scalar, below, column_name
from fluid_build.sources.nested.presence import Presence
from fluid_build.sources.sql import quote

POSITION = "position"
"""The column that says which item of its list a row is, from 1."""

PRESENT = "present"
"""The end of the name of a column that states whether a struct or list is there."""

Rows: TypeAlias = Callable[[str], str]
"""SQL that may follow FROM, given the SQL of the rows as they were read."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of a row's key: its name in the table, its SQL in the rows of the level.

    ``fields`` lead to its value in the document; a position has none.
    """

    name: str
    sql: str
    fields: Path = ()


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column with a value, or with ``states`` whether the struct or list is there."""

    name: str
    sql: str
    node: Node
    states: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """The rows of one table.

    ``path`` leads to it from the documents; it's empty for the documents themselves. ``key``
    identifies a row: the documents' key, and a position for each list on the way. ``items`` is
    the list of the parent that the rows come from.
    """

    name: str
    path: Path
    rows: Rows
    nodes: tuple[Node, ...]
    presence: Mapping[Path, Presence]
    key: tuple[KeyColumn, ...]
    columns: tuple[ValueColumn, ...]
    parent: "Level | None" = None
    items: Items | None = None

    def fields_of(self, node: Node) -> Path:
        """Return the fields that lead to a value from the document, ``ENTRY`` for a map's."""
        if self.parent is None or self.items is None:
            return node.path
        own = node.path
        if self.items.is_map:
            own = (ENTRY, *own[1:])
        elif self.items.item_type.id != "struct":
            own = own[1:]
        return (*self.parent.fields_of(self.items), *own)

    @property
    def lists(self) -> list[Items]:
        """The lists and maps in a row, which become levels of their own."""
        return [node for node in in_row(self.nodes) if isinstance(node, Items)]

    def query(self, documents: str) -> str:
        """Return the SELECT of the table's rows, from the rows as they were read."""
        columns = [(column.sql, column.name) for column in self.columns]
        if self.parent is not None:
            columns = [*((column.sql, column.name) for column in self.key), *columns]
        selected = ", ".join(f"{sql} AS {quote(name)}" for sql, name in columns)
        return f"SELECT {selected} FROM {self.rows(documents)}"


def in_row(nodes: Sequence[Node]) -> Iterator[Node]:
    """Return the nodes of a row with all that is in their structs."""
    for node in nodes:
        yield from below(node)


def value_columns(nodes: Sequence[Node], presence: Mapping[Path, Presence]) -> list[ValueColumn]:
    """Return the columns of a row's values, by names that may not be unique yet."""
    columns = []
    for node in in_row(nodes):
        if isinstance(node, Scalar):
            columns.append(ValueColumn(column_name(node.path), node.sql, node))
        elif presence[node.path] == "stated":
            name = column_name((*(node.path or ("value",)), PRESENT))
            columns.append(ValueColumn(name, f"{node.sql} IS NOT NULL", node, states=True))
    return columns


def item_rows(parent: Level, items: Items, depth: int) -> Rows:
    """Return the rows of a list's items: the parent's key as k0, k1, …, and the item."""
    keys = [f"{column.sql} AS k{number}" for number, column in enumerate(parent.key)]
    selected = ", ".join(
        (
            *keys,
            f"unnest({items.entries}) AS {item_name(depth)}",
            f"generate_subscripts({items.entries}, 1) AS k{len(keys)}",
        )
    )
    return lambda documents: f"(SELECT {selected} FROM {parent.rows(documents)})"


def item_name(depth: int) -> str:
    """Return what an item is called in the SQL of its level."""
    return f"item{depth}"


def item_key(parent: Level, root_name: str, taken: Sequence[str]) -> tuple[KeyColumn, ...]:
    """Return the key of a list's items, by names that none of the other columns has."""
    keys = [
        replace(key, name=f"{root_name}__{key.name}") if parent.items is None else key
        for key in parent.key
    ]
    if parent.items is not None:
        # The position in the outer list is named for that list.
        outer = column_name((*parent.items.path, POSITION))
        keys[-1] = replace(keys[-1], name=outer)
    keys.append(KeyColumn(POSITION, ""))
    names = unique_names((*taken, *(key.name for key in keys)))[len(taken) :]
    return tuple(
        KeyColumn(name, f"k{number}", key.fields)
        for number, (name, key) in enumerate(zip(names, keys, strict=True))
    )
