"""Parquet files, read in place through a view."""

from pathlib import Path

import duckdb

from fluid_build.sources.base import Column
from fluid_build.sources.file_layout import TableFiles, partitions
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import as_pattern


def column_names(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """The columns of a Parquet file; duckdb.Error where it can't be read."""
    rows = connection.execute(
        f"DESCRIBE FROM read_parquet({literal(as_pattern(str(path)))})"
    ).fetchall()
    return tuple(row[0] for row in rows)


def view_parquet(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, relation: str
) -> tuple[tuple[Column, ...], InFiles]:
    """Make a view over the files of one table; its columns, and how they are read.

    Raises duckdb.Error where one is unreadable.

    The names are those of the files; where two differ in case alone, DuckDB's view numbers one.
    """
    listed = ", ".join(literal(as_pattern(str(path))) for path in files.paths)
    partitioned = any(partitions(path, files.root) for path in files.paths)
    options: Options = (("hive_partitioning", str(partitioned).lower()),)
    if len(files.paths) > 1:
        options += (("union_by_name", "true"),)
    given = ", ".join(f"{name}={value}" for name, value in options)
    connection.execute(f"CREATE VIEW {relation} AS FROM read_parquet([{listed}], {given})")
    rows = connection.execute(f"DESCRIBE {relation}").fetchall()
    names = _original_names(connection, files.paths[0]) if len(files.paths) == 1 else []
    columns = tuple(
        Column(names[i] if i < len(names) else row[0], row[1], alias=row[0])
        for i, row in enumerate(rows)
    )
    part = FilePart(paths=files.paths, options=options)
    return columns, InFiles("parquet", files.root, (part,), partitioned=partitioned)


def _original_names(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """The top-level column names as the file spells them."""
    rows = connection.execute(
        "SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [as_pattern(str(path))]
    ).fetchall()
    names: list[str] = []
    at = 1
    while at < len(rows):
        names.append(rows[at][0])
        below = rows[at][1]
        at += 1
        while below:
            below += rows[at][1] - 1
            at += 1
    return names
