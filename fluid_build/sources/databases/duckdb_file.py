"""A DuckDB file, attached read-only and read in place."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.errors import SourceNotFoundError, SourceUnreadableError
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.kinds import DUCKDB, SQLITE
from fluid_build.sources.base import Column, DeclaredForeignKey, OpenSource, Skipped, Table
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.sources.declared import qualified, settle_foreign_keys
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, Engine, reason, starting
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.origin import InDatabase
from fluid_build.sources.schemas import (
    chosen_schemas,
    no_tables,
    views_left_out,
    warehouses_left_out,
    without_warehouses,
)
from fluid_build.sources.selection import placed_name, selected_tables
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.table_choice import TableName
from fluid_build.sources.uri import database_kind

# Views of a DuckDB file, which may read anything that DuckDB can, and so are checked first.

VIEW_NOTE = "It's a view, which declares no keys."

_INSIDE = frozenset(
    (
        "SEQ_SCAN",
        "TABLE_SCAN",
        "INDEX_SCAN",
        "COLUMN_DATA_SCAN",
        "CHUNK_SCAN",
        "DELIM_SCAN",
        "CTE_SCAN",
        "REC_CTE_SCAN",
        "RECURSIVE_CTE_SCAN",
        "DUMMY_SCAN",
        "EMPTY_RESULT",
        "RANGE",
        "GENERATE_SERIES",
        "UNNEST",
        "JSON_EACH",
        "JSON_TREE",
    )
)
"""Where the rows of a plan may come from: tables of the file, and functions of values."""


class UnreadableViewError(Exception):
    """A view that isn't run. Its text is the reason."""


def check_view(connection: duckdb.DuckDBPyConnection, place: str) -> None:
    """Raise UnreadableViewError for a view that reads more than tables of its own database.

    A stranger's file mustn't decide which files of this machine are read.
    """
    rows = connection.execute(f"EXPLAIN (FORMAT json) FROM {place}").fetchall()
    plans = json.loads(rows[-1][1])
    outside = sorted({name for plan in plans for name in _leaves(plan)} - _INSIDE)
    if outside:
        raise UnreadableViewError(
            f"It's a view that reads more than tables of this database ({', '.join(outside)})."
            " Pass the files that it reads as the source."
        )


def _leaves(plan: Mapping[str, object]) -> Iterator[str]:
    children = plan.get("children")
    if isinstance(children, list) and children:
        for child in children:
            yield from _leaves(child)
    else:
        yield str(plan.get("name", "")).strip().upper()


# DuckDB prints an index as [a, '"b c"']: plain names bare, others quoted twice.
_INDEX_PART = re.compile(r"""'"(?:[^"]|"")*"'|"(?:[^"]|"")*"|[^,\s][^,]*""")


@dataclass(frozen=True, slots=True)
class _Relation:
    """A table or view of the file, with the statement that creates it."""

    schema: str
    name: str
    comment: str | None
    sql: str
    is_view: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """Its schema and name."""
        return self.schema, self.name


@dataclass(frozen=True, slots=True)
class _Keys:
    primary: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    foreign: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]


def open_duckdb(place: str, options: OpenOptions) -> OpenSource:
    """Attach a DuckDB file.

    Raises SourceUnreadableError where it is locked by another process, corrupt, of a version
    that can't be read or no DuckDB file; SourceNotFoundError for an unknown schema;
    EmptySourceError where there is no table.
    """
    path = Path(place)
    _check(path)
    with starting(options.memory_limit) as engine:
        connection = engine.connection
        _attach(connection, path)
        existing = _schemas(connection)
        chosen = chosen_schemas(options.schemas, existing, path.name)
        own = _own_tables(connection, chosen)
        read, warehouses = without_warehouses(chosen, options.schemas, own)
        tables, skipped = _tables(engine, read, path, options)
        views = 0 if options.views else len(_views(connection, read))
        if not tables:
            if skipped:
                raise SourceUnreadableError(
                    f"No table of {path.name} could be read. {skipped[0].reason}",
                    hint="Restore the file from a backup, or try another copy.",
                )
            raise no_tables(path.name, options.schemas, views=views)
        return OpenSource(
            kind="duckdb",
            name=name_of_path(path, path.stem),
            connection=connection,
            tables=tables,
            skipped=skipped,
            notes=(
                *([views_left_out("views", views)] if views else []),
                *warehouses_left_out(warehouses),
            ),
            cleanup=[engine],
        )


def _check(path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise SourceNotFoundError(f"{path} doesn't exist.", hint="Check the path.") from None
    except OSError as error:
        raise SourceUnreadableError(
            f"{path} can't be read: {error.strerror}.", hint="Check its permissions."
        ) from None
    if database_kind(path) is SQLITE:
        raise SourceUnreadableError(
            f"{path.name} is a SQLite database, not a DuckDB one.",
            hint="Pass it as sqlite:///path.",
        )
    if database_kind(path) is not DUCKDB:
        raise SourceUnreadableError(
            f"{path.name} isn't a DuckDB database.", hint="Check that this is the file you meant."
        )


def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    try:
        connection.execute(f"ATTACH {literal(str(path))} AS origin (TYPE duckdb, READ_ONLY)")
    except DUCKDB_ERRORS as error:
        message = str(error)
        if (
            "lock" in message.lower()
            or "already attached" in message
            or "unique file handle" in message
        ):
            raise SourceUnreadableError(
                f"{path.name} is locked: another process has it open for writing.",
                hint="Close the other program, or pass a copy of the file.",
            ) from None
        raise SourceUnreadableError(
            f"{path.name} can't be read as a DuckDB database: {reason(error)}",
            hint="It may be damaged, or written by a DuckDB version newer than "
            f"{duckdb.__version__}.",
        ) from None


def _schemas(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "SELECT schema_name FROM duckdb_schemas()"
        " WHERE database_name = 'origin' AND NOT internal ORDER BY schema_name"
    ).fetchall()
    return [row[0] for row in rows] + ([] if ("main",) in rows else ["main"])


def _relations(
    connection: duckdb.DuckDBPyConnection, schemas: Sequence[str], *, views: bool
) -> list[_Relation]:
    """Return the tables, and the views if asked for, in order."""
    found = _own_tables(connection, schemas)
    if views:
        found += _views(connection, schemas)
    return sorted(found, key=lambda each: (each.schema, each.name.lower(), each.name))


def _own_tables(connection: duckdb.DuckDBPyConnection, schemas: Sequence[str]) -> list[_Relation]:
    rows = connection.execute(
        "SELECT schema_name, table_name, comment, sql FROM duckdb_tables()"
        " WHERE database_name = 'origin' AND NOT internal AND list_contains(?, schema_name)",
        [list(schemas)],
    ).fetchall()
    return [_Relation(*row) for row in rows]


def _views(connection: duckdb.DuckDBPyConnection, schemas: Sequence[str]) -> list[_Relation]:
    rows = connection.execute(
        "SELECT schema_name, view_name, comment, sql FROM duckdb_views()"
        " WHERE database_name = 'origin' AND NOT internal AND list_contains(?, schema_name)",
        [list(schemas)],
    ).fetchall()
    return [_Relation(schema, name, comment, sql, True) for schema, name, comment, sql in rows]


def _tables(
    engine: Engine, schemas: Sequence[str], path: Path, options: OpenOptions
) -> tuple[tuple[Table, ...], tuple[Skipped, ...]]:
    connection = engine.connection
    existing = _relations(connection, schemas, views=options.views)
    relations = selected_tables(existing, placed_name, options)
    names = dict(
        zip(
            [each.place for each in relations],
            qualified([each.place for each in relations]),
            strict=True,
        )
    )
    if names:
        options.on_tables([TableName(name, *place) for place, name in names.items()])
    if any(each.is_view for each in relations):
        engine.stage(path.stat().st_size)
    columns = _columns(connection, {each.place: each.sql for each in relations})
    keys = _declared(connection)
    tables: list[Table] = []
    skipped: list[Skipped] = []
    for position, each in enumerate(relations):
        name = names[each.place]
        report = Progress("reading", position, len(relations), name)
        options.on_progress(report)
        try:
            relation = _readable_relation(connection, each, position, options.on_progress, report)
        except UnreadableViewError as error:
            skipped.append(Skipped(name, str(error)))
            continue
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            skipped.append(Skipped(name, reason(error)))
            continue
        declared = keys.get(each.place, _Keys((), (), ()))
        tables.append(
            Table(
                name=name,
                columns=columns[each.place],
                relation=relation,
                primary_key=declared.primary,
                unique_keys=declared.unique,
                foreign_keys=tuple(
                    DeclaredForeignKey(own, names.get((each.schema, parent), parent), theirs)
                    for own, parent, theirs in declared.foreign
                ),
                schema=each.schema,
                comment=each.comment,
                notes=(VIEW_NOTE,) if each.is_view else (),
                origin=InDatabase(each.schema, each.name),
            )
        )
    options.on_progress(Progress("reading", len(relations), len(relations)))
    return settle_foreign_keys(tables), tuple(skipped)


def _readable_relation(
    connection: duckdb.DuckDBPyConnection,
    relation: _Relation,
    position: int,
    on_progress: OnProgress,
    report: Progress,
) -> str:
    """Return where the rows can be read: in the file, or in the stage for a view, run once."""
    place = f"origin.{quote(relation.schema)}.{quote(relation.name)}"
    if not relation.is_view:
        connection.execute(f"SELECT * FROM {place} LIMIT 1").fetchone()
        return place
    check_view(connection, place)
    copy = f"{quote(STAGE)}.main.{quote(f'view_{position}')}"
    with following(connection, on_progress, report):
        connection.execute(f"CREATE TABLE {copy} AS FROM {place}")
    return copy


def _columns(
    connection: duckdb.DuckDBPyConnection, definitions: dict[tuple[str, str], str]
) -> dict[tuple[str, str], tuple[Column, ...]]:
    rows = connection.execute(
        "SELECT schema_name, table_name, column_name, data_type, is_nullable, comment"
        " FROM duckdb_columns() WHERE database_name = 'origin' AND NOT internal"
        " ORDER BY schema_name, table_name, column_index"
    ).fetchall()
    result: dict[tuple[str, str], list[Column]] = {place: [] for place in definitions}
    for schema, table, name, type_, nullable, comment in rows:
        if (schema, table) not in result:
            continue
        result[schema, table].append(
            Column(
                name=name,
                type=type_,
                declared_type=type_,
                nullable=nullable,
                comment=comment,
                generated=_is_generated(name, type_, definitions[schema, table]),
            )
        )
    return {place: tuple(columns) for place, columns in result.items()}


def _is_generated(name: str, type_: str, definition: str) -> bool:
    # No catalog function tells; DuckDB prints the definition in one canonical way.
    marks = (f"{spelled} {type_} GENERATED ALWAYS AS(" for spelled in (name, quote(name)))
    return any(f"({mark}" in definition or f", {mark}" in definition for mark in marks)


def _declared(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], _Keys]:
    rows = connection.execute(
        "SELECT schema_name, table_name, constraint_type, constraint_column_names,"
        " referenced_table, referenced_column_names FROM duckdb_constraints()"
        " WHERE database_name = 'origin'"
        " AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')"
        " ORDER BY constraint_index"
    ).fetchall()
    result: dict[tuple[str, str], _Keys] = {}
    for schema, table, kind, columns, parent, theirs in rows:
        keys = result.get((schema, table), _Keys((), (), ()))
        own = tuple(columns)
        if kind == "PRIMARY KEY":
            keys = _Keys(own, keys.unique, keys.foreign)
        elif kind == "UNIQUE":
            keys = _Keys(keys.primary, (*keys.unique, own), keys.foreign)
        else:
            keys = _Keys(keys.primary, keys.unique, (*keys.foreign, (own, parent, tuple(theirs))))
        result[schema, table] = keys
    return _with_unique_indexes(connection, result)


def _with_unique_indexes(
    connection: duckdb.DuckDBPyConnection, keys: dict[tuple[str, str], _Keys]
) -> dict[tuple[str, str], _Keys]:
    rows = connection.execute(
        "SELECT i.schema_name, i.table_name, i.expressions,"
        " list(c.column_name ORDER BY c.column_index)"
        " FROM duckdb_indexes() i JOIN duckdb_columns() c USING (database_name, schema_name,"
        " table_name) WHERE i.database_name = 'origin' AND i.is_unique AND NOT i.is_primary"
        " GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    for schema, table, expressions, names in rows:
        spelled = {text: name for name in names for text in (name, quote(name), f"'{quote(name)}'")}
        parts = _INDEX_PART.findall(expressions[1:-1])
        columns = tuple(spelled.get(part, "") for part in parts)
        known = keys.get((schema, table), _Keys((), (), ()))
        if all(columns) and columns not in (known.primary, *known.unique):
            keys[schema, table] = _Keys(known.primary, (*known.unique, columns), known.foreign)
    return keys
