"""How a server's rows reach DuckDB: by a scanner that is attached, or in Arrow batches.

Both give a relation that a query may read FROM, while the ``with`` block lasts.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

import duckdb

from fluid_build.sources.sql import quote

ORIGIN = "origin"
"""The name that a scanner's database is attached by."""
_BATCHES = "server_batches"

OpenBatches: TypeAlias = Callable[[str], AbstractContextManager[object]]
"""Runs SQL on the server and yields its rows as a pyarrow RecordBatchReader, read as it comes.

Raises ServerQueryError where the server refuses.
"""


class ServerQueryError(Exception):
    """A query that the server refused. Its text is the reason, one sentence without secrets."""


def left_out(what: str, error: ServerQueryError) -> str:
    """Return the note on a part of a catalog that this user may not read."""
    return f"The {what} couldn't be read, so they are left out: {error}"


class ServerRows(Protocol):
    """A way to read the rows of a server's query."""

    def one_moment(self) -> AbstractContextManager[None]:
        """Have all that is read in the block be as of one moment, where the server can do that."""
        ...

    def relation(self, sql: str, source_bytes: int = 0, /) -> AbstractContextManager[str]:
        """Provide the rows of a query, in the server's SQL, as a relation of DuckDB's.

        ``source_bytes`` is about how large its table is.
        """
        ...

    def close(self) -> None:
        """Leave the server."""
        ...


class Closable(Protocol):
    """A connection to a server."""

    def close(self) -> None:
        """End it."""
        ...


Client = TypeVar("Client", bound=Closable)


@contextmanager
def closed_on_error(client: Client) -> Iterator[Client]:
    """Provide a client that is closed if the block raises, and left open for its source if not."""
    with ExitStack() as stack:
        stack.callback(client.close)
        yield client
        stack.pop_all()


MOMENTS = (
    "The connection was lost or refused to share its view of the data, so the tables weren't read"
    " as of the same moment. Rows written meanwhile may be in some tables only."
)
"""The note where one moment couldn't be kept."""


@dataclass(frozen=True, slots=True)
class BatchedRows:
    """Rows that the server's own client reads, in Arrow batches; none is held longer than needed.

    ``open_batches`` runs a query, and ``disconnect`` ends the client's connection.
    """

    connection: duckdb.DuckDBPyConnection
    open_batches: OpenBatches
    disconnect: Callable[[], None]

    def one_moment(self) -> AbstractContextManager[None]:
        """Do nothing: the client's connection was told, if it can."""
        return nullcontext()

    @contextmanager
    def relation(self, sql: str, _source_bytes: int = 0, /) -> Iterator[str]:
        """Provide the rows of a query, in the server's SQL, as a relation of DuckDB's."""
        with self.open_batches(sql) as batches:
            self.connection.register(_BATCHES, batches)
            try:
                yield quote(_BATCHES)
            finally:
                self.connection.unregister(_BATCHES)

    def close(self) -> None:
        """End the client's connection."""
        self.disconnect()
