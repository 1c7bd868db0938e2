"""Delta and Iceberg tables and Avro files, staged through DuckDB's extensions.

A lake's newest version is read once, so that all figures are of the same version, whoever writes
to it meanwhile.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import duckdb

from fluid_build.sources import avro_files, delta_log, iceberg_metadata
from fluid_build.sources.base import Column, Table
from fluid_build.sources.endings import Format
from fluid_build.sources.engine import Engine
from fluid_build.sources.extensions import AVRO, DELTA, EXCEL, ICEBERG, Extension
from fluid_build.sources.file_layout import TableFiles
from fluid_build.sources.file_storage import FileStorage
from fluid_build.sources.lake_schema import LakeSchema
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

A copy of a table works that way, and a stranger's metadata leads nowhere else."""


def column_names(engine: Engine, path: Path) -> tuple[str, ...]:
    """Return the fields of an Avro file.

    Raises duckdb.Error where it can't be read, and SourceError where the extension is missing.
    """
    _load(engine, "avro")
    return avro_files.column_names(engine.connection, path)


def stage_table(engine: Engine, files: TableFiles, relation: str, storage: FileStorage) -> Table:
    """Stage a table, with what its schema declares.

    Raises duckdb.Error, OSError or ValueError where it can't be read, and SourceError where an
    extension is missing.
    """
    _load(engine, files.format)
    if files.format == "avro":
        storage.fetch(files.paths)
        columns, declared, origin = avro_files.stage_avro(engine.connection, files, relation)
        origin = replace(origin, remote=storage.remote)
        avro = Table(name=files.name, columns=columns, relation=relation, origin=origin)
        return _declared(avro, declared)
    folder = files.paths[0]
    place = storage.place(folder)
    if files.format == "delta":
        schema = delta_log.schema_of(engine.connection, folder, storage)
        call, options = f"delta_scan({literal(place)})", _PLAIN
    else:
        schema = iceberg_metadata.schema_of(folder, storage)
        options = _MOVED
        version = f", version={literal(schema.version)}" if schema.version else ""
        call = f"iceberg_scan({literal(place)}, allow_moved_paths=true{version})"
    engine.connection.execute(f"CREATE TABLE {relation} AS FROM {call}")
    part = FilePart((folder,), options)
    origin = InFiles(files.format, folder, (part,), remote=storage.remote)
    return _declared(_table(engine.connection, files, relation, origin), schema)


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
