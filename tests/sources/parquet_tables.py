"""Parquet files that DuckDB can't query as they are, and columns of any type."""

from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow
from pyarrow import parquet

ROWS = 36_677
"""Enough for pages that a filter on clustered values skips."""


def write_nulls(path: Path, *, rows: int = ROWS, note: pyarrow.Array | None = None) -> None:
    """A table as pandas writes it where a column holds nothing: clustered codes, no dictionary."""
    columns = {
        "id": pyarrow.array(range(rows)),
        "note": pyarrow.nulls(rows) if note is None else note,
        "code": pyarrow.array([f"G{number // 37:05d}" for number in range(rows)]),
    }
    parquet.write_table(pyarrow.table(columns), path, use_dictionary=["id", "code"])


def write_codes(path: Path) -> None:
    codes = pyarrow.array([f"G{number:05d}" for number in range(ROWS // 37 + 1)])
    parquet.write_table(pyarrow.table({"code": codes}), path)


def two_tables(folder: Path) -> None:
    write_codes(folder / "bad.parquet")
    write_codes(folder / "good.parquet")


ERRORS = (
    duckdb.NotImplementedException("Not implemented Error: PlainSkip not implemented"),
    duckdb.InternalException("INTERNAL Error: no such encoding"),
    duckdb.IOException("IO Error: page is too short"),
)


def write_decimals(path: Path, digits: int, *texts: str | None) -> None:
    decimals = [None if text is None else Decimal(text) for text in texts]
    values = pyarrow.array(decimals, pyarrow.decimal256(digits, 12))
    parquet.write_table(pyarrow.table({"amount": values}), path)


def monthly(folder: Path, *columns: pyarrow.Array) -> Path:
    """Write a table of a file for each array, with the array as column ``v``."""
    folder.mkdir(exist_ok=True)
    for month, column in enumerate(columns, start=1):
        ids = pyarrow.array([f"{month}-{row}" for row in range(len(column))])
        path = folder / f"s_2024_{month:02}.parquet"
        parquet.write_table(pyarrow.table({"id": ids, "v": column}), path)
    return folder


DIFFERENT = {
    "BIGINT": pyarrow.array([2**53 + 1, 7]),
    "small BIGINT": pyarrow.array([8, 2**53]),
    "UBIGINT": pyarrow.array([2**64 - 1], pyarrow.uint64()),
    "INTEGER": pyarrow.array([2**31 - 1], pyarrow.int32()),
    "SMALLINT": pyarrow.array([2**15 - 1], pyarrow.int16()),
    "DOUBLE": pyarrow.array([1.5, 1e300, 0.1]),
    "FLOAT": pyarrow.array([1.5], pyarrow.float32()),
    "BOOLEAN": pyarrow.array([True, False]),
    "DECIMAL(37,2)": pyarrow.array([Decimal("1.10")], pyarrow.decimal128(37, 2)),
    "DECIMAL(28,27)": pyarrow.array([Decimal(f"0.{'123456789' * 3}")], pyarrow.decimal128(28, 27)),
    "DECIMAL(10,2)": pyarrow.array([Decimal("12345678.91")], pyarrow.decimal128(10, 2)),
    "DATE": pyarrow.array([19723], pyarrow.date32()),
    "TIME": pyarrow.array([1], pyarrow.time64("us")),
    "TIMESTAMP": pyarrow.array([1704067200123456], pyarrow.timestamp("us")),
    "TIMESTAMP_NS": pyarrow.array([1704067200123456789], pyarrow.timestamp("ns")),
    "TIMESTAMPTZ": pyarrow.array([1704067200123456], pyarrow.timestamp("us", "Europe/Berlin")),
    "BLOB": pyarrow.array([b"ab", b"\\xff", b"\xff"]),
    "VARCHAR": pyarrow.array(["007", "x", "\\xFF"]),
    "NULL": pyarrow.nulls(2),
}
