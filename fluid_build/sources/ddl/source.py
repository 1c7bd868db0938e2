"""A source with structure and no rows: the tables that SQL files declare."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from fluid_build import limits
from fluid_build.errors import EmptySourceError, SourceUnreadableError
from fluid_build.sources.base import Column, OpenSource, Skipped, Source, Table
from fluid_build.sources.ddl.dialects import Dialect, detect, dialect_named
from fluid_build.sources.ddl.draft import Schema
from fluid_build.sources.ddl.grammar import Meaning
from fluid_build.sources.ddl.meaning import read_statement
from fluid_build.sources.ddl.reader import Reader, UnreadableError
from fluid_build.sources.ddl.schema import build
from fluid_build.sources.ddl.statements import Statement, split
from fluid_build.sources.ddl.tables import Settled, settle
from fluid_build.sources.ddl.text import SqlFile, read_files
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine import starting
from fluid_build.sources.sql import quote

_MOST_SHOWN = 200
_VIEW = re.compile(r"\bCREATE\s{1,9}(?:[A-Z]{1,20}\s{1,9}){0,3}VIEW\b", re.IGNORECASE)
_SIGNS_SHOWN = 3
_HOME = "declared"


@dataclass
class _Reading:
    """The statements of some files, each with its meaning or the reason why it has none."""

    statements: list[Statement] = field(default_factory=list)
    meanings: list[tuple[int, tuple[Meaning, ...], bool]] = field(default_factory=list)
    unread: list[tuple[Statement, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    creates: int = 0


def open_ddl(path: str | Path, *, dialect: str | None = None) -> Source:
    """The tables declared in an SQL file, a folder of them or a glob, each without a row.

    ``dialect`` is a name as sqlglot has them (``postgres``, ``tsql``, ...), else it is found by
    tell-tale words. The source's ``notes`` count the statements by what they were and show those
    that could not be read. Raises UsageError for an unknown dialect, SourceNotFoundError,
    SourceUnreadableError for what is no text, and EmptySourceError where no table is declared.
    """
    given = dialect_named(dialect) if dialect else None
    files = read_files(str(path))
    if given is None:
        detection = detect("\n".join(file.text for file in files))
        how = _how_detected(detection.dialect, detection.signs)
    else:
        how = f"Read as {given.title}, as told."
    spoken = given or detection.dialect
    reading = _read(files, spoken)
    if not reading.creates:
        raise _no_tables(path, files)
    schema = build(spoken, reading.meanings)
    settled = settle(schema)
    skipped = (*settled.skipped, *reading.skipped)
    if not settled.tables:
        raise EmptySourceError(
            f"No table of {path} could be read. {skipped[0].name}: {skipped[0].reason}"
            if skipped
            else f"{path} declares no table that is still there at its end.",
            hint="Give the CREATE TABLE statements, and --dialect if it was mistaken.",
        )
    notes = (
        how,
        *(note for file in files for note in file.notes),
        *_count(reading, schema),
        *_faults(reading, schema, several=len(files) > 1),
        *settled.notes,
        *_unknown_types(settled),
    )
    return _open(_name(path), settled.tables, skipped, notes)


def _how_detected(dialect: Dialect, signs: Sequence[str]) -> str:
    if not signs:
        return "Read as standard SQL: nothing in it tells of a dialect."
    return f"Read as {dialect.title}, told by {', '.join(signs[:_SIGNS_SHOWN])}."


def _read(files: Sequence[SqlFile], dialect: Dialect) -> _Reading:
    reading = _Reading()
    for file in files:
        for statement in split(file.text, dialect, file.name):
            number = len(reading.statements)
            reading.statements.append(statement)
            is_create = statement.words[0] == "CREATE" and "TABLE" in statement.words
            reading.creates += is_create
            if reading.creates > limits.DDL_TABLES.value:
                raise _too_many_tables(file)
            try:
                meanings = read_statement(statement, dialect)
            except UnreadableError as error:
                reading.unread.append((statement, str(error)))
                if is_create:
                    reading.skipped += _skipped(statement, str(error), dialect)
            else:
                reading.meanings.append((number, meanings, statement.terminated))
    return reading


def _too_many_tables(file: SqlFile) -> SourceUnreadableError:
    return SourceUnreadableError(
        f"{file.name} declares more than {limits.DDL_TABLES.value:,} tables.",
        hint=f"Read a part of it. {limits.DDL_TABLES.how_to_raise}",
    )


def _skipped(statement: Statement, reason: str, dialect: Dialect) -> list[Skipped]:
    """The table of a CREATE TABLE that could not be read, if at least its name can."""
    reader = Reader(statement.tokens, dialect)
    try:
        while reader.take().upper != "TABLE":
            pass
        reader.accept("IF", "NOT", "EXISTS")
        name = reader.object_name().name.text
    except UnreadableError:
        return []
    return [Skipped(name, f"Line {statement.line} could not be read: {reason}.")]


def _no_tables(path: str | Path, files: Sequence[SqlFile]) -> EmptySourceError:
    where = f"{path} holds" if len(files) == 1 else f"The {len(files)} files at {path} hold"
    views = sum(len(_VIEW.findall(file.text)) for file in files)
    if views:
        return EmptySourceError(
            f"{where} no CREATE TABLE statement, but {views:,} of CREATE VIEW; views are not read.",
            hint="Add the DDL of the tables that they select from, or forge the database itself.",
        )
    return EmptySourceError(
        f"{where} no CREATE TABLE statement.",
        hint="Give a file of DDL, such as pg_dump --schema-only or SHOW CREATE TABLE prints.",
    )


def _count(reading: _Reading, schema: Schema) -> list[str]:
    """One sentence that accounts for every statement."""
    total, unread = len(reading.statements), len(reading.unread)
    passed = sum(schema.passed.values())
    parts = [f"{total - passed - unread} declare structure"]
    if passed:
        parts.append(f"{passed} say nothing of it ({_tally(schema.passed)})")
    if unread:
        parts.append(f"{unread} could not be read")
    return [f"{total} {'statement' if total == 1 else 'statements'}: {', '.join(parts)}."]


def _tally(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {kind}" for kind, count in ranked)


def _faults(reading: _Reading, schema: Schema, *, several: bool) -> list[str]:
    """A sentence for each statement that could not be read, whole or in part, in order."""

    def place(statement: Statement) -> str:
        return f"{statement.file}, line {statement.line}" if several else f"Line {statement.line}"

    order = {id(statement): number for number, statement in enumerate(reading.statements)}
    found = [
        (order[id(statement)], f"{place(statement)} could not be read ({why}): {statement.opening}")
        for statement, why in reading.unread
    ]
    found += [
        (number, f"{place(reading.statements[number])} was read in part: {fault}.")
        for number, fault in schema.faults
    ]
    shown = [sentence for _, sentence in sorted(found)]
    if len(shown) > _MOST_SHOWN:
        return [*shown[:_MOST_SHOWN], f"{len(shown) - _MOST_SHOWN} more could not be read."]
    return shown


def _unknown_types(settled: Settled) -> list[str]:
    if not settled.unknown_types:
        return []
    listed = ", ".join(f"{name} ({count})" for name, count in sorted(settled.unknown_types.items()))
    return [f"These types are not known and were taken for text: {listed}."]


def _name(path: str | Path) -> str:
    place = Path(path)
    name = place.name if place.is_dir() else place.name.split(".")[0].strip("*?[]")
    return name or place.resolve().name.split(".")[0] or "ddl"


def _open(
    name: str, tables: Sequence[Table], skipped: Sequence[Skipped], notes: Sequence[str]
) -> Source:
    """Make every table, empty, on a connection of its own."""
    places = unique_names(table.name for table in tables)
    with starting() as engine:
        engine.connection.begin()
        engine.connection.execute(f"CREATE SCHEMA {quote(_HOME)}")
        for table, place in zip(tables, places, strict=True):
            columns = ", ".join(f"{quote(column.alias)} {column.type}" for column in table.columns)
            engine.connection.execute(f"CREATE TABLE {_relation(place)} ({columns})")
        engine.connection.commit()
        types = _types(engine.connection)
        return OpenSource(
            kind="ddl",
            name=name,
            connection=engine.connection,
            tables=tuple(
                replace(table, relation=_relation(place), columns=_typed(table, types[place]))
                for table, place in zip(tables, places, strict=True)
            ),
            skipped=tuple(skipped),
            notes=tuple(notes),
            has_data=False,
            cleanup=[engine],
        )


def _relation(place: str) -> str:
    # With its database, as it must be found from within another one too.
    return f"memory.{quote(_HOME)}.{quote(place)}"


def _types(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """DuckDB's spelling of every column's type, by table, in order."""
    rows = connection.execute(
        "SELECT table_name, data_type FROM duckdb_columns() WHERE schema_name = ? "
        "ORDER BY table_oid, column_index",
        [_HOME],
    ).fetchall()
    types: dict[str, list[str]] = {}
    for name, type_ in rows:
        types.setdefault(name, []).append(type_)
    return types


def _typed(table: Table, types: Sequence[str]) -> tuple[Column, ...]:
    return tuple(
        replace(column, type=type_) for column, type_ in zip(table.columns, types, strict=True)
    )
