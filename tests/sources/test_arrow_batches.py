"""Arrow batches of a client, as DuckDB reads them."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from fluid_build.sources.servers.arrow_batches import reader_of
from fluid_build.sources.servers.rows import ServerQueryError

_MICROSECONDS = pa.schema([("at", pa.timestamp("us"))])
_NUMBERS = pa.schema([("n", pa.decimal128(38, 0))])


def _batch(type_: pa.DataType, *values: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, type_)], names=["x"])


def _read(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[tuple[object, ...]]:
    with (
        duckdb.connect() as connection,
        reader_of(schema, batches, (OSError,), lambda error: f"It broke: {error}.") as reader,
    ):
        connection.register("arriving", reader)
        return connection.execute("CREATE TABLE t AS FROM arriving; FROM t").fetchall()


def test_batches_of_different_widths_are_one_column() -> None:
    """A client may choose a type for each batch by its values."""
    batches = iter([_batch(pa.int8(), 1), _batch(pa.int64(), 2**40)])
    assert _read(_NUMBERS, batches) == [(1,), (2**40,)]


def test_a_moment_that_loses_nothing_is_read_in_microseconds() -> None:
    """The unit of a batch isn't that of the values."""
    (row,) = _read(_MICROSECONDS, iter([_batch(pa.timestamp("ns"), 1_000)]))
    assert str(row[0]) == "1970-01-01 00:00:00.000001"


def test_a_moment_that_would_lose_its_nanoseconds_is_refused() -> None:
    """The table is asked for again, as text."""
    with pytest.raises(ServerQueryError, match="doesn't fit"):
        _read(_MICROSECONDS, iter([_batch(pa.timestamp("ns"), 1_001)]))


def test_a_client_that_fails_half_way_is_quoted() -> None:
    """DuckDB's own message would name its reader."""

    def breaking() -> Iterator[pa.RecordBatch]:
        yield _batch(pa.int64(), 1)
        raise OSError("connection reset")

    with pytest.raises(ServerQueryError, match=r"^It broke: connection reset\.$"):
        _read(_NUMBERS, breaking())


def test_a_result_without_rows_has_its_columns() -> None:
    """The schema doesn't need a batch."""
    assert _read(_NUMBERS, iter([])) == []
