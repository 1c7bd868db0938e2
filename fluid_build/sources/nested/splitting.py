"""Tables with nested columns split into flat tables, one for each list in them.

``orders`` with a list ``lines`` becomes ``orders`` and ``orders__lines``, which has the key of its
order and the position in the list; structs become columns (``customer__name``). Every list of every
depth has a table of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from duckdb.sqltypes import DuckDBPyType

from fluid_build import limits
from fluid_build.sources.base import Column, OpenSource, Table
from fluid_build.sources.declared import unique_names
from fluid_build.sources.nested.document_keys import NUMBER, document_key
from fluid_build.sources.nested.json_columns import ParsedColumn, is_json, parse_json
from fluid_build.sources.nested.levels import (
    KeyColumn,
    Level,
    ValueColumn,
    in_row,
    item_key,
    item_name,
    item_rows,
    value_columns,
)
from fluid_build.sources.nested.nodes import (
    Items,
    Node,
    Path,
    Scalar,
    column_name,
    item_node,
    node_of,
)
from fluid_build.sources.nested.presence import measure_presence
from fluid_build.sources.nested.store import NestedStore
from fluid_build.sources.origin import InDatabase
from fluid_build.sources.sql import quote

# Names of the tables and columns that nested values become.

_LONGEST = 120
"""Characters of a child table's name: a path of fields may be of any length."""


def bare_name(table: Table) -> str:
    """Return what a table is called within its schema."""
    return table.origin.table if isinstance(table.origin, InDatabase) else table.own_name


def child_name(parent: str, path: Path, used: Iterable[str]) -> str:
    """Return the name of the table of a list: the parent's name and the path of the list."""
    end = '"' if parent.endswith('"') else ""
    stem = parent.removesuffix(end)
    suffix = f"__{column_name(path)}"
    longest = max(_LONGEST - len(stem), len(suffix) // 2, 1)
    name = f"{stem}{suffix[:longest]}"
    others = [other.removesuffix('"') for other in used]
    return f"{unique_names((*others, name))[-1]}{end}"


def with_unique_names(
    columns: Sequence[ValueColumn], reserved: Iterable[str] = ()
) -> list[ValueColumn]:
    """Return columns by names that differ; those ``reserved`` belong to plain columns."""
    plain = list(reserved)
    own = iter(
        unique_names((*plain, *(c.name for c in columns if not _is_plain(c, plain))))[len(plain) :]
    )
    return [
        column if _is_plain(column, plain) else replace(column, name=next(own))
        for column in columns
    ]


def _is_plain(column: ValueColumn, names: Sequence[str]) -> bool:
    return not column.states and len(column.node.path) == 1 and column.node.path[0] in names


def is_nested(type_: str) -> bool:
    """Return whether a DuckDB type is one that's split; arrays of a fixed size are vectors."""
    return type_.endswith("[]") or type_.startswith(("STRUCT(", "MAP("))


class Splitting:
    """The splitting of one table: its levels, and the documents that they're read from.

    ``documents`` is the relation with the rows as they were read, in which JSON is parsed.
    ``levels`` begin with the documents themselves; there are none where nothing is nested.
    ``notes`` are sentences on what stays nested. ``used_names`` are those of the other tables.
    Raises duckdb.Error where the rows can't be read.
    """

    def __init__(self, source: OpenSource, table: Table, used_names: set[str]) -> None:
        self.table = table
        self.notes: list[str] = []
        self.is_numbered = False
        self.parsed: dict[str, ParsedColumn] = {}
        self.levels: list[Level] = []
        self.documents = table.relation
        self._connection = source.connection
        self._used_names = used_names
        self._tables_left = limits.NESTED_TABLES.value
        self._bare_name = bare_name(table)
        self._parse_json()
        if self.parsed or any(is_nested(column.type) for column in table.columns):
            self._store = NestedStore(source)
            self._set_levels()

    @property
    def number(self) -> str:
        """The name of the column that numbers the documents."""
        return unique_names((*(column.alias for column in self.table.columns), NUMBER))[-1]

    def reading(self, relation: str) -> str:
        """Return the documents as SQL that may follow FROM, from a relation that has their rows."""
        columns = [self._read_column(column) for column in self.table.columns]
        if self.is_numbered:
            columns.insert(0, f"row_number() OVER () AS {quote(self.number)}")
        return f"(SELECT {', '.join(columns)} FROM {relation})"

    def create_tables(self) -> dict[str, str]:
        """Create the relation of each level, and return them by the levels' names."""
        relations = {}
        for level in self.levels:
            relation = self._store.new_relation()
            kind = "VIEW" if level.parent is None else "TABLE"
            self._connection.execute(f"CREATE {kind} {relation} AS {level.query(self.documents)}")
            relations[level.name] = relation
        return relations

    def _parse_json(self) -> None:
        for column in self.table.columns:
            if is_json(column):
                parsed = parse_json(self._connection, self.table.relation, column)
                if parsed is not None:
                    self.parsed[column.alias] = parsed

    def _read_column(self, column: Column) -> str:
        name = quote(column.alias)
        if column.alias in self.parsed:
            return f"{self.parsed[column.alias].sql} AS {name}"
        return f"CAST({name} AS {column.type}) AS {name}" if is_nested(column.type) else name

    def _set_levels(self) -> None:
        if self.parsed:
            # JSON is parsed once, and not again for each of the tables.
            self._store_documents()
        nodes = self._document_nodes()
        presence = measure_presence(self._connection, self.documents, nodes)
        scalars = [node.path[0] for node in nodes if isinstance(node, Scalar)]
        columns = with_unique_names(value_columns(nodes, presence), scalars)
        key: tuple[ValueColumn, ...] = ()
        if any(isinstance(node, Items) for node in in_row(nodes)):
            # Only the tables of lists have to name the row that they belong to.
            key = document_key(
                self._connection, self.table, self.documents, self._bare_name, columns
            )
            self.is_numbered = not key
        if self.is_numbered:
            self._store_documents()
            sql = quote(self.number)
            key = (ValueColumn(self.number, sql, Scalar((self.number,), sql, "BIGINT")),)
            columns = [*key, *columns]
        root = Level(
            name=self.table.name,
            path=(),
            rows=lambda documents: documents,
            nodes=nodes,
            presence=presence,
            key=tuple(
                KeyColumn(column.name, column.sql, () if self.is_numbered else column.node.path)
                for column in key
            ),
            columns=tuple(columns),
        )
        self.levels = [root, *self._children(root)]

    def _store_documents(self) -> None:
        stored = self._store.new_relation()
        reading = self.reading(self.table.relation)
        self._connection.execute(f"CREATE TABLE {stored} AS FROM {reading}")
        self.documents = stored

    def _document_nodes(self) -> tuple[Node, ...]:
        relation = self._connection.sql(f"FROM {self.documents} LIMIT 0")
        types = dict(zip(relation.columns, relation.types, strict=True))
        return tuple(
            node_of((column.alias,), quote(column.alias), types[column.alias], self._may_split)
            for column in self.table.columns
        )

    def _may_split(self, path: Path, type_: DuckDBPyType, outer: Path = ()) -> bool:
        if len(outer) + len(path) > limits.NESTED_DEPTH.value:
            limit, what = limits.NESTED_DEPTH, "it's nested too deeply"
        elif type_.id != "struct" and self._tables_left == 0:
            limit, what = limits.NESTED_TABLES, f"{limits.NESTED_TABLES.value} others became tables"
        else:
            self._tables_left -= type_.id != "struct"
            return True
        self.notes.append(f"{'.'.join((*outer, *path))} stays nested: {what}. {limit.how_to_raise}")
        return False

    def _children(self, parent: Level) -> Iterator[Level]:
        for items in parent.lists:
            level = self._child(parent, items)
            yield level
            yield from self._children(level)

    def _child(self, parent: Level, items: Items) -> Level:
        path = (*parent.path, *items.path)
        depth = len(parent.key)
        name = child_name(parent.name, items.path, self._used_names)
        self._used_names.add(name.lower())
        node = item_node(
            items,
            item_name(depth),
            lambda inner, type_: self._may_split(inner, type_, outer=path),
        )
        rows = item_rows(parent, items, depth)
        presence = measure_presence(self._connection, rows(self.documents), (node,))
        columns = with_unique_names(value_columns((node,), presence))
        key = item_key(parent, self._bare_name, [column.name for column in columns])
        return Level(
            name=name,
            path=path,
            rows=rows,
            nodes=(node,),
            presence=presence,
            key=key,
            columns=tuple(columns),
            parent=parent,
            items=items,
        )
