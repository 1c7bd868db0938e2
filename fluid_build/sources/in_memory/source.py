"""Tables of this process as a source: each is copied once into the engine, under its name."""

from collections.abc import Mapping

import duckdb

from fluid_build import limits
from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.progress import Progress
from fluid_build.sources.addresses.kinds import IN_MEMORY
from fluid_build.sources.base import Column, OpenSource, Skipped, Table
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, Engine, reason, starting
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.in_memory.arrow_tables import is_arrow_table, prepare_arrow
from fluid_build.sources.in_memory.pandas_frames import is_pandas_frame, prepare_pandas
from fluid_build.sources.in_memory.prepared import PreparedTable
from fluid_build.sources.in_memory.relations import prepare_relation
from fluid_build.sources.in_memory.same_values import check_values
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.sql import quote
from fluid_build.sources.table_choice import TableName

_BYTES_OF_A_VALUE = 16
"""What a value takes at most once it's staged, for the choice between memory and disk."""
_TABLE_ERRORS = (
    *DUCKDB_ERRORS,
    ArithmeticError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""What libraries raise for values that they can't convert; such a table is skipped."""


def is_table(table: object) -> bool:
    """Return whether an object is a table that can be read."""
    return (
        is_pandas_frame(table)
        or isinstance(table, duckdb.DuckDBPyRelation)
        or is_arrow_table(table)
    )


def open_in_memory(tables: Mapping[str, object], options: OpenOptions) -> OpenSource:
    """Copy tables into an engine of their own; later changes of the objects don't show.

    Raises UsageError for an object that is no table and for a name that is none, and
    SourceUnreadableError where not one of them can be read.
    """
    _check(tables)
    tables = {name: tables[name] for name in selected_tables([*tables], TableName, options)}
    options.on_tables([TableName(name) for name in tables])
    with starting(options.memory_limit) as engine:
        engine.stage(sum(map(_size, tables.values())))
        opened = [
            _open_table(engine, name, relation, tables[name], options, position, len(tables))
            for position, (name, relation) in enumerate(
                zip(tables, unique_names(tables), strict=True)
            )
        ]
        options.on_progress(Progress("reading", len(tables), len(tables)))
        skipped = tuple(entry for entry in opened if isinstance(entry, Skipped))
        if len(skipped) == len(opened):
            raise SourceUnreadableError(
                f"{skipped[0].name} can't be read. {skipped[0].reason}",
                hint="Convert the columns that it names to ordinary types.",
            )
        return OpenSource(
            kind=IN_MEMORY.name,
            name=next(iter(tables)) if len(tables) == 1 else IN_MEMORY.name,
            connection=engine.connection,
            tables=tuple(entry for entry in opened if isinstance(entry, Table)),
            skipped=skipped,
            cleanup=[engine],
        )


def _check(tables: Mapping[str, object]) -> None:
    if not tables:
        raise UsageError("There is no table to read.", hint="Pass at least one data frame.")
    for name, table in tables.items():
        if not isinstance(name, str) or not name.strip():
            raise UsageError(
                f"{name!r} isn't the name of a table.", hint="Use text as the keys of the dict."
            )
        if not is_table(table):
            raise UsageError(
                f"{name} has the type {type(table).__name__}, which isn't a table.",
                hint="Pass pandas or polars data frames, Arrow tables or DuckDB relations.",
            )


def _size(table: object) -> int:
    """Return about how many bytes a table takes; 0 for a relation that wasn't run yet."""
    rows, columns = getattr(table, "shape", (0, 0))
    return int(rows * columns * _BYTES_OF_A_VALUE)


def _open_table(
    engine: Engine,
    name: str,
    relation_name: str,
    table: object,
    options: OpenOptions,
    position: int,
    total: int,
) -> Table | Skipped:
    relation = f"{quote(STAGE)}.main.{quote(relation_name)}"
    report = Progress("reading", position, total, name)
    try:
        with following(engine.connection, options.on_progress, report):
            return _stage(engine.connection, name, relation, table)
    except duckdb.InterruptException:
        raise
    except _TABLE_ERRORS as error:
        return Skipped(name, reason(error))


def _stage(connection: duckdb.DuckDBPyConnection, name: str, relation: str, table: object) -> Table:
    prepared = _prepared(connection, table)
    limits.check_columns([column.name for column in prepared.columns])
    if not prepared.columns:
        raise ValueError("It has no columns.")
    aliases = unique_names(column.name for column in prepared.columns)
    selected = ", ".join(
        f"{column.expression} AS {quote(alias)}"
        for column, alias in zip(prepared.columns, aliases, strict=True)
    )
    names = [f"registered_{i}" for i in range(len(prepared.scannables))]
    for registered, scannable in zip(names, prepared.scannables, strict=True):
        connection.register(registered, scannable)
    try:
        rows = " POSITIONAL JOIN ".join(names)
        connection.execute(f"CREATE TABLE {relation} AS SELECT {selected} FROM {rows}")
    finally:
        for registered in names:
            connection.unregister(registered)
    check_values(connection, relation, list(zip(prepared.columns, aliases, strict=True)))
    types = [row[1] for row in connection.execute(f"DESCRIBE {relation}").fetchall()]
    columns = tuple(
        Column(column.name, type_, alias=alias, notes=column.notes)
        for column, alias, type_ in zip(prepared.columns, aliases, types, strict=True)
    )
    return Table(name=name, columns=columns, relation=relation, notes=prepared.notes)


def _prepared(connection: duckdb.DuckDBPyConnection, table: object) -> PreparedTable:
    if is_pandas_frame(table):
        return prepare_pandas(connection, table)
    if isinstance(table, duckdb.DuckDBPyRelation):
        return prepare_relation(table)
    return prepare_arrow(connection, table)
