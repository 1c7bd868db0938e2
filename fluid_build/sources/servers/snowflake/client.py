"""What Snowflake is asked: rows of its catalog, and the Arrow batches of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.sources.servers.arrow_batches import reader_of
from fluid_build.sources.servers.rows import ServerQueryError
from fluid_build.sources.servers.snowflake.types import arrow_schema
from fluid_build.sources.servers.warehouse_errors import client_message

if TYPE_CHECKING:
    import pyarrow as pa
    from snowflake.connector import SnowflakeConnection
    from snowflake.connector.cursor import SnowflakeCursor


@dataclass(frozen=True, slots=True)
class SnowflakeClient:
    """A connection that is only ever read from."""

    connection: "SnowflakeConnection"

    def query(self, sql: str) -> Sequence[Mapping[str, object]]:
        """Return the rows of a statement by the lower-cased names of their columns."""
        with self._execute(sql) as cursor:
            names = [column.name.lower() for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    @contextmanager
    def batches(self, sql: str) -> Iterator["pa.RecordBatchReader"]:
        """Yield the rows of a query as they come. Raises ServerQueryError."""
        from snowflake.connector.errors import Error

        with self._execute(sql) as cursor:
            tables = cursor.fetch_arrow_batches()
            batches = (batch for table in tables for batch in table.to_batches())
            schema = arrow_schema(cursor.description)
            errors = (Error, OSError)
            with reader_of(schema, batches, errors, client_message) as reader:
                yield reader

    @contextmanager
    def _execute(self, sql: str) -> Iterator["SnowflakeCursor"]:
        from snowflake.connector.errors import Error

        with self.connection.cursor() as cursor:
            try:
                cursor.execute(sql)
            except (Error, OSError) as error:
                raise ServerQueryError(client_message(error)) from None
            yield cursor

    def close(self) -> None:
        """End the connection."""
        self.connection.close()
