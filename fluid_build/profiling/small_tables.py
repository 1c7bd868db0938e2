"""The values of small tables, at hand in Python: comparing sets is quicker than asking DuckDB."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import duckdb

from fluid_build.profiling.schema import Entity, Node

_MOST_CELLS = 2_000_000
_EXACT = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT DECIMAL"
    " FLOAT DOUBLE VARCHAR ENUM UUID DATE".split()
)


@dataclass
class Values:
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
    """The comparable columns of a table by their positions, and what was counted of them."""

    columns: dict[int, tuple[object, ...]]
    values: dict[tuple[int, ...], Values] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        return sum(map(len, self.columns.values()))


class SmallTables:
    """Reads each small table once, when first asked for, and holds those used last."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, most_cells: int = _MOST_CELLS
    ) -> None:
        self.connection = connection
        self._most_cells = most_cells
        self._cells = 0
        self._held: OrderedDict[int, _Held] = OrderedDict()

    def values(self, nodes: Sequence[Node]) -> Values | None:
        """The values of some columns of one table, of the rows without a null among them.

        Two are the same in Python just where DuckDB finds them equal. None where the table is not
        small, or a column is of a type whose values can't be compared so.
        """
        if not all(map(_is_held, nodes)):
            return None
        held = self._hold(nodes[0].table)
        positions = tuple(node.position for node in nodes)
        if positions not in held.values:
            held.values[positions] = _count([held.columns[place] for place in positions])
        return held.values[positions]

    def _hold(self, entity: Entity) -> _Held:
        held = self._held.get(entity.index)
        if held is None:
            held = self._held[entity.index] = self._read(entity)
            self._cells += held.cells
            while self._cells > self._most_cells and len(self._held) > 1:
                self._cells -= self._held.popitem(last=False)[1].cells
        self._held.move_to_end(entity.index)
        return held

    def _read(self, entity: Entity) -> _Held:
        nodes = [node for node in entity.nodes if _is_held(node)]
        wanted = ", ".join(map(_readable, nodes))
        rows = self.connection.execute(
            f"SELECT {wanted} FROM {entity.stats.table.relation}"
        ).fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(nodes)
        return _Held({node.position: values for node, values in zip(nodes, columns, strict=True)})


def _count(columns: Sequence[tuple[object, ...]]) -> Values:
    if len(columns) == 1:
        counted = Counter(columns[0])
        counted.pop(None, None)
        return Values(counted)
    rows = zip(*columns, strict=True)
    if any(None in column for column in columns):
        return Values(Counter(row for row in rows if None not in row))
    return Values(Counter(rows))


def _is_held(node: Node) -> bool:
    stats = node.stats
    return (
        node.comparable != ""
        and node.table.stats.complete
        and stats.column.type.partition("(")[0] in _EXACT
    )


def _readable(node: Node) -> str:
    """A column in a form that Python compares as DuckDB does."""
    return f"CAST({node.sql} AS VARCHAR)" if node.comparable in {"uuid", "date"} else node.sql
