"""Numbers of JSON files that a DOUBLE wouldn't keep: they become text, with all their digits.

DuckDB reads a number with decimals, or one of more than 64 bits, as a DOUBLE, which keeps about 16
digits. Where one of them wouldn't come back, the file is copied with the numbers of its field in
quotes.
"""

import json
from collections.abc import Iterator, Mapping, Set
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import duckdb

from fluid_build.json_types import JsonValue
from fluid_build.sources.sql import literal
from fluid_build.sources.text_values.canonical_text import canonical_number

_LONG = "[0-9][0-9.]{15,}"
"""What a number of more than 15 digits has."""
_GREAT = "[0-9.]+[eE][-+]?[0-9]{3,}"
"""A number that a DOUBLE may take for zero or infinite."""
_NUMBER = f"-?(?:{_LONG}(?:[eE][-+]?[0-9]+)?|{_GREAT})"
_OBJECTS_AT_ONCE = 10_000
_STRING = '"(?:\\\\.|[^"\\\\])*"'


def loses_digits(
    connection: duckdb.DuckDBPyConnection, objects: str, columns: Mapping[str, str]
) -> bool:
    """Return whether a number of some JSON objects wouldn't come back from a DOUBLE.

    ``objects`` is SQL for a relation whose only column, ``json``, has the text of each object, and
    ``columns`` are the types that DuckDB reads of them, by name.
    """
    if not any("DOUBLE" in type_ for type_ in columns.values()):
        return False
    has_long = f"regexp_matches(json, '{_LONG}|{_GREAT}')"
    if not _finds(connection, objects, has_long):
        # Most files have none, and are looked through but once.
        return False
    is_nested = any("DOUBLE" in type_ != "DOUBLE" for type_ in columns.values())
    numbers = (
        f"SELECT unnest(regexp_extract_all(regexp_replace(json, {literal(_STRING)}, '\"\"', 'g'),"
        f" {literal(_NUMBER)})) AS number FROM {objects} WHERE {has_long}"
    )
    # Whole numbers of 64 bits are exact in a column of their own.
    some = "TRUE" if is_nested else "regexp_matches(number, '[.eE]')"
    if _finds(connection, f"({numbers})", f"{_is_lost('number')} AND {some}"):
        return True
    plain = [name for name, type_ in columns.items() if type_ == "DOUBLE"]
    fields = " OR ".join(_is_lost(f"(json ->> {literal(_path(name))})") for name in plain)
    some_objects = f"(SELECT json FROM {objects} WHERE {has_long})"
    return bool(plain) and _finds(connection, some_objects, fields)


def _is_lost(number: str) -> str:
    kept = canonical_number(f"CAST(TRY_CAST({number} AS DOUBLE) AS VARCHAR)")
    return f"coalesce(({canonical_number(number)}) <> ({kept}), {number} IS NOT NULL)"


def _path(name: str) -> str:
    escaped = name.replace('"', '\\"')
    return f'$."{escaped}"'


def _finds(connection: duckdb.DuckDBPyConnection, relation: str, condition: str) -> bool:
    query = f"SELECT 1 FROM {relation} WHERE {condition} LIMIT 1"
    return connection.execute(query).fetchone() is not None


def with_long_numbers_as_text(
    connection: duckdb.DuckDBPyConnection, objects: Mapping[Path, str]
) -> None:
    """Write JSON objects to files, one a line, with the numbers of some fields in quotes.

    These are the fields of which a DOUBLE wouldn't keep some number. ``objects`` has a relation as
    ``loses_digits`` takes it for each file. Raises ValueError where an object is nested too deeply.
    """
    try:
        fields: set[_Field] = set()
        for relation in objects.values():
            for value in _parsed(connection, relation):
                fields.update(_losing(value, ()))
        for place, relation in objects.items():
            with place.open("w", encoding="utf-8") as file:
                for value in _parsed(connection, relation):
                    file.write(json.dumps(_quoted(value, (), fields), ensure_ascii=False) + "\n")
    except RecursionError:
        raise ValueError("Its values are nested too deeply.") from None


_Field: TypeAlias = tuple[str, ...]
"""The names that lead to a field. The elements of a list are all of the same field."""


class _Digits(str):
    """A number as it's written."""


def _parsed(connection: duckdb.DuckDBPyConnection, objects: str) -> Iterator[JsonValue]:
    rows = connection.cursor().execute(f"SELECT json FROM {objects}")
    while batch := rows.fetchmany(_OBJECTS_AT_ONCE):
        for (text,) in batch:
            yield json.loads(text, parse_float=_Digits, parse_int=_Digits)


def _losing(value: JsonValue, field: _Field) -> Iterator[_Field]:
    """Yield the fields with a number that a DOUBLE doesn't keep."""
    match value:
        case dict():
            for name, part in value.items():
                yield from _losing(part, (*field, name))
        case list():
            for part in value:
                yield from _losing(part, field)
        case _Digits() if not _is_kept(value):
            yield field


def _is_kept(digits: str) -> bool:
    return Decimal(repr(float(digits))) == Decimal(digits)


def _quoted(value: JsonValue, field: _Field, fields: Set[_Field]) -> JsonValue:
    """Return a value with the numbers of some fields as text, and the others as numbers."""
    match value:
        case dict():
            return {name: _quoted(part, (*field, name), fields) for name, part in value.items()}
        case list():
            return [_quoted(part, field, fields) for part in value]
        case _Digits() if field in fields:
            return str(value)
        case _Digits():
            return float(value) if set(value) & set(".eE") else int(value)
        case _:
            return value
