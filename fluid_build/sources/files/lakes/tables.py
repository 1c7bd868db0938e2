"""Delta and Iceberg tables and Avro files, staged through DuckDB's extensions.

A lake's newest version is read once, so that all figures are of the same version, whoever writes
to it meanwhile.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePath

import duckdb

from fluid_build.sources.addresses.endings import Format
from fluid_build.sources.base import Column, Table
from fluid_build.sources.engine.connection import Engine
from fluid_build.sources.engine.extensions import AVRO, DELTA, EXCEL, ICEBERG, Extension
from fluid_build.sources.files.lakes import avro_files, delta_log, iceberg_metadata
from fluid_build.sources.files.lakes.schema import LakeSchema
from fluid_build.sources.files.layout import TableFiles
from fluid_build.sources.files.storage import FileStorage
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.sql import literal

EXTENSIONS: Mapping[Format, tuple[Extension, ...]] = {
    "avro": (AVRO,),
    "delta": (DELTA,),
    # Iceberg lists the files of a table in Avro.
    "iceberg": (AVRO, ICEBERG),
    "excel": (EXCEL,),
}
_PLAIN: Options = ()
_MOVED: Options = (("allow_moved_paths", "true"),)
"""Read an Iceberg table's files from its own folder, wherever its metadata says they were written.

A copy of a table works that way. What is below the folder may still be called ``..``."""


def column_names(engine: Engine, path: Path) -> tuple[str, ...]:
    """Return the fields of an Avro file.

    Raises duckdb.Error where it can't be read, and SourceError where the extension is missing.
    """
    _load(engine, "avro")
    return avro_files.column_names(path)


def stage_table(engine: Engine, files: TableFiles, relation: str, storage: FileStorage) -> Table:
    """Stage a table, with what its schema declares.

    Raises duckdb.Error, OSError or ValueError where it can't be read, and SourceError where an
    extension is missing.
    """
    _load(engine, files.format)
    if files.format == "avro":
        storage.fetch(files.paths)
        columns, declared, origin = avro_files.stage_avro(
            engine.connection, files, relation, engine.folder
        )
        origin = replace(origin, remote=storage.remote)
        avro = Table(name=files.name, columns=columns, relation=relation, origin=origin)
        return _declared(avro, declared)
    folder = files.paths[0]
    # Delta spells its files from the root of a path with dots, where they couldn't be compared.
    place = storage.place(folder) if storage.remote else os.path.abspath(folder)  # noqa: PTH100
    if files.format == "delta":
        schema = delta_log.schema_of(engine.connection, folder, storage)
        call, options = f"delta_scan({literal(place)})", _PLAIN
        _check_files(_delta_files(engine.connection, place), place)
    else:
        schema = iceberg_metadata.schema_of(folder, storage)
        options = _MOVED
        version = f", version={literal(schema.version)}" if schema.version else ""
        arguments = f"{literal(place)}, allow_moved_paths=true{version}"
        call = f"iceberg_scan({arguments})"
        _check_files(_iceberg_files(engine.connection, arguments), "")
    engine.connection.execute(f"CREATE TABLE {relation} AS FROM {call}")
    part = FilePart((folder,), options)
    origin = InFiles(files.format, folder, (part,), remote=storage.remote)
    return _declared(_table(engine.connection, files, relation, origin), schema)


def _check_files(paths: Iterable[PurePath], folder: str) -> None:
    """Raise ValueError for a path outside of a table's folder, or in a hidden folder below it.

    The log may be a stranger's, who mustn't decide which files of this machine are read. Links in
    hidden folders aren't looked at where a folder is confined.
    """
    for path in paths:
        is_below = path.is_relative_to(folder)
        if not is_below or any(part.startswith(".") for part in path.relative_to(folder).parts):
            raise ValueError(
                "It names files outside of its own folder, which aren't read. Copy the table"
                " with its files, or export it."
            )


def _delta_files(connection: duckdb.DuckDBPyConnection, place: str) -> list[PurePath]:
    rows = connection.execute(f"SELECT data_file FROM delta_list_files({literal(place)})")
    return [PurePath(path) for (path,) in rows.fetchall()]


def _iceberg_files(connection: duckdb.DuckDBPyConnection, arguments: str) -> list[PurePath]:
    """Return the files of a table, relative to its folder.

    DuckDB looks for them there by what follows the last ``/data/`` of the path in the metadata.
    """
    rows = connection.execute(f"SELECT file_path FROM iceberg_metadata({arguments})")
    return [PurePath(path.rpartition("/data/")[2]) for (path,) in rows.fetchall()]


def _load(engine: Engine, format_: Format) -> None:
    for extension in EXTENSIONS[format_]:
        engine.load(extension)


def _table(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, relation: str, origin: InFiles
) -> Table:
    columns = tuple(Column(name, type_) for name, type_ in _described(connection, relation))
    return Table(name=files.name, columns=columns, relation=relation, origin=origin)


def _declared(table: Table, schema: LakeSchema) -> Table:
    """Return the table with what its schema says of it and its columns."""
    fields = {field.name.lower(): field for field in schema.fields}
    columns = tuple(
        replace(column, nullable=field.nullable, comment=field.comment, generated=field.generated)
        if (field := fields.get(column.name.lower()))
        else column
        for column in table.columns
    )
    return replace(
        table,
        columns=columns,
        comment=schema.comment,
        primary_key=schema.primary_key,
        notes=(*table.notes, *schema.notes),
    )


def _described(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    rows = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    return [(name, type_) for name, type_, *_ in rows]
