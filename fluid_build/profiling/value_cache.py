"""Values at hand: a few thousand are compared quicker as sets in Python than by a query."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import duckdb

from fluid_build.profiling.measured_tables import MeasuredColumn, MeasuredTable

_MOST_CELLS = 2_000_000
_FEW = 32_768
_EXACT = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT DECIMAL"
    " FLOAT DOUBLE VARCHAR ENUM UUID DATE".split()
)


@dataclass
class ValueCounts:
    """The different values of some columns, tuples where they are several, with their counts."""

    counts: Mapping[object, int]

    @cached_property
    def rows(self) -> int:
        """How many rows have no null among the columns."""
        return sum(self.counts.values())

    @cached_property
    def firsts(self) -> list[int]:
        """Of whole numbers: that of the first column, of each value, in order."""
        firsts = (key[0] if isinstance(key, tuple) else key for key in self.counts)
        return sorted(cast("Iterable[int]", firsts))


@dataclass(slots=True)
class _Held:
    """Columns by their positions, row by row, and what was counted of them."""

    columns: dict[int, tuple[object, ...]]
    values: dict[tuple[int, ...], ValueCounts] = field(default_factory=dict)
    cells: int = 0


class ValueCache:
    """Values of small tables and of columns with few of them, read once; those used last are held.

    A small table is read whole. Of a larger one, a column of some ten thousand values is counted by
    DuckDB.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, most_cells: int = _MOST_CELLS
    ) -> None:
        self.connection = connection
        self._most_cells = most_cells
        self._cells = 0
        self._held: OrderedDict[Hashable, _Held] = OrderedDict()

    def can_hold(self, nodes: Sequence[MeasuredColumn]) -> bool:
        """Whether the values of some columns of one table are few enough, and exact in Python."""
        few = nodes[0].table.stats.complete or (len(nodes) == 1 and nodes[0].stats.distinct <= _FEW)
        return few and all(map(_is_exact, nodes))

    def values(self, nodes: Sequence[MeasuredColumn]) -> ValueCounts:
        """The values of columns that can be held, of the rows without a null among them.

        Two are the same in Python just where DuckDB finds them equal.
        """
        entity = nodes[0].table
        positions = tuple(node.position for node in nodes)
        if not entity.stats.complete:
            counted = self._hold((entity.index, *positions), lambda: self._count(nodes[0]))
            return counted.values[positions]
        held = self._hold(entity.index, lambda: self._read(entity))
        if positions not in held.values:
            held.values[positions] = _count_rows([held.columns[place] for place in positions])
        return held.values[positions]

    def _hold(self, key: Hashable, read: Callable[[], _Held]) -> _Held:
        if key not in self._held:
            held = self._held[key] = read()
            self._cells += held.cells
            while self._cells > self._most_cells and len(self._held) > 1:
                self._cells -= self._held.popitem(last=False)[1].cells
        self._held.move_to_end(key)
        return self._held[key]

    def _read(self, entity: MeasuredTable) -> _Held:
        nodes = [node for node in entity.nodes if _is_exact(node)]
        wanted = ", ".join(map(_readable, nodes))
        rows = self.connection.execute(
            f"SELECT {wanted} FROM {entity.stats.table.relation}"
        ).fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(nodes)
        places = (node.position for node in nodes)
        return _Held(dict(zip(places, columns, strict=True)), cells=len(rows) * len(nodes))

    def _count(self, node: MeasuredColumn) -> _Held:
        relation = node.table.stats.table.relation
        value = f"{_readable(node)} AS value"
        present = f"FROM {relation} WHERE {node.sql} IS NOT NULL"
        counts: Mapping[object, int]
        if node.stats.unique and node.is_plain:
            keys = self.connection.execute(f"SELECT {value} {present}").fetchall()
            counts = {key: 1 for (key,) in keys}
        else:
            counts = dict(
                self.connection.execute(
                    f"SELECT {value}, count(*) {present} GROUP BY ALL"
                ).fetchall()
            )
        return _Held({}, {(node.position,): ValueCounts(counts)}, cells=len(counts))


def _count_rows(columns: Sequence[tuple[object, ...]]) -> ValueCounts:
    if len(columns) == 1:
        counted = Counter(columns[0])
        counted.pop(None, None)
        return ValueCounts(counted)
    rows = zip(*columns, strict=True)
    if any(None in column for column in columns):
        return ValueCounts(Counter(row for row in rows if None not in row))
    return ValueCounts(Counter(rows))


def _is_exact(node: MeasuredColumn) -> bool:
    return node.comparable != "" and node.stats.column.type.partition("(")[0] in _EXACT


def _readable(node: MeasuredColumn) -> str:
    """A column in a form that Python compares as DuckDB does."""
    return f"CAST({node.sql} AS VARCHAR)" if node.comparable in {"uuid", "date"} else node.sql
