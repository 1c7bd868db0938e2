"""How the rows of a MySQL server reach DuckDB: in one transaction where they fit in memory.

The transaction is on a cursor of its own, whose rows stream into the connection that keeps them:
a value that DuckDB can't keep ends nothing, and a query that the server refuses only its moment.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import duckdb

from fluid_build.errors import SourceUnreachableError
from fluid_build.sources.servers.rows import ORIGIN
from fluid_build.sources.sql import literal, quote

MOST_AT_ONCE = 512 * 1024 * 1024
"""The size of a table up to which its rows may be held in memory, outside of DuckDB's limit."""
_ROWS = "mysql_rows"


@dataclass(frozen=True, slots=True)
class _Stream:
    """The rows of a cursor, for another connection: a relation alone is only its own."""

    rows: duckdb.DuckDBPyRelation

    def __arrow_c_stream__(self, _schema: object = None) -> object:
        return self.rows.__arrow_c_stream__()


@dataclass(slots=True)
class MySQLRows:
    """Rows that the scanner reads from the database that is attached as ORIGIN.

    It runs a query in the transaction only if it may hold the whole result in memory. Larger tables
    are read as they come, by a connection of their own. ``has_one_moment`` is False once a query
    ended the transaction.
    """

    connection: duckdb.DuckDBPyConnection
    has_one_moment: bool = True
    _reader: duckdb.DuckDBPyConnection | None = field(default=None, init=False)

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Have all that is read in the block be as of one moment, but for large tables."""
        self._reader = self.connection.cursor()
        self._reader.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(duckdb.Error):
                self._reader.execute("ROLLBACK")
            self._reader.close()
            self._reader = None

    @contextmanager
    def relation(self, sql: str, source_bytes: int = 0, /) -> Iterator[str]:
        """Provide the rows of a query, in the server's SQL, as a relation of DuckDB's."""
        is_large = source_bytes > MOST_AT_ONCE
        streams = "true" if is_large else "false"
        rows = f"mysql_query({literal(ORIGIN)}, {literal(sql)}, stream_results={streams})"
        try:
            if self._reader is None or is_large:
                yield rows
                return
            self.connection.register(_ROWS, _Stream(self._reader.sql(f"FROM {rows}")))
            try:
                yield quote(_ROWS)
            finally:
                self.connection.unregister(_ROWS)
        except duckdb.Error as error:
            self._begin_again()
            if "Failed to connect" not in str(error):
                raise
            raise SourceUnreachableError(
                "The MySQL server stopped answering while its tables were read.",
                hint="Try again; if it happens again, check the server's log.",
            ) from None

    def close(self) -> None:
        """Detach the database."""
        self.connection.execute(f"DETACH {ORIGIN}")

    def _begin_again(self) -> None:
        """Begin another transaction where a query ended this one."""
        if self._reader is None:
            return
        try:
            self._reader.execute("SELECT 1").fetchall()
        except duckdb.Error:
            self.has_one_moment = False
            self._reader.execute("ROLLBACK")
            self._reader.execute("BEGIN")
