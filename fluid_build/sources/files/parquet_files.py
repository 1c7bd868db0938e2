"""Parquet files: read in place through a view, or staged where they aren't on this machine."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeAlias

import duckdb

from fluid_build.extras import install_command
from fluid_build.sources.addresses.periods import FILE_NAME
from fluid_build.sources.base import Column
from fluid_build.sources.declared import unique_names
from fluid_build.sources.files.hive_keys import by_lower_name, keys_of, shadowed_columns
from fluid_build.sources.files.layout import TableFiles, partitions
from fluid_build.sources.files.parquet_columns import MOST_DIGITS, ParquetColumn, columns_of
from fluid_build.sources.files.parquet_footers import footers_of
from fluid_build.sources.files.parquet_unions import FileColumns, Unions, text_of, unions_of
from fluid_build.sources.files.storage import FileStorage
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_Place: TypeAlias = Callable[[Path], str]
"""Where DuckDB reads the content of a file."""
_NAMED = ("filename", literal(FILE_NAME))
_EMPTY_COLUMN = "VARCHAR"
"""The type of a column that no file gives one: text takes whatever it may hold one day."""


def column_names(connection: duckdb.DuckDBPyConnection, place: str) -> tuple[str, ...]:
    """Return the columns of a Parquet file; duckdb.Error where it can't be read."""
    return tuple(name for name, _ in _described(connection, _call([place], ())))


def read_parquet(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    relation: str,
    storage: FileStorage,
    folder: Path,
) -> tuple[tuple[Column, ...], InFiles]:
    """Make a view over the files of one table; its columns, and how they are read.

    Remote files are read once, into a table; ``folder`` takes copies of files with decimals that
    DuckDB would misread. Raises duckdb.Error where one is unreadable, and ValueError where DuckDB
    would read other values than it has, or far more of them than fit its size.

    A column of Parquet's Null type, which pandas and Arrow write where every value is missing, is
    not read but given as nulls: DuckDB fails on queries that skip some of its pages. It has the
    type that the table's other files give it.

    The names are those of the files. Where two are the same but for case, one is read by another
    (``unique_names``), and has it for its name too where they're the very same.
    """
    partitioned = any(partitions(path, files.root) for path in files.paths)
    keys = keys_of(connection, files)
    options = keys.options
    if len(files.paths) > 1:
        options += (("union_by_name", "true"),)
    footers = footers_of(connection, [storage.place(path) for path in files.paths])
    for footer in footers.values():
        footer.check_size()
    fields = {path: columns_of(footers[storage.place(path)]) for path in files.paths}
    place = _as_duckdb_reads(files, fields, storage, folder)
    by_name = {path: _named(connection, place(path), some) for path, some in fields.items()}
    shadowed: Mapping[str, str] = {}
    if partitioned:
        shadowed = _shadowed(connection, files, by_name, place)
        by_name = _without(shadowed, by_name)
    unions = unions_of(connection, by_name, place)
    parts = _parts(connection, by_name, unions, options, place)
    query = _union(parts, place)
    if files.period is not None:
        named = tuple(replace(part, options=(*part.options, _NAMED)) for part in parts)
        query = f"SELECT {files.period.select_list} FROM ({_union(named, place)})"
    kind = "TABLE" if storage.remote else "VIEW"
    read = [name for name, _ in _described(connection, f"({query})")]
    names = [field.name for field in fields[files.paths[0]]] if len(files.paths) == 1 else []
    names += read[len(names) :]
    aliases = unique_names(names)
    renamed = ", ".join(
        f"{quote(name)} AS {quote(alias)}" for name, alias in zip(read, aliases, strict=True)
    )
    connection.execute(f"CREATE {kind} {relation} AS SELECT {renamed} FROM ({query})")
    of_keys = by_lower_name(shadowed, keys.notes)
    columns = tuple(
        Column(
            name if names.count(name) == 1 else alias,
            type_,
            alias=alias,
            notes=(*_notes(own, by_name, unions), *of_keys.get(own.lower(), ())),
        )
        for own, name, (alias, type_) in zip(
            read, names, _described(connection, relation), strict=True
        )
    )
    _refuse_impossible_times(connection, relation, columns)
    is_changed = read != aliases or any(
        field.holds_null or field.wide_digits
        for file_fields in fields.values()
        for field in file_fields
    )
    return columns, InFiles(
        "parquet",
        files.root,
        parts,
        partitioned=partitioned,
        in_place=not is_changed,
        period=files.period,
    )


def _refuse_impossible_times(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[Column]
) -> None:
    """Raise ValueError where a time isn't one of a day, which DuckDB has no spelling for."""
    times = [column for column in columns if column.type == "TIME"]
    if not times:
        return
    tests = (
        f"bool_or({quote(column.alias)} NOT BETWEEN TIME '00:00:00' AND TIME '24:00:00')"
        for column in times
    )
    found = connection.execute(f"SELECT {', '.join(tests)} FROM {relation}").fetchone() or ()
    for column, is_impossible in zip(times, found, strict=True):
        if is_impossible:
            raise ValueError(
                f"{column.name} has times before 00:00 or after 24:00. Write it as durations, or as"
                " whole numbers."
            )


def _as_duckdb_reads(
    files: TableFiles,
    columns: Mapping[Path, Sequence[ParquetColumn]],
    storage: FileStorage,
    folder: Path,
) -> _Place:
    """Return the place of each file, or of its copy where DuckDB would misread its decimals."""
    copies: dict[Path, str] = {}
    for path in files.paths:
        if wide := _wide(columns[path], path):
            if storage.remote is not None:
                raise _misread(columns[path], path)
            copy = Path(mkdtemp(dir=folder)) / path.relative_to(files.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            _write_as_text(path, copy, wide)
            copies[path] = str(copy)
    return lambda path: copies.get(path) or storage.place(path)


def _wide(columns: Sequence[ParquetColumn], path: Path) -> list[int]:
    """Return at which places there are decimals that DuckDB misreads."""
    wide = [i for i, column in enumerate(columns) if column.wide_digits]
    if any(columns[i].is_nested for i in wide):
        raise _misread(columns, path)
    return wide


def _misread(columns: Sequence[ParquetColumn], path: Path) -> ValueError:
    column = next(column for column in columns if column.wide_digits)
    return ValueError(
        f"{column.name} in {path.name} has decimals of {column.wide_digits} digits, which DuckDB"
        f" misreads. Write it as text, or with at most {MOST_DIGITS} digits."
    )


def _write_as_text(path: Path, copy: Path, wide: Sequence[int]) -> None:
    """Copy a file with its columns at ``wide`` as text. Raises ValueError without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{path.name} has decimals of more than {MOST_DIGITS} digits, which DuckDB misreads."
            f" They're read as text once pyarrow is installed: {install_command('parquet')}"
        ) from error
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        for i in wide:
            schema = schema.set(i, pyarrow.field(schema.field(i).name, pyarrow.string()))
        with parquet.ParquetWriter(copy, schema) as writer:
            for batch in file.iter_batches():
                arrays = [
                    pyarrow.array(map(_spelled, array.to_pylist()), pyarrow.string())
                    if i in wide
                    else array
                    for i, array in enumerate(batch.columns)
                ]
                writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def _spelled(number: Decimal | None) -> str | None:
    return None if number is None else format(number, "f")


def _notes(name: str, files: Mapping[Path, FileColumns], unions: Unions) -> tuple[str, ...]:
    columns = [some[name] for some in files.values() if name in some]
    notes = [note for column in columns for note in column.notes]
    union = unions.note(name)
    if union and not any(column.wide_digits for column in columns):
        notes.append(union)
    return tuple(dict.fromkeys(notes))


def _named(
    connection: duckdb.DuckDBPyConnection, place: str, fields: Sequence[ParquetColumn]
) -> FileColumns:
    """Return the columns by the names that DuckDB gives them: it numbers those that are alike."""
    names = [field.name for field in fields]
    if len({name.lower() for name in names}) < len(names):
        names = [name for name, _ in _described(connection, _call([place], ()))]
    return dict(zip(names, fields, strict=False))


def _shadowed(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    columns: Mapping[Path, FileColumns],
    place: _Place,
) -> dict[str, str]:
    """Return the columns whose values are the keys in the path, which DuckDB reads instead."""
    options: Options = (("hive_partitioning", "false"), ("union_by_name", "true"))
    return shadowed_columns(
        connection,
        files,
        {name for some in columns.values() for name in some},
        lambda _, paths: _call(map(place, paths), options),
    )


def _without(
    shadowed: Collection[str], columns: Mapping[Path, FileColumns]
) -> dict[Path, FileColumns]:
    lower = {name.lower() for name in shadowed}
    return {
        path: {name: column for name, column in some.items() if name.lower() not in lower}
        for path, some in columns.items()
    }


def _parts(
    connection: duckdb.DuckDBPyConnection,
    files: Mapping[Path, FileColumns],
    unions: Unions,
    options: Options,
    place: _Place,
) -> tuple[FilePart, ...]:
    """Return the files, those together in which the same columns are turned into something else.

    These are columns of the Null type, and those whose type differs among the files.
    """
    alike: dict[tuple[tuple[str, ParquetColumn], ...], list[Path]] = {}
    for path, columns in files.items():
        turned = tuple(
            (name, column)
            for name, column in columns.items()
            if column.is_null or name.lower() in unions.as_text
        )
        alike.setdefault(turned, []).append(path)
    have_nulls = any(column.is_null for turned in alike for _, column in turned)
    types = {
        name.lower(): type_
        for turned, paths in alike.items()
        for name, type_ in (
            _described(connection, _call(map(place, paths), options)) if have_nulls else ()
        )
        if name not in dict(turned)
    }
    return tuple(
        FilePart(
            paths=tuple(paths),
            options=options,
            expressions=tuple(
                (
                    name,
                    f"CAST(NULL AS {types.get(name.lower(), _EMPTY_COLUMN)})"
                    if column.is_null
                    else text_of(name, column),
                )
                for name, column in turned
            ),
        )
        for turned, paths in alike.items()
    )


def _union(parts: Sequence[FilePart], place: _Place) -> str:
    return " UNION ALL BY NAME ".join(
        f"SELECT *{_replaced(part)} FROM {_call(map(place, part.paths), part.options)}"
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
