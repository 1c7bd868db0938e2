"""An Oracle database, staged into DuckDB through Oracle's thin client."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
)
from fluid_build.extras import needs_extra
from fluid_build.sources.addresses.kinds import ORACLE
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.servers.arrow_batches import Fetched, opening
from fluid_build.sources.servers.client_query import address_and_password, querying
from fluid_build.sources.servers.oracle.catalog import (
    CatalogColumn,
    database_name,
    read_tables,
    view_count,
)
from fluid_build.sources.servers.oracle.types import OracleDialect
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import BatchedRows, closed_on_error
from fluid_build.sources.servers.server_errors import answering, server_message
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
    describe = partial(_message, dsn=dsn)
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(_connect(dsn)) as client,
        answering((oracledb.Error,), describe),
    ):
        query = querying(client)
        # Everything is seen as it was when this transaction began.
        with client.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        catalog = ServerCatalog(
            database_name(query),
            read_tables(query, views=options.views),
            {"views": view_count(query)},
        )
        batches = opening(partial(_fetched, client), (oracledb.Error,), describe)
        rows = BatchedRows(engine.connection, batches, client.close)
        reading = ServerReading[CatalogColumn](limiter=_limited)
        return staged_source(ORACLE, engine, rows, OracleDialect(), catalog, options, reading)


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
    address, password = address_and_password(
        dsn, ORACLE, "Use oracle://USER@HOST:PORT/SERVICE, or oracle://USER@ALIAS."
    )
    sid = address.options.get("sid", "")
    options = {name: value for name, value in address.options.items() if name != "sid"}
    login = {
        "user": address.user or None,
        "password": password or None,
        "tcp_connect_timeout": _CONNECT_SECONDS,
    }
    if not (address.database or sid or address.port):
        return {**login, "dsn": address.host, **options}
    place = {"host": address.host, "port": int(address.port or _PORT)}
    service = {"sid": sid} if sid else {"service_name": address.database}
    return {**login, **place, **service, **options}


def _connect(dsn: str) -> Any:
    import oracledb

    arguments = connect_arguments(dsn)
    try:
        return oracledb.connect(**arguments)
    except (oracledb.Error, OSError, ValueError) as error:
        raise _connection_error(_message(error, dsn), str(error)) from None


@contextmanager
def _fetched(client: Any, sql: str) -> Iterator[Fetched]:
    import pyarrow as pa

    frames = client.fetch_df_batches(statement=sql, size=_BATCH_ROWS)
    batches = (batch for frame in frames for batch in pa.table(frame).to_batches())
    first = next(batches, None)
    # A result without rows may have no batch, which would say what its columns are.
    like = pa.table(client.fetch_df_all(statement=sql)) if first is None else first
    yield like.schema, () if first is None else chain([first], batches)


def _message(error: BaseException, dsn: str) -> str:
    return server_message(error, dsn, _HELP, _CODE)


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
