"""The SQL that puts nested documents together again from the tables that they were split into."""

from collections.abc import Mapping, Sequence

from fluid_build.sources.nested.levels import Level, ValueColumn
from fluid_build.sources.nested.nodes import Items, Node, Scalar, Struct
from fluid_build.sources.sql import literal, quote


def rebuilt_documents(
    root: Level, children: Sequence[Level], relations: Mapping[str, str], names: Sequence[str]
) -> str:
    """Return the SELECT of the documents; ``relations`` has each level's table by its name.

    ``names`` are those of the documents' columns, in the order of the root's nodes.
    """
    rebuild = _Rebuild(children, relations)
    values, joins = rebuild.values(root)
    columns = ", ".join(
        f"{value} AS {quote(name)}" for name, value in zip(names, values, strict=True)
    )
    return f"SELECT {columns} FROM {relations[root.name]} AS t{joins}"


class _Rebuild:
    """One rebuild: every level with the lists of its children joined to its rows."""

    def __init__(self, levels: Sequence[Level], relations: Mapping[str, str]) -> None:
        self._relations = relations
        self._children: dict[str, list[Level]] = {}
        for level in levels:
            assert level.parent is not None
            self._children.setdefault(level.parent.name, []).append(level)

    def values(self, level: Level) -> tuple[list[str], str]:
        """Return the SQL of each node of a level's row, and the joins that it needs."""
        row = _Row(level)
        joins = []
        for number, child in enumerate(self._children.get(level.name, ())):
            assert child.items is not None
            own = [quote(key.name) for key in child.key[:-1]]
            on = " AND ".join(
                f"t.{quote(key.name)} = c{number}.{name}"
                for key, name in zip(level.key, own, strict=True)
            )
            joins.append(f" LEFT JOIN ({self._lists(child)}) AS c{number} ON {on}")
            row.lists[child.items.path] = f"c{number}.items"
        return [row.value(node) for node in level.nodes], "".join(joins)

    def _lists(self, level: Level) -> str:
        """Return the SELECT of a level's items, as one list for each row of its parent."""
        (item,), joins = self.values(level)
        keys = ", ".join(f"t.{quote(key.name)}" for key in level.key[:-1])
        position = f"t.{quote(level.key[-1].name)}"
        return (
            f"SELECT {keys}, list({item} ORDER BY {position}) AS items"
            f" FROM {self._relations[level.name]} AS t{joins} GROUP BY {keys}"
        )


class _Row:
    """The values of one level's row, from the columns of its table and the lists joined to it."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._columns = {(column.node.path, column.states): column for column in level.columns}
        self.lists: dict[tuple[str, ...], str] = {}

    def value(self, node: Node) -> str:
        if isinstance(node, Scalar):
            return self._column(node)
        if isinstance(node, Items):
            return self._items(node)
        fields = ", ".join(
            f"{literal(field.path[-1])}: {self.value(field)}" for field in node.fields
        )
        return self._if_present(node, f"CAST({{{fields}}} AS {node.type})", self._is_filled(node))

    def _items(self, node: Items) -> str:
        items = self.lists[node.path]
        together = f"map_from_entries({items})" if node.is_map else items
        empty = f"CAST({'MAP {}' if node.is_map else '[]'} AS {node.type})"
        presence = self._level.presence[node.path]
        whole = f"CASE WHEN {items} IS NULL THEN {empty} ELSE CAST({together} AS {node.type}) END"
        filled = f"{items} IS NOT NULL"
        return self._if_present(node, whole, filled) if presence != "always" else whole

    def _if_present(self, node: Struct | Items, value: str, is_filled: str) -> str:
        presence = self._level.presence[node.path]
        if presence == "always":
            return value
        condition = self._state(node) if presence == "stated" else is_filled
        return f"CASE WHEN {condition} THEN {value} END"

    def _is_filled(self, node: Node) -> str:
        if isinstance(node, Scalar):
            return f"{self._column(node)} IS NOT NULL"
        if isinstance(node, Items):
            return f"{self.lists[node.path]} IS NOT NULL"
        return f"({' OR '.join(map(self._is_filled, node.fields))})"

    def _column(self, node: Node) -> str:
        return _quoted(self._columns[node.path, False])

    def _state(self, node: Node) -> str:
        return _quoted(self._columns[node.path, True])


def _quoted(column: ValueColumn) -> str:
    return f"t.{quote(column.name)}"
