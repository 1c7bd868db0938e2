"""Where data comes from. ``open_source(uri)`` is the one way in."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fluid_build.errors import UsageError
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.table_choice import OnTables, TableName, any_tables

if TYPE_CHECKING:
    from fluid_build.sources.base import Source


def open_source(
    uri_or_path: str | Path,
    *,
    schemas: Sequence[str] = (),
    dialect: str | None = None,
    conventions: Conventions = NO_ANSWERS,
    memory_limit: str | None = None,
    on_tables: OnTables = any_tables,
    on_progress: OnProgress = ignore,
) -> "Source":
    """Open a database, a folder, a file or a glob for reading; use it in a ``with`` block.

    ``schemas`` picks schemas of a DuckDB or PostgreSQL database (default: all that hold tables).
    ``dialect`` is the SQL dialect of a DDL file (default: detected). ``conventions`` answer
    how numbers and dates in text are written where the data leaves that open. ``memory_limit``
    bounds DuckDB's memory (``"2GB"``). ``on_tables`` is told the tables once they are known, before
    their rows are read, and may raise. Raises a SourceError that says what is wrong with the place,
    or UsageError for an option that the kind of source has no use for.
    """
    from fluid_build.sources.uri import locate

    address = locate(str(uri_or_path))
    if schemas and address.kind not in ("duckdb", "postgres"):
        raise UsageError(
            f"A source of the kind {address.kind} has no schemas to choose from.",
            hint="Leave --schema out.",
        )
    if dialect and address.kind != "ddl":
        raise UsageError(
            f"A source of the kind {address.kind} has no SQL dialect.", hint="Leave --dialect out."
        )
    if conventions != NO_ANSWERS and address.kind == "ddl":
        raise UsageError(
            "DDL holds no numbers and dates to read.",
            hint="Leave --decimal and --date-order out.",
        )
    # Openers are imported when needed: a CSV file should not wait for the SQL parser.
    if address.kind == "ddl":
        from fluid_build.sources.ddl import open_ddl

        declared = open_ddl(Path(address.place), dialect=dialect)
        on_tables([TableName(one.name, one.schema, one.name) for one in declared.tables])
        return declared
    if address.kind == "duckdb":
        from fluid_build.sources.duckdb_file import open_duckdb

        opened = open_duckdb(
            Path(address.place),
            schemas=schemas,
            memory_limit=memory_limit,
            on_tables=on_tables,
            on_progress=on_progress,
        )
    elif address.kind == "sqlite":
        from fluid_build.sources.sqlite.file import open_sqlite

        opened = open_sqlite(
            Path(address.place),
            memory_limit=memory_limit,
            on_tables=on_tables,
            on_progress=on_progress,
        )
    elif address.kind == "postgres":
        from fluid_build.sources.postgres.database import open_postgres

        opened = open_postgres(
            address.place,
            schemas=schemas,
            memory_limit=memory_limit,
            on_tables=on_tables,
            on_progress=on_progress,
        )
    else:
        from fluid_build.sources.files import open_files

        opened = open_files(
            address.place,
            conventions=conventions,
            memory_limit=memory_limit,
            on_tables=on_tables,
            on_progress=on_progress,
        )
    opened.conventions = conventions
    return opened


__all__ = ["open_source"]
