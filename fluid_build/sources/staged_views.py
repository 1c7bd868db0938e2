"""Tables that are read in place, copied where DuckDB can't run a query on their files.

DuckDB's Parquet reader reads all rows of some files that it can't search: a filter that skips
pages fails on encodings and types that it hasn't implemented skipping for.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import duckdb

from fluid_build.errors import BuildFailedError, ScratchFullError
from fluid_build.sources.base import Skipped, Source, Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, reason
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import quote

COPIED = "DuckDB can't run every query on its files where they lie, so they were copied first."

_VIEWS = f"{quote(STAGE)}.main."
_COPIES = f"{quote(STAGE)}.copies"

Result = TypeVar("Result")


def stage_view(connection: duckdb.DuckDBPyConnection, relation: str) -> None:
    """Copy the rows of a view on files, and show the copy under the view's name.

    ``relation`` is the view as SQL. Raises duckdb.Error where the files can't be read.
    """
    copy = f"{_COPIES}.{relation.removeprefix(_VIEWS)}"
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_COPIES}")
    connection.execute(f"CREATE TABLE {copy} AS FROM {relation}")
    connection.execute(f"CREATE OR REPLACE VIEW {relation} AS FROM {copy}")


def stage_in_place(source: Source, table: Table) -> Table | None:
    """Copy a table of files that are read in place, and take the copy into the source.

    None where the table isn't read in place, or was copied before. Raises duckdb.Error where its
    files can't be read.
    """
    if not _is_in_place(table):
        return None
    stage_view(source.connection, _in_files(table).relation)
    return _take(source, table)


def staged_where_needed(source: Source, work: Callable[[], Result]) -> Result:
    """Do some work on a source; if a query or build fails, do it again on copies of the files.

    A table whose files can't be copied is skipped. Raises what ``work`` raised where there was
    nothing to copy, or where it failed again.
    """
    try:
        return work()
    except (duckdb.InterruptException, ScratchFullError):
        raise
    except (*DUCKDB_ERRORS, BuildFailedError):
        if not _stage_all(source):
            raise
    return work()


def _stage_all(source: Source) -> bool:
    """Copy every table that is read in place; whether there was one."""
    views = {_in_files(table).relation: table for table in source.tables}
    in_place = [table for table in views.values() if _is_in_place(table)]
    for table in in_place:
        try:
            stage_in_place(source, table)
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            _skip(source, table, reason(error, *_paths(table)))
    return bool(in_place)


def _in_files(table: Table) -> Table:
    """Return the table that is in the files: nested data is read before it's split."""
    return table.split.documents.table if table.split else table


def _is_in_place(table: Table) -> bool:
    origin = table.origin
    return (
        isinstance(origin, InFiles)
        and origin.format == "parquet"
        and origin.in_place
        and origin.remote is None
        and _in_files(table).relation.startswith(_VIEWS)
    )


def _paths(table: Table) -> list[Path]:
    if not isinstance(table.origin, InFiles):
        return []
    return [path for part in table.origin.parts for path in part.paths]


def _take(source: Source, table: Table) -> Table:
    view = _in_files(table).relation
    source.tables = tuple(
        _copied(other) if _in_files(other).relation == view else other for other in source.tables
    )
    return next(other for other in source.tables if other.name == table.name)


def _copied(table: Table) -> Table:
    split, origin = table.split, table.origin
    if split is not None:
        documents = replace(split.documents, table=_copied(split.documents.table))
        split = replace(split, documents=documents)
    return replace(
        table,
        notes=(*table.notes, COPIED) if split is None or split.is_root else table.notes,
        origin=replace(origin, in_place=False) if isinstance(origin, InFiles) else origin,
        split=split,
    )


def _skip(source: Source, table: Table, why: str) -> None:
    source.tables = tuple(other for other in source.tables if other.name != table.name)
    source.skipped = (*source.skipped, Skipped(table.name, why))
