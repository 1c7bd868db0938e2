"""Avro files, staged through DuckDB's extension with what their schema declares.

https://avro.apache.org/docs/1.12.0/specification/
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import duckdb

from fluid_build.json_types import JsonValue
from fluid_build.sources.addresses.periods import FILE_NAME
from fluid_build.sources.base import Column
from fluid_build.sources.files.hive_keys import by_lower_name, keys_of, shadowed_columns
from fluid_build.sources.files.lakes.avro_heads import schema_of, write_readable
from fluid_build.sources.files.lakes.schema import LakeField, LakeSchema
from fluid_build.sources.files.layout import TableFiles, partitions
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_WIDEST = 16
"""Bytes of DuckDB's widest whole number; one of fewer bytes is filled up with its sign."""
_ONES, _ZEROS = r"'\xFF'::BLOB", r"'\x00'::BLOB"
_MOST_DIGITS = 38
"""Digits of DuckDB's widest decimal."""
_LAST_OF_KEY = "Of a key that is twice in one of its maps, only the last value is read."
_AS_STORED = "Its values are bytes as Avro stores them: what they mean isn't read."


@dataclass(frozen=True, slots=True)
class _Record:
    """A file's schema: what it declares, and its decimals, by name with precision and scale.

    ``unread`` names the fields with values that stay bytes as they are stored, and ``maps`` those
    with maps, which Avro lets repeat a key.
    """

    schema: LakeSchema
    decimals: Mapping[str, tuple[int, int]]
    unread: frozenset[str]
    maps: frozenset[str]


def column_names(path: Path) -> tuple[str, ...]:
    """Return the fields of an Avro file; OSError or ValueError where it can't be read."""
    fields = _list(schema_of(path).get("fields"))
    return tuple(str(field.get("name")) for field in fields if isinstance(field, Mapping))


def stage_avro(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, relation: str, folder: Path
) -> tuple[tuple[Column, ...], LakeSchema, InFiles]:
    """Stage the files of one table; its columns, what they declare, and how they are read.

    ``folder`` takes copies of files that DuckDB can't read as they are. Files of one schema are
    read by one call, since DuckDB can't unite others. Raises duckdb.Error, OSError or ValueError
    where a file can't be read.
    """
    is_partitioned = any(partitions(path, files.root) for path in files.paths)
    keys = keys_of(connection, files)
    options = keys.options
    alike: dict[tuple[object, ...], list[Path]] = {}
    copies = Path(mkdtemp(dir=folder))
    places = {
        path: copy if write_readable(path, copy) else path
        for path in files.paths
        for copy in [copies / path.relative_to(files.root)]
    }
    records = {path: _record(path) for path in files.paths}
    for path, record in records.items():
        call = _call([places[path]], ())
        shape = (*_described(connection, call), *sorted(record.decimals.items()))
        alike.setdefault(shape, []).append(path)
    shadowed: Mapping[str, str] = {}
    if is_partitioned:
        shadowed = shadowed_columns(
            connection,
            files,
            {name for path in files.paths for name in column_names(path)},
            lambda _, paths: _rows_of([places[path] for path in paths]),
        )
    parts = tuple(
        FilePart(tuple(paths), options, expressions=tuple(_decimals(records[paths[0]])))
        for paths in alike.values()
    )
    named = (*options, ("filename", literal(FILE_NAME))) if files.period else options
    query = " UNION ALL BY NAME ".join(
        f"SELECT *{_replacing(part)} FROM {_call(map(places.__getitem__, part.paths), named)}"
        for part in parts
    )
    if files.period is not None:
        query = f"SELECT {files.period.select_list} FROM ({query})"
    connection.execute(f"CREATE TABLE {relation} AS {query}")
    as_stored = {name for record in records.values() for name in record.unread}
    maps = {name for record in records.values() for name in record.maps}
    of_keys = by_lower_name(shadowed, keys.notes)
    columns = tuple(
        Column(
            name,
            type_,
            notes=(
                *([_AS_STORED] if name in as_stored else ()),
                *([_LAST_OF_KEY] if name in maps else ()),
                *of_keys.get(name.lower(), ()),
            ),
        )
        for name, type_ in _described(connection, relation)
    )
    origin = InFiles(
        "avro",
        files.root,
        parts,
        partitioned=is_partitioned,
        in_place=all(path == place for path, place in places.items()),
        period=files.period,
    )
    newest = records[files.paths[-1]].schema
    return columns, newest if len(parts) == 1 else LakeSchema(comment=newest.comment), origin


def _call(paths: Iterable[Path], options: Options) -> str:
    patterns = ", ".join(literal(as_pattern(str(path))) for path in paths)
    arguments = "".join(f", {name}={value}" for name, value in options)
    return f"read_avro([{patterns}]{arguments})"


def _rows_of(places: Sequence[Path]) -> str:
    """Return the rows of files of whatever schemas, without the keys in their paths."""
    calls = (f"FROM {_call([place], (('hive_partitioning', 'false'),))}" for place in places)
    return f"({' UNION ALL BY NAME '.join(calls)})"


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
    document = schema_of(path)
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
    unread = frozenset(
        str(field.get("name"))
        for field in fields
        if str(field.get("name")) not in decimals and _stays_bytes(field.get("type"))
    )
    maps = frozenset(str(field.get("name")) for field in fields if _has_map(field.get("type")))
    return _Record(LakeSchema(declared, _text(document.get("doc"))), decimals, unread, maps)


def _has_map(type_: JsonValue) -> bool:
    if isinstance(type_, list):
        return any(map(_has_map, type_))
    if not isinstance(type_, Mapping):
        return type_ == "map"
    return any(map(_has_map, _types_in(type_)))


def _types_in(type_: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Return the types that a type is made of."""
    fields = [part.get("type") for part in _list(type_.get("fields")) if isinstance(part, Mapping)]
    return [type_.get(name) for name in ("type", "items", "values")] + fields


def _stays_bytes(type_: JsonValue) -> bool:
    """Return whether a type has a meaning in it that neither DuckDB nor we read from its bytes."""
    if isinstance(type_, list):
        return any(_stays_bytes(part) for part in type_)
    if not isinstance(type_, Mapping):
        return False
    logical, size = type_.get("logicalType"), type_.get("size")
    if isinstance(logical, str) and type_.get("type") in {"bytes", "fixed"}:
        is_read = logical in {"decimal", "uuid"} and isinstance(size, int) and size <= _WIDEST
        return not is_read
    return any(map(_stays_bytes, _types_in(type_)))


def _decimal(type_: JsonValue) -> tuple[int, int] | None:
    """Return precision and scale of a decimal in bytes, also where it may be null."""
    others = [other for other in _list(type_) if other != "null"]
    if len(others) == 1:
        type_ = others[0]
    if not isinstance(type_, Mapping) or type_.get("type") != "bytes":
        return None  # DuckDB reads those in a fixed number of bytes.
    if type_.get("logicalType") != "decimal":
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
