"""How the rows of a PostgreSQL server reach DuckDB: each query by itself, all at one moment.

A transaction that waits exports its snapshot, and each query runs in a short one that imports it.
A query that fails ends its own transaction alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import duckdb

from fluid_build.sources.servers.rows import ORIGIN
from fluid_build.sources.sql import literal

_EXPORT = "SELECT pg_catalog.pg_export_snapshot()::text AS id"


@dataclass(slots=True)
class PostgresRows:
    """Rows that the scanner reads from the database that is attached as ORIGIN.

    ``has_one_moment`` is False once a snapshot couldn't be exported, or was lost.
    """

    connection: duckdb.DuckDBPyConnection
    has_one_moment: bool = True
    _keeper: duckdb.DuckDBPyConnection | None = field(default=None, init=False)
    _snapshot: str = field(default="", init=False)

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Have all that is read in the block be as of one moment, where the server can do that."""
        self._export()
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def relation(self, sql: str, _source_bytes: int = 0, /) -> Iterator[str]:
        """Provide the rows of a query, in the server's SQL, as a relation of DuckDB's."""
        self._begin()
        try:
            yield f"postgres_query({literal(ORIGIN)}, {literal(sql)})"
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def close(self) -> None:
        """Detach the database."""
        self.connection.execute(f"DETACH {ORIGIN}")

    def _begin(self) -> None:
        self.connection.execute("BEGIN")
        try:
            self._import()
        except duckdb.Error:
            # Whoever kept the snapshot was cut off.
            self.connection.execute("ROLLBACK")
            self.has_one_moment = False
            self._release()
            self._export()
            self.connection.execute("BEGIN")
            self._import()

    def _import(self) -> None:
        if self._snapshot:
            statement = f"SET TRANSACTION SNAPSHOT {literal(self._snapshot)}"
            self.connection.execute(
                f"CALL postgres_execute({literal(ORIGIN)}, {literal(statement)})"
            )

    def _export(self) -> None:
        self._keeper = self.connection.cursor()
        self._keeper.execute("BEGIN")
        try:
            row = self._keeper.execute(
                f"FROM postgres_query({literal(ORIGIN)}, {literal(_EXPORT)})"
            ).fetchone()
        except duckdb.Error:
            # Some servers that only resemble PostgreSQL have no snapshots to share.
            self.has_one_moment = False
            self._release()
            return
        self._snapshot = str(row[0]) if row else ""

    def _release(self) -> None:
        self._snapshot = ""
        if self._keeper is not None:
            with suppress(duckdb.Error):
                self._keeper.execute("ROLLBACK")
            self._keeper.close()
            self._keeper = None
