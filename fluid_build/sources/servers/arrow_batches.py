"""Arrow batches of a client library as a reader that DuckDB pulls from while it copies.

An error of the client is raised inside of DuckDB, which turns it into text. It's kept here, and
raised as what it is.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fluid_build.sources.engine.connection import DUCKDB_ERRORS
from fluid_build.sources.servers.rows import ServerQueryError

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def reader_of(
    schema: "pa.Schema",
    batches: Iterable["pa.RecordBatch"],
    client_errors: tuple[type[BaseException], ...],
    describe: Callable[[BaseException], str],
) -> Iterator["pa.RecordBatchReader"]:
    """Yield a reader of batches, each cast to the schema without changing a value.

    ``describe`` turns one of the ``client_errors`` into a sentence. Raises ServerQueryError where
    the client fails, or a value doesn't fit the schema.
    """
    import pyarrow as pa

    failures: list[str] = []

    def pull() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                yield _fitted(batch, schema)
        except client_errors as error:
            failures.append(describe(error))
            raise
        except pa.ArrowInvalid as error:
            failures.append(f"A value doesn't fit the type of its column: {error}")
            raise

    try:
        yield pa.RecordBatchReader.from_batches(schema, pull())
    except DUCKDB_ERRORS:
        if failures:
            raise ServerQueryError(failures[0]) from None
        raise


def _fitted(batch: "pa.RecordBatch", schema: "pa.Schema") -> "pa.RecordBatch":
    import pyarrow as pa

    if batch.schema.equals(schema):
        return batch
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
