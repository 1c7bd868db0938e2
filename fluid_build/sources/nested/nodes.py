"""What is inside nested columns: structs, lists and maps as a tree, each with its SQL."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from duckdb.sqltypes import DuckDBPyType

from fluid_build.sources.sql import literal

Path: TypeAlias = tuple[str, ...]
"""The fields that lead to a value, from the row of its table."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that becomes a column; also a nested value that is left as it is."""

    path: Path
    sql: str
    type: str


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct whose fields become columns."""

    path: Path
    sql: str
    type: str
    fields: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list or map whose items become the rows of a child table.

    The entries of a map are structs of ``key`` and ``value``.
    """

    path: Path
    sql: str
    type: str
    is_map: bool
    item_type: DuckDBPyType

    @property
    def entries(self) -> str:
        """The items as a list, in SQL."""
        return f"map_entries({self.sql})" if self.is_map else self.sql


Node: TypeAlias = Scalar | Struct | Items


MaySplit: TypeAlias = Callable[[Path, DuckDBPyType], bool]
"""Whether a struct, list or map is split, by its path and type."""


def node_of(path: Path, sql: str, type_: DuckDBPyType, may_split: MaySplit) -> Node:
    """Return the tree of a value; what ``may_split`` refuses stays in one piece."""
    if type_.id not in ("struct", "list", "map") or not may_split(path, type_):
        return Scalar(path, sql, str(type_))
    if type_.id == "struct":
        fields = list(type_.children)
        if fields and all(name for name, _ in fields):
            return Struct(
                path,
                sql,
                str(type_),
                tuple(
                    node_of(
                        (*path, name),
                        f"struct_extract({sql}, {literal(name)})",
                        _child(type_, position),
                        may_split,
                    )
                    for position, (name, _) in enumerate(fields)
                ),
            )
    if type_.id == "list":
        return Items(path, sql, str(type_), False, _child(type_, 0))
    if type_.id == "map":
        return Items(path, sql, str(type_), True, _entry_type(type_))
    return Scalar(path, sql, str(type_))


def item_node(items: Items, sql: str, may_split: MaySplit) -> Node:
    """Return the tree of an item of a list or map, where ``sql`` is the item."""
    is_struct = items.item_type.id == "struct"
    return node_of(() if is_struct else ("value",), sql, items.item_type, may_split)


def below(node: Node) -> Iterator[Node]:
    """Return a node and all nodes in it, within the same row."""
    yield node
    if isinstance(node, Struct):
        for field in node.fields:
            yield from below(field)


def is_blank(node: Node) -> str:
    """Return the condition that a value has nothing in it: no scalar, no item."""
    if isinstance(node, Scalar):
        return f"{node.sql} IS NULL"
    if isinstance(node, Items):
        return f"coalesce({length(node)}, 0) = 0"
    return f"({' AND '.join(map(is_blank, node.fields))})"


def length(items: Items) -> str:
    """Return the number of items, in SQL."""
    return f"cardinality({items.sql})" if items.is_map else f"len({items.sql})"


def column_name(path: Path) -> str:
    """Return the name of the column that a value becomes."""
    return "__".join(path) or "value"


def _entry_type(type_: DuckDBPyType) -> DuckDBPyType:
    return DuckDBPyType({"key": _child(type_, 0), "value": _child(type_, 1)})


def _child(type_: DuckDBPyType, position: int) -> DuckDBPyType:
    _, child = type_.children[position]
    assert isinstance(child, DuckDBPyType), "only arrays and enums have other children"
    return child
