"""Queries through a server's own Python client, any that follows PEP 249."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

Rows: TypeAlias = Sequence[tuple[Any, ...]]
Query: TypeAlias = Callable[[str], Rows]
"""Runs SQL on the server and returns its rows: for catalogs, which are small."""


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
        cursor: Cursor = client.cursor()
        try:
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]
        finally:
            cursor.close()

    return query
