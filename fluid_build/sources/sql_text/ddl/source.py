"""A source with structure and no rows: the tables that SQL files declare."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from fluid_build.errors import EmptySourceError
from fluid_build.sources.base import Column, OpenSource, Skipped, Source, Table
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.schemas import chosen_schemas
from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.detection import detect
from fluid_build.sources.sql_text.ddl.dialects import Dialect, dialect_named
from fluid_build.sources.sql_text.ddl.files import SqlFile, read_files
from fluid_build.sources.sql_text.ddl.script import (
    Script,
    count_statements,
    list_faults,
    read_script,
)
from fluid_build.sources.sql_text.ddl.tables import DeclaredTables, declared_tables
from fluid_build.sources.table_choice import TableName

_VIEW = re.compile(r"\bCREATE\s{1,9}(?:[A-Z]{1,20}\s{1,9}){0,3}VIEW\b", re.IGNORECASE)
_NO_BACKSLASH = re.compile(
    r"^[^'\n]{0,99}\bSQL_MODE\s*=\s*'[\w,]*NO_BACKSLASH_ESCAPES", re.I | re.M
)
_BACKSLASH = re.compile(
    r"^\s{0,9}SET\s+standard_conforming_strings\s*(?:=|TO)\s*'?off\b", re.I | re.M
)
_SIGNS_SHOWN = 3
_HOME = "declared"


@dataclass(frozen=True)
class DeclaredSchema:
    """What SQL files declare.

    ``tables`` have no relation yet. ``names`` are those of the drafts in ``script``, by identity.
    """

    name: str
    dialect: Dialect
    files: Sequence[SqlFile]
    script: Script
    tables: Sequence[Table]
    names: Mapping[int, str]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]


def open_ddl(
    path: str | Path, *, dialect: str | None = None, schemas: Sequence[str] = ()
) -> Source:
    """Open the tables declared in an SQL file, a folder of them or a glob, each without a row.

    The source's ``notes`` count the statements by what they were and show those that couldn't be
    read. Raises what ``read_ddl`` and ``in_schemas`` do.
    """
    declared = read_ddl(path, dialect=dialect)
    tables = in_schemas(declared, schemas)
    return _open(declared.name, tables, declared.skipped, declared.notes)


def in_schemas(declared: DeclaredSchema, requested: Sequence[str]) -> Sequence[Table]:
    """Return the tables in the requested schemas, by names and globs; all of them without any.

    Raises SourceNotFoundError for a schema that no table has.
    """
    if not requested:
        return declared.tables
    existing = list(dict.fromkeys(table.schema for table in declared.tables if table.schema))
    chosen = chosen_schemas(requested, existing, declared.name)
    return [table for table in declared.tables if table.schema in chosen]


def declared_name(table: Table) -> TableName:
    """Return the name of a declared table, which begins with its schema where there are several."""
    # A table that's declared without a schema has the default one in its name alone.
    start = f"{table.schema}." if table.schema else table.name.rpartition(".")[0] + "."
    return TableName(table.name, table.schema, table.name.removeprefix(start))


def read_ddl(path: str | Path, *, dialect: str | None = None) -> DeclaredSchema:
    """Read what an SQL file, a folder of them or a glob declares.

    ``dialect`` is a name as sqlglot has them (``postgres``, ``tsql``, ...); without it, the text
    decides. Raises UsageError for an unknown dialect, SourceNotFoundError, SourceUnreadableError
    for what isn't text, and EmptySourceError if no table is declared.
    """
    requested = dialect_named(dialect) if dialect else None
    files = read_files(str(path))
    if requested is None:
        detection = detect("\n".join(file.text for file in files))
        chosen, choice = detection.dialect, _describe_choice(detection.dialect, detection.signs)
    else:
        chosen, choice = requested, f"Read as {requested.title}, as requested."
    chosen = _with_escapes(chosen, files)
    script = read_script(files, chosen)
    if not script.creates:
        raise _no_tables(path, files)
    declared = declared_tables(script.schema)
    skipped = (*declared.skipped, *script.skipped)
    if not declared.tables:
        raise EmptySourceError(
            f"No table of {path} could be read. {skipped[0].name}: {skipped[0].reason}"
            if skipped
            else f"{path} declares no table that still exists at its end.",
            hint="Give the CREATE TABLE statements, and --dialect if it was mistaken.",
        )
    notes = (
        choice,
        *(note for file in files for note in file.notes),
        count_statements(script),
        *list_faults(script),
        *declared.notes,
        *_list_unknown_types(declared),
    )
    return DeclaredSchema(
        name=_name(path),
        dialect=chosen,
        files=files,
        script=script,
        tables=declared.tables,
        names=declared.names,
        skipped=skipped,
        notes=notes,
    )


def _with_escapes(dialect: Dialect, files: Sequence[SqlFile]) -> Dialect:
    """Return a dialect as a session has it where a backslash isn't what it is by default."""
    setting = _NO_BACKSLASH if dialect.backslash else _BACKSLASH
    if any(setting.search(file.text) for file in files):
        return replace(dialect, backslash=not dialect.backslash)
    return dialect


def _describe_choice(dialect: Dialect, signs: Sequence[str]) -> str:
    if not signs:
        return "Read as standard SQL: nothing in it points to a dialect."
    return f"Read as {dialect.title} because of {', '.join(signs[:_SIGNS_SHOWN])}."


def _no_tables(path: str | Path, files: Sequence[SqlFile]) -> EmptySourceError:
    where = f"{path} has" if len(files) == 1 else f"The {len(files)} files at {path} have"
    views = sum(len(_VIEW.findall(file.text)) for file in files)
    if views:
        return EmptySourceError(
            f"{where} no CREATE TABLE statement, only {views:,} CREATE VIEW; views aren't read.",
            hint="Add the DDL of the tables that they select from, or forge the database itself.",
        )
    return EmptySourceError(
        f"{where} no CREATE TABLE statement.",
        hint="Give a file of DDL, such as pg_dump --schema-only or SHOW CREATE TABLE prints.",
    )


def _list_unknown_types(declared: DeclaredTables) -> list[str]:
    if not declared.unknown_types:
        return []
    counts = sorted(declared.unknown_types.items())
    listed = ", ".join(f"{name} ({count})" for name, count in counts)
    return [f"These types aren't known and are read as text: {listed}."]


def _name(path: str | Path) -> str:
    place = Path(path)
    name = place.name if place.is_dir() else place.name.split(".")[0].strip("*?[]")
    name = name or place.resolve().name.split(".")[0] or "ddl"
    return name_of_path(place, name)


def _open(
    name: str, tables: Sequence[Table], skipped: Sequence[Skipped], notes: Sequence[str]
) -> Source:
    """Create every table, empty, on a connection of its own."""
    places = unique_names(table.name for table in tables)
    with starting() as engine:
        engine.connection.begin()
        engine.connection.execute(f"CREATE SCHEMA {quote(_HOME)}")
        for table, place in zip(tables, places, strict=True):
            columns = ", ".join(f"{quote(column.alias)} {column.type}" for column in table.columns)
            engine.connection.execute(f"CREATE TABLE {_relation(place)} ({columns})")
        engine.connection.commit()
        return OpenSource(
            kind="ddl",
            name=name,
            connection=engine.connection,
            tables=tuple(
                replace(
                    table,
                    relation=_relation(place),
                    columns=_typed(table, engine.connection.sql(f"FROM {_relation(place)}")),
                )
                for table, place in zip(tables, places, strict=True)
            ),
            skipped=tuple(skipped),
            notes=tuple(notes),
            has_data=False,
            cleanup=[engine],
        )


def _relation(place: str) -> str:
    # With its database, as it's also looked up from within another one.
    return f"memory.{quote(_HOME)}.{quote(place)}"


def _typed(table: Table, relation: duckdb.DuckDBPyRelation) -> tuple[Column, ...]:
    """Return a table's columns with DuckDB's spelling of their types."""
    return tuple(
        replace(column, type=str(type_))
        for column, type_ in zip(table.columns, relation.types, strict=True)
    )
