"""What Databricks is asked: rows of its catalog, and the Arrow batches of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.sources.servers.arrow_batches import reader_of
from fluid_build.sources.servers.rows import ServerQueryError
from fluid_build.sources.servers.warehouse_errors import client_message

if TYPE_CHECKING:
    import pyarrow as pa
    from databricks.sql.client import Connection, Cursor

_BATCH_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class DatabricksClient:
    """A connection that is only ever read from."""

    connection: "Connection"

    def query(self, sql: str) -> Sequence[Mapping[str, object]]:
        """Return the rows of a statement by the lower-cased names of their columns."""
        from databricks.sql.exc import Error

        with self._execute(sql) as cursor:
            names = [str(column[0]).lower() for column in cursor.description or ()]
            try:
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
            except (Error, OSError) as error:
                raise ServerQueryError(client_message(error)) from None

    @contextmanager
    def batches(self, sql: str) -> Iterator["pa.RecordBatchReader"]:
        """Yield the rows of a query as they come. Raises ServerQueryError."""
        from databricks.sql.exc import Error

        errors = (Error, OSError)
        with self._execute(sql) as cursor:
            try:
                first = cursor.fetchmany_arrow(_BATCH_ROWS)
            except errors as error:
                raise ServerQueryError(client_message(error)) from None
            batches = _batches(cursor, first)
            with reader_of(first.schema, batches, errors, client_message) as reader:
                yield reader

    @contextmanager
    def _execute(self, sql: str) -> Iterator["Cursor"]:
        from databricks.sql.exc import Error

        with self.connection.cursor() as cursor:
            try:
                cursor.execute(sql)
            except (Error, OSError) as error:
                raise ServerQueryError(client_message(error)) from None
            yield cursor

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def _batches(cursor: "Cursor", first: "pa.Table") -> Iterator["pa.RecordBatch"]:
    table = first
    while table.num_rows:
        yield from table.to_batches()
        table = cursor.fetchmany_arrow(_BATCH_ROWS)
