"""The head of an Avro file: its schema, and a copy with one that DuckDB can read.

An unknown logical type is to be ignored, says the specification; DuckDB refuses some and misreads
others. What the rows are stored as doesn't depend on it, so the copy has the same rows.

https://avro.apache.org/docs/1.12.0/specification/#logical-types
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from fluid_build.json_types import JsonValue
from fluid_build.regular_files import open_regular
from fluid_build.sources.declared import unique_names

_MAGIC = b"Obj\x01"
_LARGEST_SCHEMA = 16 * 1024 * 1024
_SCHEMA = b"avro.schema"
_MOST_LEVELS = 200
"""Objects and lists of a schema inside each other, three for each record in a record: documents
have fewer than ten records in each other, and Python stops at about 150."""
_TOO_DEEP = "Its schema has too many types inside each other."
_MOST_BYTES = 16
"""DuckDB fails on decimals in a fixed number of more bytes."""
_READABLE = {
    "int": {"date", "time-millis"},
    "long": {
        "time-micros",
        "timestamp-millis",
        "timestamp-micros",
        "timestamp-nanos",
        "local-timestamp-millis",
    },
}
"""Logical types of numbers that DuckDB reads rightly. It refuses others, and fails on moments in
an int; those of text and bytes it ignores where it doesn't know them."""
_NESTING = frozenset({"fields", "items", "type", "values"})
"""Parts of a schema that have types in them."""
_SAME = {
    "local-timestamp-micros": "timestamp-micros",
    "local-timestamp-nanos": "timestamp-nanos",
}
"""Moments without a zone: the same numbers, which DuckDB reads as a TIMESTAMP without one."""


def schema_of(path: Path) -> Mapping[str, JsonValue]:
    """Return the schema in the head of a file; ValueError where there is none.

    Of fields whose names differ in case alone, the later ones have a number.
    """
    with open_regular(path) as file:
        return _mapping(_with_distinct_names(_document(_head(file))))


def write_readable(path: Path, copy: Path) -> bool:
    """Write a copy of a file that DuckDB reads, and return whether it needs one.

    Raises OSError, and ValueError where the file has no head.
    """
    with open_regular(path) as file:
        entries = _head(file)
        document = _document(entries)
        readable = _readable(_with_distinct_names(document))
        if readable == document:
            return False
        entries[_SCHEMA] = json.dumps(readable).encode()
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as target:
            target.write(_MAGIC + _spelled(len(entries)))
            for name, value in entries.items():
                target.write(_spelled(len(name)) + name + _spelled(len(value)) + value)
            target.write(_spelled(0))
            shutil.copyfileobj(file, target)
    return True


def _with_distinct_names(type_: JsonValue) -> JsonValue:
    """Return a schema whose records have fields that DuckDB can tell apart.

    The rows don't have their names, so that a copy has the same rows.
    """
    if isinstance(type_, list):
        return [_with_distinct_names(part) for part in type_]
    if not isinstance(type_, Mapping):
        return type_
    parts = {
        name: _with_distinct_names(value) if name in _NESTING else value
        for name, value in type_.items()
    }
    fields = parts.get("fields")
    if isinstance(fields, list) and all(isinstance(field, Mapping) for field in fields):
        maps = [_mapping(field) for field in fields]
        names = unique_names(str(field.get("name")) for field in maps)
        parts["fields"] = [{**field, "name": name} for field, name in zip(maps, names, strict=True)]
    return parts


def _mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}


def _readable(type_: JsonValue) -> JsonValue:
    """Return a schema, or a part of one, without the logical types that DuckDB can't read."""
    if isinstance(type_, list):
        return [_readable(part) for part in type_]
    if not isinstance(type_, Mapping):
        return type_
    parts = {name: _readable(value) if name in _NESTING else value for name, value in type_.items()}
    logical, stored = type_.get("logicalType"), type_.get("type")
    if not isinstance(logical, str) or not isinstance(stored, str):
        return parts
    if stored == "long" and logical in _SAME:
        return {**parts, "logicalType": _SAME[logical]}
    if stored in _READABLE:
        is_readable = logical in _READABLE[stored]
    else:
        size = type_.get("size")
        is_wide = not isinstance(size, int) or size > _MOST_BYTES
        is_readable = stored != "fixed" or (logical != "duration" and not is_wide)
    return parts if is_readable else {n: v for n, v in parts.items() if n != "logicalType"}


def _head(file: IO[bytes]) -> dict[bytes, bytes]:
    """Read the entries of the map that a file starts with: blocks of them, until an empty one."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("It isn't an Avro file.")
    return dict(_entries(file))


def _document(entries: Mapping[bytes, bytes]) -> Mapping[str, JsonValue]:
    if _SCHEMA not in entries:
        raise ValueError("It has no schema.")
    try:
        document = json.loads(entries[_SCHEMA])
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level = [document]
    for _ in range(_MOST_LEVELS):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return _mapping(document)
    raise ValueError(_TOO_DEEP)


def _parts(whole: JsonValue) -> Iterable[JsonValue]:
    if isinstance(whole, Mapping):
        return whole.values()
    return whole if isinstance(whole, list) else ()


def _entries(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    left = _LARGEST_SCHEMA
    while count := _number(file):
        if count < 0:
            _number(file)
        for _ in range(abs(count)):
            name, value = _bytes(file, left), _bytes(file, left)
            left -= len(name) + len(value)
            yield name, value


def _bytes(file: IO[bytes], most: int) -> bytes:
    size = _number(file)
    if not 0 <= size <= most:
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


def _spelled(count: int) -> bytes:
    """Spell a number that isn't negative as ``_number`` reads it."""
    value, spelled = count << 1, b""
    while value >= 0x80:
        spelled += bytes([value & 0x7F | 0x80])
        value >>= 7
    return spelled + bytes([value])
