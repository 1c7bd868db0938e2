"""The rows of a catalog's tables, where these are files in S3 that the login may read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from fluid_build.errors import SourceError, SourceNotFoundError, UsageError
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.kinds import S3
from fluid_build.sources.base import Column, Skipped, Table
from fluid_build.sources.catalogs.snapshot import FilesLocation
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, Engine, reason
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.files.parquet_columns import columns_of
from fluid_build.sources.files.parquet_footers import footers_of
from fluid_build.sources.files.parquet_unions import Unions, text_of, unions_of
from fluid_build.sources.files.remote.listing import files_at
from fluid_build.sources.files.remote.object_store_login import log_in
from fluid_build.sources.files.remote.places import remote_place
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""What Hive calls the folder of rows whose partition column is null."""
_NO_FILES = "There are no files where the catalog has it, so it has no rows."
_NUMBERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DECIMAL", "FLOAT", "DOUBLE"
)  # fmt: skip
"""Types that DuckDB rounds values to without a word."""
_EXACT = "DECIMAL(38, 18)"
_CHANGED = "The catalog declares {}, which would change some of its values; read as {}."
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
                table = _stage(engine.connection, each, relation)
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            skipped.append(Skipped(each.table.name, reason(error)))
        except ValueError as error:
            skipped.append(Skipped(each.table.name, str(error)))
        else:
            notes = table.notes if each.files else (*table.notes, _NO_FILES)
            read.append(replace(table, relation=relation, notes=notes))
    on_progress(Progress("reading", len(tables), len(tables)))
    return read, skipped


def _stage(connection: duckdb.DuckDBPyConnection, each: TableFiles, relation: str) -> Table:
    """Create a table of the rows, with the declared columns in their declared types.

    A column with values that its declared type would change has the type that they are read in.
    """
    if not each.files:
        connection.execute(f"CREATE TABLE {relation} AS {_no_rows(each.table)}")
        return each.table
    partitions = {name.lower() for name in each.location.partitions}
    own = [column for column in each.table.columns if column.name.lower() not in partitions]
    reader, notes = _reader(connection, each, own)
    values = {column.name: _value(column.name, partitions) for column in each.table.columns}
    columns = _as_they_fit(connection, reader, values, each.table.columns)
    columns = [
        replace(column, notes=(*column.notes, *filter(None, [notes.note(column.name)])))
        for column in columns
    ]
    selected = ", ".join(
        f"CAST({values[column.name]} AS {column.type}) AS {quote(column.alias)}"
        for column in columns
    )
    connection.execute(f"CREATE TABLE {relation} AS SELECT {selected} FROM {reader}")
    return replace(each.table, columns=tuple(columns))


def _as_they_fit(
    connection: duckdb.DuckDBPyConnection,
    reader: str,
    values: Mapping[str, str],
    columns: Sequence[Column],
) -> list[Column]:
    """Return the columns, those whose declared type changes a number in the type it's read in."""
    read = [f"{values[column.name]} AS c{i}" for i, column in enumerate(columns)]
    rows = f"(SELECT {', '.join(read)} FROM {reader})"
    types = [type_ for _, type_, *_ in connection.execute(f"DESCRIBE FROM {rows}").fetchall()]
    doubted = [
        i
        for i, (column, type_) in enumerate(zip(columns, types, strict=True))
        if type_ != column.type and column.type.startswith(_NUMBERS)
    ]
    if not doubted:
        return list(columns)
    changed = ", ".join(
        f"coalesce(bool_or({_changes_sql(f'c{i}', types[i], columns[i].type)}), false)"
        for i in doubted
    )
    found = connection.execute(f"SELECT {changed} FROM {rows}").fetchone() or ()
    kept = {i: types[i] for i, is_changed in zip(doubted, found, strict=True) if is_changed}
    return [
        replace(column, type=kept[i], notes=(*column.notes, _CHANGED.format(column.type, kept[i])))
        if i in kept
        else column
        for i, column in enumerate(columns)
    ]


def _changes_sql(value: str, read: str, declared: str) -> str:
    """Return SQL for whether a value is another number in its declared type, or none at all."""
    number = f"TRY_CAST({value} AS {declared})"
    same = f"TRY_CAST({number} AS {read}) IS NOT DISTINCT FROM {value}"
    if read == "VARCHAR":
        # 1.50 is 1.5, though not as text.
        same = f"({same} OR TRY_CAST({value} AS {_EXACT}) = {number})"
    return f"{value} IS NOT NULL AND NOT {same}"


def _no_rows(table: Table) -> str:
    columns = (f"CAST(NULL AS {c.type}) AS {quote(c.alias)}" for c in table.columns)
    return f"SELECT {', '.join(columns)} LIMIT 0"


def _value(name: str, partitions: set[str]) -> str:
    column = quote(name)
    return f"NULLIF({column}, {literal(_NO_PARTITION)})" if name.lower() in partitions else column


def _reader(
    connection: duckdb.DuckDBPyConnection, each: TableFiles, columns: Sequence[Column]
) -> tuple[str, Unions]:
    """Return SQL for the rows of all files, and what becomes of columns whose type differs."""
    if each.location.format != "parquet":
        return _call(each, each.files, columns), Unions()
    files = {
        Path(file): {column.name: column for column in columns_of(footer)}
        for file, footer in footers_of(connection, each.files).items()
    }
    wide = {
        column.name for some in files.values() for column in some.values() if column.wide_digits
    }
    if wide:
        raise ValueError(f"{', '.join(sorted(wide))} has decimals that are too wide for DuckDB.")
    place = dict(zip(files, each.files, strict=True))
    unions = unions_of(connection, files, place.__getitem__)
    if not unions.as_text:
        return _call(each, each.files, columns), unions
    rows = []
    for path, found in files.items():
        texts = ", ".join(
            f"{text_of(name, column)} AS {quote(name)}"
            for name, column in found.items()
            if name.lower() in unions.as_text
        )
        replaced = f" REPLACE ({texts})" if texts else ""
        rows.append(f"SELECT *{replaced} FROM {_call(each, [place[path]], columns)}")
    return f"({' UNION ALL BY NAME '.join(rows)})", unions


def _call(each: TableFiles, files: Sequence[str], columns: Sequence[Column]) -> str:
    patterns = ", ".join(literal(as_pattern(file)) for file in files)
    options = [
        f"hive_partitioning = {'true' if each.location.partitions else 'false'}",
        "hive_types_autocast = false",
        *_format_options(each.location, columns),
    ]
    return f"{_READERS[each.location.format]}([{patterns}], {', '.join(options)})"


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
