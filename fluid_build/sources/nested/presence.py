"""Which structs and lists are missing, and which are there with nothing in them.

A struct becomes the columns of its fields, a list the rows of a table. Both lose whether a value
was null or empty, so that's measured: only where both occur, a column states it.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import duckdb

from fluid_build.sources.nested.nodes import Items, Node, Path, Struct, is_blank, length

Presence: TypeAlias = Literal["always", "when filled", "stated"]
"""How to know that a struct or list is there: it always is, it is whenever something is in it, or
a column states it."""

_AT_ONCE = 200
"""Values measured in one query: DuckDB takes time to plan thousands of expressions at once."""


def measure_presence(
    connection: duckdb.DuckDBPyConnection, rows: str, nodes: Sequence[Node]
) -> dict[Path, Presence]:
    """Return the presence of each struct and list in some rows, by its path."""
    values = [pair for node in nodes for pair in _with_containers(node, "TRUE")]
    result: dict[Path, Presence] = {}
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        figures = ", ".join(
            f"coalesce(bool_or({container} AND {node.sql} IS NULL), FALSE),"
            f" coalesce(bool_or({_is_empty(node)}), FALSE)"
            for node, container in part
        )
        row = connection.execute(f"SELECT {figures} FROM {rows}").fetchone()
        assert row is not None, "an aggregate without groups always gives a row"
        for position, (node, _) in enumerate(part):
            result[node.path] = _presence(row[2 * position], row[2 * position + 1])
    return result


def _with_containers(node: Node, container: str) -> list[tuple[Struct | Items, str]]:
    """Return the structs and lists in a row, each with the condition that its container exists."""
    if isinstance(node, Items):
        return [(node, container)]
    if not isinstance(node, Struct):
        return []
    inner = f"{node.sql} IS NOT NULL"
    return [
        (node, container),
        *(pair for field in node.fields for pair in _with_containers(field, inner)),
    ]


def _is_empty(node: Struct | Items) -> str:
    if isinstance(node, Items):
        return f"{length(node)} = 0"
    return f"{node.sql} IS NOT NULL AND {is_blank(node)}"


def _presence(has_null: bool, has_empty: bool) -> Presence:
    if not has_null:
        return "always"
    return "stated" if has_empty else "when filled"
