"""What a warehouse is asked through its client: catalog rows, and the Arrow batches of tables."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fluid_build.sources.declarations.catalog_facts import TableFacts
from fluid_build.sources.declarations.catalog_labels import tagged_tables
from fluid_build.sources.servers.arrow_batches import Fetched, opening
from fluid_build.sources.servers.catalog_rows import NamedQuery, NamedRow, Place
from fluid_build.sources.servers.client_query import Client
from fluid_build.sources.servers.rows import OpenBatches, ServerQueryError, left_out
from fluid_build.sources.servers.server_errors import client_message

Connection = TypeVar("Connection", bound=Client)


@dataclass(frozen=True, slots=True)
class WarehouseClient(Generic[Connection]):
    """A connection that is only ever read from; what fails raises ServerQueryError.

    ``errors`` are those of the client's library. ``fetch`` returns what a cursor's query gives.
    """

    connection: Connection
    errors: tuple[type[Exception], ...]
    fetch: Callable[[Any], Fetched]

    def query(self, sql: str) -> Sequence[NamedRow]:
        """Return the rows of a statement by the lower-cased names of their columns."""
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql)
                names = [str(column[0]).lower() for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except self.errors as error:
            raise ServerQueryError(client_message(error)) from None

    @property
    def batches(self) -> OpenBatches:
        """Runs a query and yields its rows as they come."""
        return opening(self._fetched, self.errors, client_message)

    @contextmanager
    def _fetched(self, sql: str) -> Iterator[Fetched]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            yield self.fetch(cursor)

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def queried_tags(
    query: NamedQuery, statements: Sequence[str], container: str
) -> tuple[dict[Place, TableFacts], tuple[str, ...]]:
    """Return what tags say of tables, by schema and name; with a note where they can't be read.

    The rows of each statement are tags: schema, table, column, tag and value.
    """
    try:
        rows = [tuple(row.values()) for sql in statements for row in query(sql)]
    except ServerQueryError as error:
        return {}, (left_out("tags", error),)
    texts = (["" if value is None else str(value) for value in row] for row in rows)
    tags = ((schema, table, column, tag, value) for schema, table, column, tag, value in texts)
    return tagged_tables(tags, container), ()
