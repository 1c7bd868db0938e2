"""What the endings of file names say."""

from pathlib import Path
from typing import Literal, TypeAlias

LakeFormat: TypeAlias = Literal["delta", "iceberg"]
Format: TypeAlias = Literal["csv", "parquet", "json", "jsonl", "excel", "avro"] | LakeFormat
"""How a table's files are written; a lake's are a folder with a log that says which are current."""

LAKES: tuple[Format, ...] = ("delta", "iceberg")
BY_EXTENSION: tuple[Format, ...] = ("avro", *LAKES)
"""Formats that extensions of DuckDB read."""

FORMATS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".psv": "csv", ".txt": "csv",
    ".parquet": "parquet", ".pq": "parquet", ".parq": "parquet",
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".avro": "avro",
    ".xlsx": "excel", ".xlsm": "excel", ".xlsb": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip
COMPRESSIONS = (".gz", ".zst", ".zstd")
DDL_ENDINGS = (".sql", ".ddl")


def uncompressed(path: Path) -> Path:
    """Return a path without the ending that says how the file is compressed."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def is_ddl(path: Path) -> bool:
    """Return whether a file is named as DDL."""
    return uncompressed(path).suffix.lower() in DDL_ENDINGS


def is_surely_data(path: Path) -> bool:
    """Return whether a file is named as data; ``.txt`` may be data, and may be a note beside it."""
    ending = uncompressed(path).suffix.lower()
    return ending in FORMATS and ending != ".txt"
