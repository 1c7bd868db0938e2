"""A MySQL or MariaDB database, staged into DuckDB from one read-only snapshot."""

import os
import re
import socket
from collections.abc import Sequence
from functools import partial
from urllib.parse import unquote

import duckdb

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
)
from fluid_build.sources.addresses.kinds import MYSQL
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, starting
from fluid_build.sources.engine.extensions import MYSQL_SCANNER
from fluid_build.sources.loose_references import Collation
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.schemas import chosen_schemas
from fluid_build.sources.servers.catalog_rows import Query, Rows
from fluid_build.sources.servers.mysql.catalog import (
    CatalogColumn,
    Overview,
    count_left_out,
    database_comment,
    overview,
    read_tables,
)
from fluid_build.sources.servers.mysql.rows import MySQLRows
from fluid_build.sources.servers.mysql.types import MySQLDialect
from fluid_build.sources.servers.rows import ORIGIN
from fluid_build.sources.servers.server_errors import answering, server_message
from fluid_build.sources.servers.source import ServerCatalog, as_scanned, staged_source
from fluid_build.sources.sql import literal

# Whether a MySQL server answers at all, which its client would wait minutes for.

_SECONDS = 10.0
_PORT = 3306
_PLACE = re.compile(
    r"[a-z]+://(?:.*@)?(?:\[(?P<v6>[^\]]*)\]|(?P<host>[^:/?@]*))(?::(?P<port>\d+))?"
)


def check_reachable(uri: str) -> None:
    """Wait for the server's greeting; raise SourceUnreachableError where none comes.

    The client has no option for how long it waits. Sockets of this machine, and what can't be read
    here, are left to the client.
    """
    match = _PLACE.match(uri.partition("?")[0])
    if match is None or "socket=" in uri or os.environ.get("MYSQL_UNIX_PORT"):
        return
    host = unquote(match["v6"] or match["host"]) or os.environ.get(MYSQL.environment["host"], "")
    port = match["port"] or os.environ.get(MYSQL.environment["port"], "")
    if host in ("", "localhost"):
        return
    number = int(port) if port.isdigit() else 0
    try:
        with socket.create_connection((host, number or _PORT), _SECONDS) as connection:
            connection.settimeout(_SECONDS)
            connection.recv(1)
    except TimeoutError:
        raise SourceUnreachableError(
            f"The MySQL server can't be reached: {host} didn't answer within"
            f" {_SECONDS:.0f} seconds.",
            hint="Check the host and port, and that no firewall is in between.",
        ) from None
    except (OSError, UnicodeError, OverflowError):
        # The client says better what is wrong.
        return


_SNAPSHOTS = ("REPEATABLE-READ", "SERIALIZABLE")


def open_mysql(place: str, options: OpenOptions) -> OpenSource:
    """Stage every table of the chosen databases of a MySQL or MariaDB server.

    ``place`` is a URI; the client's environment variables fill in what it leaves out. The database
    in it is read, or all that this user sees where it names none; in the words of MySQL, a schema
    is a database. Raises SourceUnreachableError where the server doesn't answer or refuses,
    SourceNotFoundError for an unknown database, EmptySourceError where there is no table.
    """
    with starting(options.memory_limit, extensions=(MYSQL_SCANNER,)) as engine:
        connection = engine.connection
        _attach(connection, place)
        with answering(DUCKDB_ERRORS, partial(_server_message, place=place)):
            query = _querying(connection)
            connection.execute("BEGIN")
            server = overview(query)
            schemas = _schemas(server, options.schemas)
            tables = read_tables(query, server, schemas, views=options.views)
            left_out = count_left_out(query, schemas)
            own = server.database or (schemas[0] if len(schemas) == 1 else "")
            comment = database_comment(query, server, own)
            connection.execute("ROLLBACK")
            catalog = ServerCatalog(
                name=own or MYSQL.label,
                tables=tables,
                views={"views": left_out.pop("views", 0)},
                schemas=server.schemas,
                comment=comment,
                notes=tuple(_notes(server, left_out)),
            )
            rows = MySQLRows(connection)
            opened = staged_source(MYSQL, engine, rows, MySQLDialect(), catalog, options)
            return as_scanned(opened, tables, _collation, one_moment=rows.has_one_moment)


def _collation(column: CatalogColumn) -> Collation | None:
    return Collation(column.collation) if column.is_loosely_compared else None


def _schemas(server: Overview, requested: Sequence[str]) -> list[str]:
    if requested or not server.database:
        return chosen_schemas(requested, server.schemas, MYSQL.label, folds_case=False)
    # The server may lower the case of its databases' names, or tell two of them apart by it.
    lower = server.database.lower()
    alike = [name for name in server.schemas if name.lower() == lower]
    return [server.database] if server.database in alike else alike or [server.database]


def _notes(server: Overview, left_out: dict[str, int]) -> list[str]:
    notes = [
        f"{label.capitalize()} aren't read ({count} found)." for label, count in left_out.items()
    ]
    if server.isolation not in _SNAPSHOTS:
        notes.append(
            f"The server's isolation level is {server.isolation}, so the tables weren't read as of"
            " the same moment. Rows written meanwhile may be in some tables only."
        )
    return notes


def _attach(connection: duckdb.DuckDBPyConnection, place: str) -> None:
    check_reachable(place)
    try:
        connection.execute(f"ATTACH {literal(place)} AS {ORIGIN} (TYPE mysql, READ_ONLY)")
    except DUCKDB_ERRORS as error:
        raise _connection_error(_server_message(error, place)) from None


_CLUTTER = (
    re.compile(r'^.*?with parameters ".*?": ', re.DOTALL),
    re.compile(r"\.? (?:First a|A)ttempted host: .*", re.DOTALL),
)


def _server_message(error: BaseException, place: str) -> str:
    """Return the server's message as one sentence, without the connection string."""
    return server_message(error, place, *_CLUTTER)


def _connection_error(message: str) -> SourceError:
    if "Unknown database" in message:
        return SourceNotFoundError(
            f"The database doesn't exist on the server: {message}",
            hint="Check the database name after the last slash.",
        )
    if "Access denied" in message and "to database" in message:
        return SourceNotFoundError(
            f"The database doesn't exist, or this user may not use it: {message}",
            hint="Check the database name after the last slash, and the user's rights.",
        )
    if re.search(r"Access denied|authentication|[Pp]lugin|not allowed to connect", message):
        return SourceUnreachableError(
            f"The server refused the login: {message}",
            hint="Check the user and password. The password may also be in MYSQL_PWD.",
        )
    if "SSL" in message or "TLS" in message or "certificate" in message:
        return SourceUnreachableError(
            f"No encrypted connection to the server could be made: {message}",
            hint="Add ?ssl-mode=disabled, preferred, required, verify_ca or verify_identity to the"
            " URI, and ssl-ca=FILE for the server's certificate authority.",
        )
    if "Invalid URI string" in message or "Invalid dsn" in message or "Invalid port" in message:
        return SourceError(
            f"The connection string can't be read: {message}",
            hint="Write mysql://user@host:3306/database, with special characters percent-encoded.",
        )
    return SourceUnreachableError(
        f"The MySQL server can't be reached: {message}",
        hint="Check the host and port, and that the server is running and accepts connections "
        "from this machine.",
    )


def _querying(connection: duckdb.DuckDBPyConnection) -> Query:
    def query(sql: str) -> Rows:
        with MySQLRows(connection).relation(sql) as rows:
            return connection.execute(f"FROM {rows}").fetchall()

    return query
