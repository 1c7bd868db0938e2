"""The rows of a catalog's tables, where these are files in S3 that the login may read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.errors import SourceError, SourceNotFoundError, UsageError
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.kinds import S3
from fluid_build.sources.base import Column, Skipped, Table
from fluid_build.sources.catalogs.snapshot import FilesLocation
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, Engine, reason
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.files.remote.listing import files_at
from fluid_build.sources.files.remote.object_store_login import log_in
from fluid_build.sources.files.remote.places import remote_place
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""What Hive calls the folder of rows whose partition column is null."""
_NO_FILES = "There are no files where the catalog has it, so it has no rows."
_READERS = {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}


@dataclass(frozen=True, slots=True)
class TableFiles:
    """A table as declared, where its rows are, and the files there with all their bytes."""

    table: Table
    location: FilesLocation
    files: tuple[str, ...] = ()
    bytes: int = 0


def is_readable(location: FilesLocation | None) -> bool:
    """Return whether rows at a location can be read at all: as files of S3 in a known format."""
    if location is None:
        return False
    scheme = location.uri.partition("://")[0].lower()
    return scheme in S3.schemes and location.format in _READERS


def log_in_to_s3(connection: duckdb.DuckDBPyConnection, login: Mapping[str, str]) -> None:
    """Have the connection use a login for S3; without one, that of the environment.

    ``login`` has the parameters of a secret of DuckDB, which stays in the connection's memory.
    """
    if not login:
        log_in(connection, "s3://", "s3")
        return
    parameters = ", ".join(f"{name} {literal(value)}" for name, value in login.items())
    connection.execute(f"CREATE SECRET fluid_catalog (TYPE s3, {parameters})")


def list_files(engine: Engine, table: Table, location: FilesLocation) -> TableFiles | Skipped:
    """Return the files of a table, none where nothing is there; Skipped where that isn't known."""
    try:
        place = remote_place(location.uri, S3)
        listing = files_at(engine.connection, place, S3)
    except SourceNotFoundError:
        return TableFiles(table, location)
    except (SourceError, UsageError) as error:
        return Skipped(table.name, error.message)
    paths = [place.base] if listing.is_file else [f"{place.base}/{p}" for p in listing.sizes]
    return TableFiles(table, location, tuple(sorted(paths)), listing.bytes)


def read_rows(
    engine: Engine, tables: Sequence[TableFiles], on_progress: OnProgress
) -> tuple[list[Table], list[Skipped]]:
    """Copy the rows of the tables into the stage, each as it's declared; the others are skipped."""
    read: list[Table] = []
    skipped: list[Skipped] = []
    for number, each in enumerate(tables, start=1):
        relation = f"{STAGE}.main.{quote(f'table_{number}')}"
        report = Progress("reading", number - 1, len(tables), each.table.name)
        try:
            with following(engine.connection, on_progress, report):
                engine.connection.execute(f"CREATE TABLE {relation} AS {_query(each)}")
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            skipped.append(Skipped(each.table.name, reason(error)))
        else:
            notes = each.table.notes if each.files else (*each.table.notes, _NO_FILES)
            read.append(replace(each.table, relation=relation, notes=notes))
    on_progress(Progress("reading", len(tables), len(tables)))
    return read, skipped


def _query(each: TableFiles) -> str:
    """Return the query for rows with the declared columns in their declared types."""
    if not each.files:
        return _no_rows(each.table)
    partitions = {name.lower() for name in each.location.partitions}
    columns = ", ".join(
        f"CAST({_value(column.name, partitions)} AS {column.type}) AS {quote(column.alias)}"
        for column in each.table.columns
    )
    own = [column for column in each.table.columns if column.name.lower() not in partitions]
    return f"SELECT {columns} FROM {_reader(each, own)}"


def _no_rows(table: Table) -> str:
    columns = (f"CAST(NULL AS {c.type}) AS {quote(c.alias)}" for c in table.columns)
    return f"SELECT {', '.join(columns)} LIMIT 0"


def _value(name: str, partitions: set[str]) -> str:
    column = quote(name)
    return f"NULLIF({column}, {literal(_NO_PARTITION)})" if name.lower() in partitions else column


def _reader(each: TableFiles, columns: Sequence[Column]) -> str:
    files = ", ".join(literal(as_pattern(file)) for file in each.files)
    options = [
        f"hive_partitioning = {'true' if each.location.partitions else 'false'}",
        "hive_types_autocast = false",
        *_format_options(each.location, columns),
    ]
    return f"{_READERS[each.location.format]}([{files}], {', '.join(options)})"


def _format_options(location: FilesLocation, columns: Sequence[Column]) -> list[str]:
    if location.format == "csv":
        return _csv_options(location, columns)
    if location.format == "json":
        return [f"columns = {_types({column.name: column.type for column in columns})}"]
    return ["union_by_name = true"]


def _csv_options(location: FilesLocation, columns: Sequence[Column]) -> list[str]:
    """Return how the serializers of Hive (LazySimpleSerDe, OpenCSVSerde) write a table."""
    settings = {name.lower(): value for name, value in location.options.items()}
    delimiter = settings.get("separatorchar") or settings.get("field.delim") or ","
    quoting = settings.get("quotechar") or '"'
    has_header = settings.get("skip.header.line.count", "0") not in ("", "0")
    return [
        "auto_detect = false",
        f"delim = {literal(delimiter)}",
        f"quote = {literal(quoting)}",
        f"header = {'true' if has_header else 'false'}",
        f"columns = {_types(dict.fromkeys((column.name for column in columns), 'VARCHAR'))}",
    ]


def _types(types: Mapping[str, str]) -> str:
    listed = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in types.items())
    return f"{{{listed}}}"
