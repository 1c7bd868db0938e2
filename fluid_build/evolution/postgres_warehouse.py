"""A PostgreSQL database as a warehouse. The lock is an advisory one of a session of its own, which
the server frees when the session's owner ends.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.errors import WarehouseBusyError, WarehouseError
from fluid_build.evolution.warehouse import NO_VALUES, Engine, Relation, Row, Value, qualified
from fluid_build.extras import needs_extra
from fluid_build.secrets import passwords, redact, secrets_of_environment
from fluid_build.sources.text_values.personal_text import without_values

if TYPE_CHECKING:
    import psycopg

_SECONDS_TO_CONNECT = 10
"""As long as a server on another continent takes many times over."""


@dataclass(frozen=True, slots=True)
class PostgresWarehouse:
    """A PostgreSQL database that is connected to."""

    connection: psycopg.Connection[Row]
    place: str
    schema: str
    engine: Engine = "postgres"

    @property
    def version(self) -> str:
        """The engine and its version."""
        return f"postgres {self.connection.info.server_version}"

    def relations(self) -> Mapping[str, Relation]:
        """Return every table and view of the schema by name."""
        columns: dict[str, dict[str, str]] = {}
        views = set()
        for table, kind, column, type_ in self.query(
            "SELECT c.relname, c.relkind::text, a.attname, format_type(a.atttypid, a.atttypmod)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
            " WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm')"
            " ORDER BY c.relname, a.attnum",
            [self.schema],
        ):
            columns.setdefault(str(table), {})[str(column)] = str(type_)
            if kind in ("v", "m"):
                views.add(str(table))
        return {name: Relation(name, found, name in views) for name, found in columns.items()}

    def query(self, sql: str, values: Sequence[Value] = NO_VALUES) -> Sequence[Row]:
        """Run a statement and return its rows."""
        from psycopg import Error

        try:
            cursor = self.connection.execute(sql.encode(), list(values) or None)
            return cursor.fetchall() if cursor.description else []
        except Error as error:
            raise WarehouseError(
                f"The warehouse refused a statement: {_reason(error, self.place)}",
                hint="Nothing of that step was kept. Check the warehouse, and run the command"
                " again.",
            ) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block does together, or nothing of it."""
        from psycopg import Error

        try:
            with self.connection.transaction():
                yield
        except Error as error:
            raise WarehouseError(
                f"The warehouse refused to commit: {_reason(error, self.place)}",
                hint="Nothing of that step was kept. Run the command again.",
            ) from None

    def named(self, relation: str) -> str:
        """Return the quoted name of a relation of the schema."""
        return qualified(self.schema, relation)


@contextmanager
def open_postgres(place: str, schema: str) -> Iterator[PostgresWarehouse]:
    """Connect to a database. Raises MissingExtraError, and WarehouseError where it isn't there."""
    with _connected(place) as connection:
        yield PostgresWarehouse(connection, place, schema)


@dataclass(frozen=True, slots=True)
class SessionLock:
    """An advisory lock that a session holds."""

    connection: psycopg.Connection[Row]

    def check(self) -> None:
        """Raise WarehouseBusyError where the session has broken, and the lock with it."""
        from psycopg import Error

        try:
            self.connection.execute("SELECT 1")
        except Error:
            raise WarehouseBusyError(
                "The connection that held the lock of the warehouse broke, so another process may"
                " have changed it.",
                hint="Run the command again: it goes on where this one stopped.",
            ) from None


@contextmanager
def locked_postgres(place: str, schema: str) -> Iterator[SessionLock]:
    """Hold the lock of a schema; WarehouseBusyError where another session has it."""
    number = hashlib.sha256(f"fluid warehouse {schema}".encode()).digest()[:8]
    with _connected(place) as connection:
        key = int.from_bytes(number, signed=True)
        held = connection.execute("SELECT pg_try_advisory_lock($1)", [key]).fetchone()
        if held is None or not held[0]:
            raise WarehouseBusyError(
                f"Another `fluid apply` or `fluid rollback` is at work in the schema {schema}.",
                hint="Wait until it has ended. If it was killed, its lock is gone with it.",
            )
        yield SessionLock(connection)


@contextmanager
def _connected(place: str) -> Iterator[psycopg.Connection[Row]]:
    with needs_extra("postgres", "A warehouse in PostgreSQL"):
        import psycopg
    waits = "connect_timeout" in place or "PGCONNECT_TIMEOUT" in os.environ
    try:
        connection = psycopg.connect(
            place,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            # How values are written as text decides their hashes.
            options="-c TimeZone=UTC -c DateStyle=ISO -c extra_float_digits=1",
            connect_timeout=None if waits else _SECONDS_TO_CONNECT,
        )
    except psycopg.Error as error:
        raise WarehouseError(
            f"The warehouse can't be reached: {_reason(error, place)}",
            hint="Check that the server runs and takes the login, or pass --warehouse.",
        ) from None
    try:
        yield connection
    finally:
        connection.close()


def _reason(error: Exception, place: str) -> str:
    secrets = (*passwords(place), os.environ.get("PGPASSWORD", ""), *secrets_of_environment())
    first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return without_values(redact(first_line, [secret for secret in secrets if secret]))
