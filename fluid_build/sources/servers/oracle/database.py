"""An Oracle database, staged into DuckDB through Oracle's thin client."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.extras import needs_extra
from fluid_build.secrets import passwords, redact, without_passwords
from fluid_build.sources.addresses.kinds import ORACLE
from fluid_build.sources.addresses.server_address import password_in, server_address
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import reason, starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.servers.arrow_batches import reader_of
from fluid_build.sources.servers.client_query import querying
from fluid_build.sources.servers.oracle.catalog import (
    CatalogColumn,
    database_name,
    read_tables,
    view_count,
)
from fluid_build.sources.servers.oracle.types import OracleDialect
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import (
    BatchedRows,
    OpenBatches,
    ServerQueryError,
    closed_on_error,
)
from fluid_build.sources.servers.source import ServerCatalog, ServerReading, staged_source

_CONNECT_SECONDS = 10
_BATCH_ROWS = 65_536
"""Rows of an Arrow batch: enough that a batch's own cost doesn't count, and a few MB at most."""
_PORT = 1521

_HELP = re.compile(r"\s*Help: https?://\S+|\s*\(CONNECTION_ID=[^)]*\)", re.DOTALL)
_CODE = re.compile(r"^(?:ORA|DPY|DPI)-\d+: ")


def open_oracle(dsn: str, options: OpenOptions) -> OpenSource:
    """Stage every table of the chosen schemas of an Oracle database, as of one moment.

    ``dsn`` is ``oracle://user:password@host:port/service``, or ``oracle://user@alias`` for a name
    in the ``tnsnames.ora`` of TNS_ADMIN. Raises SourceUnreachableError where the server doesn't
    answer or refuses, and what ``staged_source`` does.
    """
    with needs_extra("oracle", "Reading Oracle"):
        import oracledb
    with starting(options.memory_limit) as engine, closed_on_error(_connect(dsn)) as client:
        try:
            query = querying(client)
            # Everything is seen as it was when this transaction began.
            with client.cursor() as cursor:
                cursor.execute("SET TRANSACTION READ ONLY")
            catalog = ServerCatalog(
                database_name(query),
                read_tables(query, views=options.views),
                {"views": view_count(query)},
            )
            rows = BatchedRows(engine.connection, _batches(client, dsn), client.close)
            reading = ServerReading[CatalogColumn](limiter=_limited)
            return staged_source(ORACLE, engine, rows, OracleDialect(), catalog, options, reading)
        except oracledb.Error as error:
            raise SourceUnreadableError(
                f"The database stopped answering: {_message(error, dsn)}",
                hint="Try again; if it happens again, check the server's log.",
            ) from None


def _limited(table: SizedTable, rows: int) -> RowLimit:
    """Take blocks from all over a large table, and no more rows than requested."""
    end = f"FETCH FIRST {rows} ROWS ONLY"
    if table.is_view or table.bytes < _WORTH_SAMPLING or table.rows is None:
        return RowLimit(at_end=end)
    # SAMPLE takes less than 100 percent.
    percent = min(_MOST_PERCENT, percent_of(rows, table.rows, least=_LEAST_PERCENT))
    return RowLimit(after_table=f"SAMPLE BLOCK ({percent})", at_end=end)


_WORTH_SAMPLING = 64 * 1024 * 1024
"""Bytes of a table from which its blocks are sampled; of a smaller one, 8,000 blocks are few."""
_LEAST_PERCENT, _MOST_PERCENT = 0.000001, 99.999999
"""The bounds of SAMPLE, by Oracle's SQL Language Reference."""


def connect_arguments(dsn: str) -> dict[str, Any]:
    """Return what the client connects with; UsageError where the URI can't be read."""
    try:
        address = server_address(without_passwords(dsn), ORACLE)
    except ValueError as error:
        raise UsageError(
            f"The connection string can't be used: {error}.",
            hint="Use oracle://USER@HOST:PORT/SERVICE, or oracle://USER@ALIAS.",
        ) from None
    environment = ORACLE.environment
    host = address.host or os.environ.get(environment["host"], "localhost")
    port = address.port or os.environ.get(environment["port"], "")
    service = address.database or os.environ.get(environment["database"], "")
    sid = address.options.get("sid", "")
    options = {name: value for name, value in address.options.items() if name != "sid"}
    login = {
        "user": address.user or os.environ.get(environment["user"]),
        "password": password_in(dsn) or os.environ.get(ORACLE.password_variable),
        "tcp_connect_timeout": _CONNECT_SECONDS,
    }
    if not (service or sid or port):
        return {**login, "dsn": host, **options}
    place = {"host": host, "port": int(port or _PORT)}
    return {**login, **place, **({"sid": sid} if sid else {"service_name": service}), **options}


def _connect(dsn: str) -> Any:
    import oracledb

    arguments = connect_arguments(dsn)
    try:
        return oracledb.connect(**arguments)
    except (oracledb.Error, OSError, ValueError) as error:
        raise _connection_error(_message(error, dsn), str(error)) from None


def _batches(client: Any, dsn: str) -> OpenBatches:
    import oracledb
    import pyarrow as pa

    def read(sql: str) -> Iterator[Any]:
        for frame in client.fetch_df_batches(statement=sql, size=_BATCH_ROWS):
            yield from pa.table(frame).to_batches()

    @contextmanager
    def open_batches(sql: str) -> Iterator[object]:
        batches = read(sql)
        try:
            first = next(batches, None)
            # A result without rows may have no batch, which would say what its columns are.
            like = pa.table(client.fetch_df_all(statement=sql)) if first is None else first
        except oracledb.Error as error:
            raise ServerQueryError(_message(error, dsn)) from None
        rows = () if first is None else chain([first], batches)
        with reader_of(like.schema, rows, (oracledb.Error,), describe) as reader:
            yield reader

    def describe(error: BaseException) -> str:
        return _message(error, dsn)

    return open_batches


def _message(error: BaseException, dsn: str) -> str:
    """Return the server's message as one sentence, without any password."""
    text = _CODE.sub("", _HELP.sub("", redact(str(error), passwords(dsn))))
    return reason(SourceError(text.strip()))


def _connection_error(message: str, text: str) -> SourceError:
    if "ORA-12514" in text or "DPY-6001" in text or "ORA-12505" in text or "DPY-6003" in text:
        return SourceNotFoundError(
            f"The database doesn't exist on the server: {message}",
            hint="Check the service name after the last slash; ?sid=NAME is for an older SID.",
        )
    if "ORA-01017" in text or "ORA-28000" in text or "DPY-4001" in text or "ORA-01005" in text:
        return SourceUnreachableError(
            f"The server refused the login: {message}",
            hint=f"Check user and password; {ORACLE.password_variable} can hold the password.",
        )
    if "DPY-4026" in text or "DPY-4027" in text or "DPY-4000" in text:
        return SourceNotFoundError(
            f"The alias isn't known: {message}",
            hint="Set TNS_ADMIN to the folder of your tnsnames.ora, or use"
            " oracle://USER@HOST:PORT/SERVICE.",
        )
    return SourceUnreachableError(
        f"The server can't be reached: {message}",
        hint=f"Check host, port and network. Oracle listens on {_PORT} unless told otherwise.",
    )
