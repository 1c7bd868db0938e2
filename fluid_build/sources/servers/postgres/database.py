"""A PostgreSQL database, staged into DuckDB from one read-only snapshot."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import duckdb

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
)
from fluid_build.sources.addresses.kinds import POSTGRES
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, starting
from fluid_build.sources.engine.extensions import POSTGRES_SCANNER
from fluid_build.sources.loose_references import Collation
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.servers.catalog_rows import Query, Rows
from fluid_build.sources.servers.postgres.catalog import (
    CatalogColumn,
    existing_schemas,
    overview,
    read_tables,
)
from fluid_build.sources.servers.postgres.types import PostgresDialect
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import ORIGIN
from fluid_build.sources.servers.server_errors import answering, server_message
from fluid_build.sources.servers.source import (
    ServerCatalog,
    ServerReading,
    as_scanned,
    staged_source,
)
from fluid_build.sources.sql import literal

# How the rows of a PostgreSQL server reach DuckDB: each query by itself, all at one moment.
# A transaction that waits exports its snapshot, and each query runs in a short one that imports
# it. A query that fails ends its own transaction alone.

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


_CONNECT_SECONDS = 10


def open_postgres(dsn: str, options: OpenOptions) -> OpenSource:
    """Stage every table of the chosen schemas of a PostgreSQL database.

    ``dsn`` is a URI or a keyword connection string; libpq's environment variables apply as well.
    A partitioned table is one table. Raises SourceUnreachableError where the server does not
    answer or refuses, SourceNotFoundError for an unknown database or schema, EmptySourceError
    where there is no table.
    """
    with starting(options.memory_limit, extensions=[POSTGRES_SCANNER]) as engine:
        connection = engine.connection
        _attach(connection, dsn)
        with answering(DUCKDB_ERRORS, partial(_server_message, dsn=dsn)):
            query = _querying(connection)
            connection.execute("BEGIN")
            database = overview(query, views=options.views)
            existing = existing_schemas(query) if options.schemas else database.schemas
            tables = read_tables(query, existing, views=options.views)
            connection.execute("ROLLBACK")
            catalog = ServerCatalog(
                database.name, tables, dict(database.left_out), existing, database.comment
            )
            rows = PostgresRows(connection)
            reading = ServerReading[CatalogColumn](limiter=limited)
            opened = staged_source(
                POSTGRES, engine, rows, PostgresDialect(), catalog, options, reading
            )
            return as_scanned(opened, tables, _collation, one_moment=rows.has_one_moment)


def _collation(column: CatalogColumn) -> Collation | None:
    """Return how a column compares different texts as equal; None where it compares bytes."""
    if column.base == "citext":
        return Collation("citext", "case", "lower({})")
    if not column.collation:
        return None
    # What a collation ignores is in ICU's hands; at most this, of which the server kept the keys.
    fold = "regexp_replace(lower(strip_accents(nfc_normalize({}))), '[^\\p{{L}}\\p{{N}}]', '', 'g')"
    return Collation(column.collation, "case, accents or punctuation", fold)


_PAGE_BYTES = 8192
_PAGES_WORTH_SAMPLING = 1_000
"""Of a table with fewer pages (8 MB), all are read and single rows are sampled."""


def limited(table: SizedTable, rows: int) -> RowLimit:
    """Return how a table is bounded: by pages where it's large, else row by row; repeatable."""
    at_end = f"LIMIT {rows}"
    if table.is_view or not table.rows or table.rows <= rows:
        return RowLimit(at_end=at_end)
    is_large = table.bytes > _PAGES_WORTH_SAMPLING * _PAGE_BYTES
    method = "SYSTEM" if is_large else "BERNOULLI"
    percent = percent_of(rows, table.rows)
    return RowLimit(after_table=f"TABLESAMPLE {method} ({percent:g}) REPEATABLE (1)", at_end=at_end)


def _attach(connection: duckdb.DuckDBPyConnection, dsn: str) -> None:
    try:
        connection.execute(
            f"ATTACH {literal(_with_timeout(dsn))} AS {ORIGIN} (TYPE postgres, READ_ONLY)"
        )
    except DUCKDB_ERRORS as error:
        raise _connection_error(_server_message(error, dsn)) from None


def _with_timeout(dsn: str) -> str:
    if "connect_timeout" in dsn:
        return dsn
    if "://" not in dsn:
        return f"{dsn} connect_timeout={_CONNECT_SECONDS}"
    return f"{dsn}{'&' if '?' in dsn else '?'}connect_timeout={_CONNECT_SECONDS}"


_CLUTTER = (
    re.compile(r'^.*?Unable to connect to Postgres at "[^"]*":', re.DOTALL),
    re.compile(r"^.*?connection to server at .*? failed: (?:FATAL: +)?", re.DOTALL),
    re.compile(r"^.*?connection to server on socket .*? failed: (?:FATAL: +)?", re.DOTALL),
)


def _server_message(error: BaseException, dsn: str) -> str:
    """Return the server's message as one sentence, without any password."""
    return server_message(error, dsn, *_CLUTTER)


def _connection_error(message: str) -> SourceError:
    if re.search(r'database ".*" does not exist', message):
        return SourceNotFoundError(
            f"The database doesn't exist on the server: {message}",
            hint="Check the database name after the last slash.",
        )
    if (
        "authentication" in message
        or "password" in message
        or "role" in message
        or "pg_hba" in message
    ):
        return SourceUnreachableError(
            f"The server refused the login: {message}", hint="Check the user and password."
        )
    return SourceUnreachableError(
        f"The PostgreSQL server can't be reached: {message}",
        hint="Check the host and port, and that the server is running and accepts connections "
        "from this machine.",
    )


def _querying(connection: duckdb.DuckDBPyConnection) -> Query:
    def query(sql: str) -> Rows:
        return connection.execute(f"SELECT * FROM postgres_query('{ORIGIN}', ?)", [sql]).fetchall()

    return query
