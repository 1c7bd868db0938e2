"""Queries on measured columns whose failure names the tables that can't be read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb

from fluid_build.errors import SourceUnreadableError
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
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
