"""A cache of column values: a few thousand compare faster as Python sets than in a query."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar, cast

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


_T = TypeVar("_T")
_SHARE_OF_MEMORY = 1 / 6
"""What values may take of the memory that the source's engine may use."""
_CELL_BYTES = 100
"""What a value takes as a Python object, with its place in a tuple or a dictionary."""
_BYTES_OF_UNIT = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
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


class _Recent(Generic[_T]):
    """What was used most recently, up to a number of cells; the last one always stays."""

    def __init__(self, most_cells: int) -> None:
        self._most_cells = most_cells
        self._cells = 0
        self._kept: OrderedDict[tuple[int, ...], tuple[_T, int]] = OrderedDict()

    def get(self, key: tuple[int, ...]) -> _T | None:
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: tuple[int, ...], value: _T, cells: int) -> _T:
        self._kept[key] = value, cells
        self._cells += cells
        while self._cells > self._most_cells and len(self._kept) > 1:
            self._cells -= self._kept.popitem(last=False)[1][1]
        return value

    def forget(self, table: int) -> None:
        for key in [key for key in self._kept if key[0] == table]:
            self._cells -= self._kept.pop(key)[1]


class ValueCache:
    """Values of small tables and of columns with few distinct ones, read once.

    A small table is read whole. Of a larger one, DuckDB counts the values of a single column. Rows
    and counted values have half of the room each, so that the keys to which column after column is
    compared stay, though the rows that they were counted from had to go. ``keys`` are those of
    tables that were read in part. ``most_cells`` is a share of the engine's memory if it's None.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        most_cells: int | None = None,
        *,
        keys: KeysAtServer | None = None,
    ) -> None:
        self.connection = connection
        self.keys = keys
        half = (_affordable_cells(connection) if most_cells is None else most_cells) // 2
        self._rows: _Recent[dict[int, tuple[object, ...]]] = _Recent(half)
        self._counts: _Recent[ValueCounts] = _Recent(half)

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
        key = (table.index, *positions)
        known = self._counts.get(key)
        if known is not None:
            return known
        if table.stats.is_complete:
            rows = self._rows_of(table)
            counts = _count_rows([rows[position] for position in positions])
        else:
            counts = self._count_values(columns[0])
        return self._counts.keep(key, counts, len(counts.counts) * len(columns))

    def forget(self, table: MeasuredTable) -> None:
        """Drop the values of a table that has a column to be compared in another form now."""
        self._rows.forget(table.index)
        self._counts.forget(table.index)

    def _rows_of(self, table: MeasuredTable) -> dict[int, tuple[object, ...]]:
        """Return the values of a table's columns by their positions, row by row."""
        known = self._rows.get((table.index,))
        if known is not None:
            return known
        readable = [column for column in table.columns if _is_exact(column)]
        selected = ", ".join(map(_python_value, readable))
        with reading(self.connection, readable):
            rows = self.connection.execute(f"SELECT {selected} FROM {table.relation}").fetchall()
        values = list(zip(*rows, strict=True)) or [()] * len(readable)
        positions = (column.position for column in readable)
        by_position = dict(zip(positions, values, strict=True))
        return self._rows.keep((table.index,), by_position, len(rows) * len(readable))

    def _count_values(self, column: MeasuredColumn) -> ValueCounts:
        value = f"{_python_value(column)} AS value"
        present = f"FROM {column.table.relation} WHERE {column.sql} IS NOT NULL"
        is_unique = column.stats.is_unique and column.is_plain
        counted = value if is_unique else f"{value}, count(*)"
        grouping = "" if is_unique else "GROUP BY ALL"
        with reading(self.connection, [column]):
            rows = self.connection.execute(f"SELECT {counted} {present} {grouping}").fetchall()
        return ValueCounts({key: 1 for (key,) in rows} if is_unique else dict(rows))


def _affordable_cells(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many values fit into their share of the engine's memory, such as 2.5 GiB."""
    row = connection.execute("SELECT current_setting('memory_limit')").fetchone()
    size, unit = str(row[0] if row else "").split()
    return int(float(size) * _BYTES_OF_UNIT[unit] * _SHARE_OF_MEMORY / _CELL_BYTES)


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
