"""Queries through a server's own Python client, any that follows PEP 249."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

from fluid_build.errors import UsageError
from fluid_build.secrets import without_passwords
from fluid_build.sources.addresses.kinds import ServerKind
from fluid_build.sources.addresses.server_address import ServerAddress, password_in, server_address
from fluid_build.sources.servers.catalog_rows import Query, Rows


class Cursor(Protocol):
    """What is used of a PEP 249 cursor."""

    def execute(self, operation: str, /) -> object:
        """Run a query."""
        ...

    def fetchall(self) -> Sequence[Sequence[Any]]:
        """Return the rows of the last query."""
        ...

    def close(self) -> None:
        """Free the cursor."""
        ...


class Client(Protocol):
    """What is used of a PEP 249 connection."""

    def cursor(self) -> Any:
        """Return a new cursor."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


def querying(client: Client) -> Query:
    """Return a function that runs queries on a connection."""

    def query(sql: str) -> Rows:
        cursor: Cursor
        with closing(client.cursor()) as cursor:
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]

    return query


def address_and_password(dsn: str, kind: ServerKind, hint: str) -> tuple[ServerAddress, str]:
    """Return where a URI leads and its password, filled in from the environment, "" without any.

    The host is this machine where none is named. Raises UsageError, with the hint, for a URI that
    can't be read.
    """
    try:
        address = server_address(without_passwords(dsn), kind)
    except ValueError as error:
        raise UsageError(f"The connection string can't be used: {error}.", hint=hint) from None
    parts = {part: os.environ.get(name, "") for part, name in kind.environment.items()}
    filled = replace(
        address,
        host=address.host or parts["host"] or "localhost",
        port=address.port or parts["port"],
        user=address.user or parts["user"],
        database=address.database or parts["database"],
    )
    return filled, password_in(dsn) or os.environ.get(kind.password_variable, "")
