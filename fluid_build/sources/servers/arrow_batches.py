"""Arrow batches of a client library as a reader that DuckDB pulls from while it copies.

An error of the client is raised inside of DuckDB, which turns it into text. It's kept here, and
raised as what it is.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from fluid_build.sources.engine.connection import DUCKDB_ERRORS
from fluid_build.sources.servers.rows import OpenBatches, ServerQueryError

if TYPE_CHECKING:
    import pyarrow as pa

Fetched: TypeAlias = "tuple[pa.Schema, Iterable[pa.RecordBatch]]"
"""The types of a result's columns, and its batches as they come."""


def opening(
    fetch: Callable[[str], AbstractContextManager[Fetched]],
    client_errors: tuple[type[Exception], ...],
    describe: Callable[[BaseException], str],
) -> OpenBatches:
    """Return a function that runs a query by ``fetch`` and yields its rows as a reader.

    It raises ServerQueryError where the server refuses; ``describe`` as in ``reader_of``.
    """

    @contextmanager
    def open_batches(sql: str) -> Iterator[object]:
        with ExitStack() as stack:
            try:
                schema, batches = stack.enter_context(fetch(sql))
            except client_errors as error:
                raise ServerQueryError(describe(error)) from None
            yield stack.enter_context(reader_of(schema, batches, client_errors, describe))

    return open_batches


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
