"""A SQL Server database, staged into DuckDB through Microsoft's client."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.extras import needs_extra
from fluid_build.secrets import passwords, redact, without_passwords
from fluid_build.sources.addresses.kinds import SQLSERVER
from fluid_build.sources.addresses.server_address import password_in, server_address
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import reason, starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.servers.arrow_batches import reader_of
from fluid_build.sources.servers.client_query import Client, querying
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import (
    BatchedRows,
    OpenBatches,
    ServerQueryError,
    closed_on_error,
)
from fluid_build.sources.servers.source import ServerCatalog, ServerReading, staged_source
from fluid_build.sources.servers.sqlserver.catalog import (
    CatalogColumn,
    allows_snapshots,
    database_name,
    read_tables,
    view_count,
)
from fluid_build.sources.servers.sqlserver.types import SqlServerDialect

_CONNECT_SECONDS = 10
_BATCH_ROWS = 65_536
"""Rows of an Arrow batch: enough that a batch's own cost doesn't count, and a few MB at most."""

_WORDS = {"true": "yes", "false": "no"}
"""ODBC's words for those of JDBC, which many connection strings are copied from."""

_LABEL = re.compile(
    r"^(?:[\w ]+ Error: )?.*?DDBC Error: |\[Microsoft\]|\[SQL Server\]|\[ODBC[^\]]*\]"
)


def open_sqlserver(dsn: str, options: OpenOptions) -> OpenSource:
    """Stage every table of the chosen schemas of a SQL Server database.

    ``dsn`` is ``mssql://user:password@host:port/database``, with the client's own keywords as
    parameters; what it leaves out comes from sqlcmd's environment variables. Everything is read at
    one moment where the database allows snapshot isolation. Raises SourceUnreachableError where the
    server doesn't answer or refuses, and what ``staged_source`` does.
    """
    with starting(options.memory_limit) as engine, closed_on_error(_connect(dsn)) as client:
        try:
            query = querying(client)
            if allows_snapshots(query):
                _run(client, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT")
                # Without a transaction, each SELECT would have a moment of its own.
                _run(client, "BEGIN TRANSACTION")
            catalog = ServerCatalog(
                database_name(query),
                read_tables(query, views=options.views),
                {"views": view_count(query)},
            )
            rows = BatchedRows(engine.connection, _batches(client, dsn), client.close)
            reading = ServerReading[CatalogColumn](limiter=_limited)
            return staged_source(
                SQLSERVER, engine, rows, SqlServerDialect(), catalog, options, reading
            )
        except _client_errors() as error:
            raise SourceUnreadableError(
                f"The database stopped answering: {_message(error, dsn)}",
                hint="Try again; if it happens again, check the server's log.",
            ) from None


def _limited(table: SizedTable, rows: int) -> RowLimit:
    """Take pages from all over a large table, and no more rows than requested."""
    if table.is_view or table.bytes < _WORTH_SAMPLING or table.rows is None:
        return RowLimit(before_columns=f"TOP {rows}")
    percent = percent_of(rows, table.rows)
    return RowLimit(
        before_columns=f"TOP {rows}", after_table=f"TABLESAMPLE SYSTEM ({percent} PERCENT)"
    )


_WORTH_SAMPLING = 64 * 1024 * 1024
"""Bytes of a table from which its pages are sampled; of a smaller one, 8,000 pages are few."""


def connection_text(dsn: str) -> str:
    """Return a URI as the client's connection string; UsageError where it can't be read.

    A value is in braces, so that nothing in it is a keyword.
    """
    try:
        address = server_address(without_passwords(dsn), SQLSERVER)
    except ValueError as error:
        raise UsageError(
            f"The connection string can't be used: {error}.",
            hint="Use mssql://USER@HOST:PORT/DATABASE, with Encrypt, Authentication and the like"
            " as parameters after a question mark.",
        ) from None
    environment = SQLSERVER.environment
    host = address.host or os.environ.get(environment["host"], "localhost")
    fields = {
        "Server": f"{host},{address.port}" if address.port else host,
        "Database": address.database or os.environ.get(environment["database"], ""),
        "UID": address.user or os.environ.get(environment["user"], ""),
        "PWD": password_in(dsn) or os.environ.get(SQLSERVER.password_variable, ""),
        "ApplicationIntent": "ReadOnly",
        **{name: _WORDS.get(value, value) for name, value in address.options.items()},
    }
    return "".join(
        f"{name}={{{value.replace('}', '}}')}}};" for name, value in fields.items() if value
    )


def _connect(dsn: str) -> Client:
    with needs_extra("sqlserver", "Reading SQL Server"):
        import mssql_python
    text = connection_text(dsn)
    try:
        client: Client = mssql_python.connect(text, autocommit=True, timeout=_CONNECT_SECONDS)
    except (mssql_python.Error, RuntimeError, ValueError) as error:
        raise _connection_error(_message(error, dsn)) from None
    return client


def _client_errors() -> tuple[type[Exception], ...]:
    import mssql_python

    return (mssql_python.Error, RuntimeError)


def _run(client: Client, sql: str) -> None:
    cursor = client.cursor()
    cursor.execute(sql)
    cursor.close()


def _batches(client: Client, dsn: str) -> OpenBatches:
    @contextmanager
    def open_batches(sql: str) -> Iterator[object]:
        cursor = client.cursor()
        try:
            try:
                cursor.execute(sql)
                batches = cursor.arrow_reader(_BATCH_ROWS)
            except _client_errors() as error:
                raise ServerQueryError(_message(error, dsn)) from None
            with reader_of(batches.schema, batches, _client_errors(), describe) as reader:
                yield reader
        finally:
            cursor.close()

    def describe(error: BaseException) -> str:
        return _message(error, dsn)

    return open_batches


def _message(error: BaseException, dsn: str) -> str:
    """Return the server's message as one sentence, without any password."""
    text = redact(str(error), passwords(dsn))
    return reason(SourceError(_LABEL.sub("", text).strip()))


def _connection_error(message: str) -> SourceError:
    if "Cannot open database" in message:
        return SourceNotFoundError(
            f"The database can't be opened: {message}",
            hint="Check the database name after the last slash, and the user's rights.",
        )
    if "Login failed" in message:
        return SourceUnreachableError(
            f"The server refused the login: {message}",
            hint=f"Check user and password; {SQLSERVER.password_variable} can hold the password.",
        )
    if "certificate" in message:
        return SourceUnreachableError(
            f"The server's certificate isn't trusted: {message}",
            hint="Install the certificate of its authority. For a server of your own network, add"
            " ?TrustServerCertificate=yes.",
        )
    return SourceUnreachableError(
        f"The server can't be reached: {message}",
        hint="Check host, port and network. SQL Server listens on 1433 unless told otherwise.",
    )
