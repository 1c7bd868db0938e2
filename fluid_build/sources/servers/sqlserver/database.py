"""A SQL Server database, staged into DuckDB through Microsoft's client."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
)
from fluid_build.extras import needs_extra
from fluid_build.sources.addresses.kinds import SQLSERVER
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.servers.arrow_batches import Fetched, opening
from fluid_build.sources.servers.client_query import Client, address_and_password, querying
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import BatchedRows, closed_on_error
from fluid_build.sources.servers.server_errors import answering, server_message
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
        errors, describe = _client_errors(), partial(_message, dsn=dsn)
        with answering(errors, describe):
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
            batches = opening(partial(_fetched, client), errors, describe)
            rows = BatchedRows(engine.connection, batches, client.close)
            reading = ServerReading[CatalogColumn](limiter=_limited)
            return staged_source(
                SQLSERVER, engine, rows, SqlServerDialect(), catalog, options, reading
            )


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
    address, password = address_and_password(
        dsn,
        SQLSERVER,
        "Use mssql://USER@HOST:PORT/DATABASE, with Encrypt, Authentication and the like as"
        " parameters after a question mark.",
    )
    fields = {
        "Server": f"{address.host},{address.port}" if address.port else address.host,
        "Database": address.database,
        "UID": address.user,
        "PWD": password,
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
    with closing(client.cursor()) as cursor:
        cursor.execute(sql)


@contextmanager
def _fetched(client: Client, sql: str) -> Iterator[Fetched]:
    with closing(client.cursor()) as cursor:
        cursor.execute(sql)
        batches = cursor.arrow_reader(_BATCH_ROWS)
        yield batches.schema, batches


def _message(error: BaseException, dsn: str) -> str:
    return server_message(error, dsn, _LABEL)


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
