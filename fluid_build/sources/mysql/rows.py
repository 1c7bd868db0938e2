"""How the rows of a MySQL server reach DuckDB: in one transaction where they fit in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from fluid_build.errors import SourceUnreachableError
from fluid_build.sources.server_rows import ORIGIN
from fluid_build.sources.sql import literal

MOST_AT_ONCE = 512 * 1024 * 1024
"""The size of a table up to which its rows may be held in memory, outside of DuckDB's limit."""


@dataclass(frozen=True, slots=True)
class MySQLRows:
    """Rows that the scanner reads from the database that is attached as ORIGIN.

    It runs a query in the transaction only if it may hold the whole result in memory. Larger tables
    are read as they come, by a connection of their own.
    """

    connection: duckdb.DuckDBPyConnection
    is_one_transaction: bool = True

    @contextmanager
    def relation(self, sql: str, source_bytes: int = 0, /) -> Iterator[str]:
        """Provide the rows of a query, in the server's SQL, as a relation of DuckDB's."""
        streams = "true" if source_bytes > MOST_AT_ONCE else "false"
        try:
            yield f"mysql_query({literal(ORIGIN)}, {literal(sql)}, stream_results={streams})"
        except duckdb.Error as error:
            if "Failed to connect" not in str(error):
                raise
            raise SourceUnreachableError(
                "The MySQL server stopped answering while its tables were read.",
                hint="Try again; if it happens again, check the server's log.",
            ) from None

    def close(self) -> None:
        """Detach the database."""
        self.connection.execute(f"DETACH {ORIGIN}")
