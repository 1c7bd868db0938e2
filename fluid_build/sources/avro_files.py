"""Avro files, staged through DuckDB's extension with what their schema declares.

https://avro.apache.org/docs/1.12.0/specification/
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import duckdb

from fluid_build.json_types import JsonValue
from fluid_build.regular_files import open_regular
from fluid_build.sources.base import Column
from fluid_build.sources.file_layout import TableFiles, partitions
from fluid_build.sources.lake_schema import LakeField, LakeSchema
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.periods import FILE_NAME
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_MAGIC = b"Obj\x01"
_LARGEST_SCHEMA = 16 * 1024 * 1024
_WIDEST = 16
"""Bytes of DuckDB's widest whole number; one of fewer bytes is filled up with its sign."""
_ONES, _ZEROS = r"'\xFF'::BLOB", r"'\x00'::BLOB"
_MOST_DIGITS = 38
"""Digits of DuckDB's widest decimal."""


@dataclass(frozen=True, slots=True)
class _Record:
    """A file's schema: what it declares, and its decimals, by name with precision and scale."""

    schema: LakeSchema
    decimals: Mapping[str, tuple[int, int]]


def column_names(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """Return the fields of an Avro file; duckdb.Error where it can't be read."""
    return tuple(name for name, _ in _described(connection, _call([path], ())))


def stage_avro(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, relation: str
) -> tuple[tuple[Column, ...], LakeSchema, InFiles]:
    """Stage the files of one table; its columns, what they declare, and how they are read.

    Files of one schema are read by one call, since DuckDB can't unite others. Raises duckdb.Error,
    OSError or ValueError where a file can't be read.
    """
    is_partitioned = any(partitions(path, files.root) for path in files.paths)
    options: Options = (("hive_partitioning", str(is_partitioned).lower()),)
    alike: dict[tuple[object, ...], list[Path]] = {}
    records = {path: _record(path) for path in files.paths}
    for path, record in records.items():
        shape = (*_described(connection, _call([path], ())), *sorted(record.decimals.items()))
        alike.setdefault(shape, []).append(path)
    parts = tuple(
        FilePart(tuple(paths), options, expressions=tuple(_decimals(records[paths[0]])))
        for paths in alike.values()
    )
    named = (*options, ("filename", literal(FILE_NAME))) if files.period else options
    query = " UNION ALL BY NAME ".join(
        f"SELECT *{_replacing(part)} FROM {_call(part.paths, named)}" for part in parts
    )
    if files.period is not None:
        query = f"SELECT {files.period.select_list} FROM ({query})"
    connection.execute(f"CREATE TABLE {relation} AS {query}")
    columns = tuple(Column(name, type_) for name, type_ in _described(connection, relation))
    origin = InFiles("avro", files.root, parts, partitioned=is_partitioned, period=files.period)
    newest = records[files.paths[-1]].schema
    return columns, newest if len(parts) == 1 else LakeSchema(comment=newest.comment), origin


def _call(paths: Iterable[Path], options: Options) -> str:
    patterns = ", ".join(literal(as_pattern(str(path))) for path in paths)
    arguments = "".join(f", {name}={value}" for name, value in options)
    return f"read_avro([{patterns}]{arguments})"


def _described(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    rows = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    return [(name, type_) for name, type_, *_ in rows]


def _replacing(part: FilePart) -> str:
    turned = ", ".join(f"{value} AS {quote(name)}" for name, value in part.expressions)
    return f" REPLACE ({turned})" if turned else ""


def _decimals(record: _Record) -> Iterator[tuple[str, str]]:
    """Yield the columns that hold decimals as bytes, with the SQL that reads them.

    DuckDB leaves them as they are written: a whole number in two's complement.
    """
    for name, (precision, scale) in record.decimals.items():
        column = quote(name)
        fill = f"CASE WHEN left(hex({column}), 1) >= '8' THEN {_ONES} ELSE {_ZEROS} END"
        wide = f"repeat({fill}, {_WIDEST} - octet_length({column})) || {column}"
        number = f"CAST(CAST({wide} AS BIT) AS HUGEINT)"
        digits = f"abs({number}) // {10**scale}"
        if scale:
            digits += f" || '.' || lpad(CAST(abs({number}) % {10**scale} AS VARCHAR), {scale}, '0')"
        mark = f"CASE WHEN {number} < 0 THEN '-' ELSE '' END"
        yield name, f"CAST({mark} || ({digits}) AS DECIMAL({precision}, {scale}))"


def _record(path: Path) -> _Record:
    document = _schema(path)
    fields = [field for field in _list(document.get("fields")) if isinstance(field, Mapping)]
    declared = tuple(
        LakeField(str(field.get("name")), _is_nullable(field.get("type")), _text(field.get("doc")))
        for field in fields
    )
    decimals = {
        str(field.get("name")): decimal
        for field in fields
        if (decimal := _decimal(field.get("type"))) is not None
    }
    return _Record(LakeSchema(declared, _text(document.get("doc"))), decimals)


def _schema(path: Path) -> Mapping[str, JsonValue]:
    """Return the schema in the head of a file; ValueError where there is none."""
    with open_regular(path) as file:
        if file.read(4) != _MAGIC:
            raise ValueError("It isn't an Avro file.")
        for name, value in _entries(file):
            if name == b"avro.schema":
                document: JsonValue = json.loads(value)
                return document if isinstance(document, Mapping) else {}
    raise ValueError("It has no schema.")


def _entries(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of the map that a file starts with: blocks of them, until an empty one."""
    while count := _number(file):
        if count < 0:
            _number(file)
        for _ in range(abs(count)):
            yield _bytes(file), _bytes(file)


def _bytes(file: IO[bytes]) -> bytes:
    size = _number(file)
    if not 0 <= size <= _LARGEST_SCHEMA:
        raise ValueError("Its head can't be read.")
    return file.read(size)


def _number(file: IO[bytes]) -> int:
    """Read a number in seven bits a byte, the low ones first and the sign in the lowest."""
    value = shift = 0
    while True:
        byte = file.read(1)
        if not byte or shift > 63:
            raise ValueError("Its head can't be read.")
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)


def _decimal(type_: JsonValue) -> tuple[int, int] | None:
    """Return precision and scale of a decimal in bytes, also where it may be null."""
    others = [other for other in _list(type_) if other != "null"]
    if len(others) == 1:
        type_ = others[0]
    if not isinstance(type_, Mapping) or type_.get("logicalType") != "decimal":
        return None
    precision, scale = type_.get("precision"), type_.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int):
        return None
    return (precision, scale) if 0 <= scale <= precision <= _MOST_DIGITS else None


def _is_nullable(type_: JsonValue) -> bool:
    return type_ == "null" or "null" in _list(type_)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
