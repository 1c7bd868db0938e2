"""Parquet files: read in place through a view, or staged where they aren't on this machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from fluid_build.sources.base import Column
from fluid_build.sources.file_layout import TableFiles, partitions
from fluid_build.sources.file_storage import FileStorage
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.periods import FILE_NAME
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_MOST_DIGITS = 38
"""DuckDB reads decimals of more digits as a DOUBLE of some other number: 0.01 as 167772.16."""
_NANOSECONDS = "Its times have nanoseconds; they were cut to microseconds."
_NULL_TYPE = "NullType()"
_NAMED = ("filename", literal(FILE_NAME))
_EMPTY_COLUMN = "VARCHAR"
"""The type of a column that no file gives one: text takes whatever it may hold one day."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A top-level column of a file, as the file spells it.

    ``is_null`` says that it's of Parquet's Null type, ``holds_null`` that something in it is, and
    ``is_cut`` that it holds times of a finer unit than DuckDB reads.
    """

    name: str
    is_null: bool
    holds_null: bool
    is_cut: bool = False


def column_names(connection: duckdb.DuckDBPyConnection, place: str) -> tuple[str, ...]:
    """Return the columns of a Parquet file; duckdb.Error where it can't be read."""
    return tuple(name for name, _ in _described(connection, _call([place], ())))


def read_parquet(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, relation: str, storage: FileStorage
) -> tuple[tuple[Column, ...], InFiles]:
    """Make a view over the files of one table; its columns, and how they are read.

    Remote files are read once, into a table. Raises duckdb.Error where one is unreadable, and
    ValueError where DuckDB would read other values than it has.

    A column of Parquet's Null type, which pandas and Arrow write where every value is missing, is
    not read but given as nulls: DuckDB fails on queries that skip some of its pages. It has the
    type that the table's other files give it.

    The names are those of the files; where two differ in case alone, DuckDB's view numbers one.
    """
    partitioned = any(partitions(path, files.root) for path in files.paths)
    options: Options = (("hive_partitioning", str(partitioned).lower()),)
    if len(files.paths) > 1:
        options += (("union_by_name", "true"),)
    for path in files.paths:
        _refuse_wide_decimals(connection, storage.place(path), path.name)
    fields = {path: _fields(connection, storage.place(path)) for path in files.paths}
    parts = _parts(connection, fields, options, storage)
    query = _union(parts, storage)
    if files.period is not None:
        named = tuple(replace(part, options=(*part.options, _NAMED)) for part in parts)
        query = f"SELECT {files.period.select_list} FROM ({_union(named, storage)})"
    kind = "TABLE" if storage.remote else "VIEW"
    connection.execute(f"CREATE {kind} {relation} AS {query}")
    cut = {field.name for some in fields.values() for field in some if field.is_cut}
    names = [field.name for field in fields[files.paths[0]]] if len(files.paths) == 1 else []
    columns = tuple(
        Column(
            names[i] if i < len(names) else alias,
            type_,
            alias=alias,
            notes=(_NANOSECONDS,) if alias in cut else (),
        )
        for i, (alias, type_) in enumerate(_described(connection, relation))
    )
    holds_null = any(field.holds_null for file_fields in fields.values() for field in file_fields)
    return columns, InFiles(
        "parquet",
        files.root,
        parts,
        partitioned=partitioned,
        in_place=not holds_null,
        period=files.period,
    )


def _refuse_wide_decimals(
    connection: duckdb.DuckDBPyConnection, place: str, file_name: str
) -> None:
    row = connection.execute(
        "SELECT name, precision FROM parquet_schema(?) WHERE precision > ? LIMIT 1",
        [as_pattern(place), _MOST_DIGITS],
    ).fetchone()
    if row:
        raise ValueError(
            f"{row[0]} in {file_name} has decimals of {row[1]} digits, which DuckDB misreads. Write"
            f" it as text, or with at most {_MOST_DIGITS} digits."
        )


def _parts(
    connection: duckdb.DuckDBPyConnection,
    fields: Mapping[Path, Sequence[_Field]],
    options: Options,
    storage: FileStorage,
) -> tuple[FilePart, ...]:
    """Return the files, those together whose columns of the Null type are the same."""
    alike: dict[tuple[str, ...], list[Path]] = {}
    for path, file_fields in fields.items():
        nulls = _null_columns(connection, storage.place(path), file_fields)
        alike.setdefault(nulls, []).append(path)
    types = {
        name: type_
        for nulls, paths in alike.items()
        for name, type_ in (
            _described(connection, _call(map(storage.place, paths), options)) if any(alike) else ()
        )
        if name not in nulls
    }
    return tuple(
        FilePart(
            paths=tuple(paths),
            options=options,
            expressions=tuple(
                (name, f"CAST(NULL AS {types.get(name, _EMPTY_COLUMN)})") for name in nulls
            ),
        )
        for nulls, paths in alike.items()
    )


def _null_columns(
    connection: duckdb.DuckDBPyConnection, place: str, fields: Sequence[_Field]
) -> tuple[str, ...]:
    """Return the columns of the Null type, by the names that DuckDB gives them."""
    if not any(field.is_null for field in fields):
        return ()
    names = _described(connection, _call([place], ()))
    return tuple(name for (name, _), field in zip(names, fields, strict=False) if field.is_null)


def _union(parts: Sequence[FilePart], storage: FileStorage) -> str:
    return " UNION ALL BY NAME ".join(
        f"SELECT *{_replaced(part)} FROM {_call(map(storage.place, part.paths), part.options)}"
        for part in parts
    )


def _replaced(part: FilePart) -> str:
    turned = ", ".join(f"{value} AS {quote(name)}" for name, value in part.expressions)
    return f" REPLACE ({turned})" if turned else ""


def _call(places: Iterable[str], options: Options) -> str:
    patterns = ", ".join(literal(as_pattern(place)) for place in places)
    arguments = "".join(f", {name}={value}" for name, value in options)
    return f"read_parquet([{patterns}]{arguments})"


def _described(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    rows = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    return [(name, type_) for name, type_, *_ in rows]


def _fields(connection: duckdb.DuckDBPyConnection, place: str) -> list[_Field]:
    """Return the top-level columns of a file, in order."""
    return list(_top_level(_schema(connection, place)))


def _schema(connection: duckdb.DuckDBPyConnection, place: str) -> list[tuple[str, int, str | None]]:
    """Return a file's schema, depth first.

    Names, how many are nested in each, and what it means.
    """
    return connection.execute(
        "SELECT name, coalesce(num_children, 0), CAST(logical_type AS VARCHAR)"
        " FROM parquet_schema(?)",
        [as_pattern(place)],
    ).fetchall()


def _top_level(schema: Sequence[tuple[str, int, str | None]]) -> Iterator[_Field]:
    at = 1
    while at < len(schema):
        name, below, meaning = schema[at]
        end = at + 1
        while below and end < len(schema):
            below += schema[end][1] - 1
            end += 1
        nested = any(inner == _NULL_TYPE for _, _, inner in schema[at + 1 : end])
        is_cut = bool(meaning and meaning.startswith("TimeType(") and "NANOS=Nano" in meaning)
        yield _Field(name, is_null=meaning == _NULL_TYPE, holds_null=nested, is_cut=is_cut)
        at = end
