"""A cache of column values: a few thousand compare faster as Python sets than in a query."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import duckdb

from fluid_build.errors import SourceUnreadableError
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.sources.base import KeysAtServer
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason


class QueryFailedError(SourceUnreadableError):
    """A query on measured tables failed.

    ``tables`` are those that can't be read on their own either. If each can be, it's all of them.
    """

    def __init__(self, tables: Sequence[MeasuredTable], error: Exception) -> None:
        names = " and ".join(table.name for table in tables)
        super().__init__(f"A query on {names} failed: {reason(error)}")
        self.tables = tables
        self.reason = reason(error)


@contextmanager
def reading(
    connection: duckdb.DuckDBPyConnection, *groups: Sequence[MeasuredColumn]
) -> Iterator[None]:
    """Raise QueryFailedError if a query of the block fails; each group is columns of one table."""
    try:
        yield
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        unreadable = [group for group in groups if not _can_be_read(connection, group)]
        raise QueryFailedError([group[0].table for group in unreadable or groups], error) from error


def _can_be_read(connection: duckdb.DuckDBPyConnection, columns: Sequence[MeasuredColumn]) -> bool:
    values = ", ".join(column.sql for column in columns)
    try:
        connection.execute(f"SELECT max(hash({values})) FROM {columns[0].table.relation}")
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS:
        return False
    return True


_MOST_CELLS = 2_000_000
"""How many values are kept at once: 100 to 200 MB of Python objects."""
_MOST_DISTINCT = 32_768
"""Up to so many distinct values, counting a column of a large table and comparing it in Python
beats one join for each of the columns that may refer to it."""
_EXACT_TYPES = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT DECIMAL"
    " FLOAT DOUBLE VARCHAR ENUM UUID DATE".split()
)
"""Types whose values are equal in Python exactly when DuckDB finds them equal."""


@dataclass
class ValueCounts:
    """The distinct values of some columns with their counts; tuples if there are several."""

    counts: Mapping[object, int]

    @cached_property
    def rows(self) -> int:
        """How many rows have no null among the columns."""
        return sum(self.counts.values())

    @cached_property
    def sorted_firsts(self) -> list[int]:
        """The whole numbers of the first column, one for each distinct value, in order."""
        firsts = (key[0] if isinstance(key, tuple) else key for key in self.counts)
        return sorted(cast("Iterable[int]", firsts))


@dataclass(slots=True)
class _CacheEntry:
    """Columns by their positions, row by row, and the counts made from them."""

    columns: dict[int, tuple[object, ...]]
    counts: dict[tuple[int, ...], ValueCounts] = field(default_factory=dict)
    cells: int = 0


class ValueCache:
    """Values of small tables and of columns with few distinct ones, read once.

    A small table is read whole. Of a larger one, DuckDB counts the values of a single column. The
    least recently used entries go first. ``keys`` are those of tables that were read in part.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        most_cells: int = _MOST_CELLS,
        *,
        keys: KeysAtServer | None = None,
    ) -> None:
        self.connection = connection
        self.keys = keys
        self._most_cells = most_cells
        self._cells = 0
        self._entries: OrderedDict[tuple[int, ...], _CacheEntry] = OrderedDict()

    def can_hold(self, columns: Sequence[MeasuredColumn]) -> bool:
        """Return whether the values of columns of one table are few enough, and exact in Python."""
        few = columns[0].table.stats.is_complete or (
            len(columns) == 1 and columns[0].stats.distinct <= _MOST_DISTINCT
        )
        return few and all(map(_is_exact, columns))

    def values(self, columns: Sequence[MeasuredColumn]) -> ValueCounts:
        """Return the values of columns that can be held, over the rows without a null in them."""
        table = columns[0].table
        positions = tuple(column.position for column in columns)
        if not table.stats.is_complete:
            key = (table.index, *positions)
            return self._entry(key, lambda: self._count_values(columns[0])).counts[positions]
        entry = self._entry((table.index,), lambda: self._read_table(table))
        if positions not in entry.counts:
            entry.counts[positions] = _count_rows([entry.columns[place] for place in positions])
        return entry.counts[positions]

    def forget(self, table: MeasuredTable) -> None:
        """Drop the values of a table that has a column to be compared in another form now."""
        for key in [key for key in self._entries if key[0] == table.index]:
            self._cells -= self._entries.pop(key).cells

    def _entry(self, key: tuple[int, ...], read: Callable[[], _CacheEntry]) -> _CacheEntry:
        if key not in self._entries:
            entry = self._entries[key] = read()
            self._cells += entry.cells
            while self._cells > self._most_cells and len(self._entries) > 1:
                self._cells -= self._entries.popitem(last=False)[1].cells
        self._entries.move_to_end(key)
        return self._entries[key]

    def _read_table(self, table: MeasuredTable) -> _CacheEntry:
        readable = [column for column in table.columns if _is_exact(column)]
        selected = ", ".join(map(_python_value, readable))
        with reading(self.connection, readable):
            rows = self.connection.execute(f"SELECT {selected} FROM {table.relation}").fetchall()
        values = list(zip(*rows, strict=True)) or [()] * len(readable)
        positions = (column.position for column in readable)
        return _CacheEntry(
            dict(zip(positions, values, strict=True)), cells=len(rows) * len(readable)
        )

    def _count_values(self, column: MeasuredColumn) -> _CacheEntry:
        value = f"{_python_value(column)} AS value"
        present = f"FROM {column.table.relation} WHERE {column.sql} IS NOT NULL"
        is_unique = column.stats.is_unique and column.is_plain
        counted = value if is_unique else f"{value}, count(*)"
        grouping = "" if is_unique else "GROUP BY ALL"
        with reading(self.connection, [column]):
            rows = self.connection.execute(f"SELECT {counted} {present} {grouping}").fetchall()
        counts: Mapping[object, int] = {key: 1 for (key,) in rows} if is_unique else dict(rows)
        return _CacheEntry({}, {(column.position,): ValueCounts(counts)}, cells=len(counts))


def _count_rows(columns: Sequence[tuple[object, ...]]) -> ValueCounts:
    if len(columns) == 1:
        counts = Counter(columns[0])
        counts.pop(None, None)
        return ValueCounts(counts)
    rows = zip(*columns, strict=True)
    if any(None in column for column in columns):
        return ValueCounts(Counter(row for row in rows if None not in row))
    return ValueCounts(Counter(rows))


def _is_exact(column: MeasuredColumn) -> bool:
    return column.key_kind != "" and column.stats.column.type.partition("(")[0] in _EXACT_TYPES


def _python_value(column: MeasuredColumn) -> str:
    """Return SQL for a column in a form that Python compares as DuckDB does."""
    return f"CAST({column.sql} AS VARCHAR)" if column.key_kind in {"uuid", "date"} else column.sql
