"""A SQLite file, staged into DuckDB; the file and its folder are never touched.

A database in WAL mode is read from a private copy: even a read-only connection would otherwise
make a ``-shm`` beside it. So is one with a hot journal, which only a writer can roll back.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import quote as url_quote

import duckdb

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreadableError,
)
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.kinds import SQLITE
from fluid_build.sources.base import Column, OpenSource, Skipped, Table
from fluid_build.sources.databases.sqlite.catalog import (
    CatalogTable,
    key_collations,
    read_table,
    table_names,
    view_names,
)
from fluid_build.sources.databases.sqlite.values import (
    WOULD_BEND,
    WOULD_FAIL,
    Reading,
    exact_query,
    read_exactly,
    read_fast,
)
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.sources.declared import settle_foreign_keys, unique_names
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, reason, starting
from fluid_build.sources.engine.extensions import SQLITE_SCANNER
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.loose_references import Collation, note_loose_references
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.origin import InDatabase, NativeQuery
from fluid_build.sources.schemas import no_tables, views_left_out
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.table_choice import TableName
from fluid_build.sources.uri import database_kind

_COLLATIONS = {
    "NOCASE": Collation(
        "NOCASE", "the case of A to Z", f"translate({{}}, '{ascii_uppercase}', '{ascii_lowercase}')"
    ),
    "RTRIM": Collation("RTRIM", "last spaces", "rtrim({}, ' ')"),
}
"""Those that SQLite has by itself; of a program's own, only the name is known."""
_VIEW = "It's a view, which declares no keys."
_BUSY_SECONDS = 3.0
_COPY_ATTEMPTS = 5
_BATCH = 50
_LARGE_ROWS = 50_000


def open_sqlite(place: str, options: OpenOptions) -> OpenSource:
    """Stage every table of a SQLite file.

    Raises SourceUnreadableError where it is locked, corrupt or another kind of file, and
    EmptySourceError where it has no table.
    """
    path = Path(place)
    size = _check(path)
    with starting(options.memory_limit, extensions=[SQLITE_SCANNER]) as engine:
        engine.stage(size)
        with _reading(path, engine.folder) as (reader, readable):
            views = view_names(reader)
            names = _names(reader, views if options.views else [])
            if not names:
                raise no_tables(path.name, views=len(views))
            names = selected_tables(names, _table_name, options)
            options.on_tables([_table_name(name) for name in names])
            engine.connection.execute(
                f"ATTACH {literal(str(readable))} AS origin (TYPE sqlite, READ_ONLY)"
            )
            tables, skipped = _stage_all(
                engine.connection, reader, readable, names, options.on_progress
            )
            engine.connection.execute("DETACH origin")
            collations = {
                ("", table.name, column): _COLLATIONS.get(collation.upper(), Collation(collation))
                for table in tables
                for column, collation in key_collations(reader, table.name).items()
            }
        if not tables:
            raise SourceUnreadableError(
                f"None of the {len(names)} tables of {path.name} could be read."
                f" {skipped[0].reason}",
                hint="Check the file with: sqlite3 FILE 'PRAGMA integrity_check'.",
            )
        settled = settle_foreign_keys(
            [
                replace(table, notes=(*table.notes, _VIEW)) if table.name in views else table
                for table in tables
            ]
        )
        return OpenSource(
            kind="sqlite",
            name=name_of_path(path, path.stem),
            connection=engine.connection,
            tables=note_loose_references(engine.connection, settled, collations),
            skipped=tuple(skipped),
            notes=(views_left_out("views", len(views)),) if views and not options.views else (),
            cleanup=[engine],
        )


def _names(reader: sqlite3.Connection, views: list[str]) -> list[str]:
    return sorted((*table_names(reader), *views), key=lambda name: (name.lower(), name))


def _table_name(name: str) -> TableName:
    return TableName(name, "main", name)


def _check(path: Path) -> int:
    """Return the file's size in bytes, once it is known to be a SQLite file (or an empty one)."""
    try:
        with path.open("rb"):
            size = path.stat().st_size
    except FileNotFoundError:
        raise SourceNotFoundError(f"{path} doesn't exist.", hint="Check the path.") from None
    except OSError as error:
        raise SourceUnreadableError(
            f"{path} can't be read: {error.strerror}.", hint="Check its permissions."
        ) from None
    if size and database_kind(path) is not SQLITE:
        raise SourceUnreadableError(
            f"{path.name} isn't a SQLite database, or it's encrypted.",
            hint="Check the file. Pass a DuckDB file as duckdb:///path.",
        )
    return size


@contextmanager
def _reading(path: Path, folder: Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    """Provide a connection that holds one read transaction open, and the path it reads from."""
    place = _copied(path, folder) if _is_wal(path) else path
    try:
        reader = _opened(place)
    except sqlite3.OperationalError as error:
        if place != path or not Path(f"{path}-journal").exists() or "locked" in str(error):
            raise _unreadable(path, error) from None
        reader, place = _recovered(path, folder)
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from None
    with closing(reader):
        try:
            yield reader, place
        except sqlite3.DatabaseError as error:
            raise _unreadable(path, error) from None


def _is_wal(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"


def _opened(path: Path, mode: str = "ro") -> sqlite3.Connection:
    reader = sqlite3.connect(
        f"file:{url_quote(str(path.absolute()))}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
    )
    try:
        reader.text_factory = lambda raw: raw.decode("utf-8", "replace")
        # SQLite would not notice a Ctrl-C; each callback gives Python the chance to.
        reader.set_progress_handler(lambda: 0, 200_000)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        reader.close()
        raise
    return reader


def _recovered(path: Path, folder: Path) -> tuple[sqlite3.Connection, Path]:
    place = _copied(path, folder)
    try:
        return _opened(place, mode="rw"), place
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from None


def _copied(path: Path, folder: Path) -> Path:
    """Return a private copy of a database with its log, taken at a moment when neither changed."""
    parts = [Path(f"{path}{suffix}") for suffix in ("", "-wal", "-journal")]
    for _ in range(_COPY_ATTEMPTS):
        before = [_state(part) for part in parts]
        for part in parts:
            copy = folder / f"copy.db{part.name.removeprefix(path.name)}"
            copy.unlink(missing_ok=True)
            if part.exists():
                shutil.copyfile(part, copy)
        if [_state(part) for part in parts] == before:
            return folder / "copy.db"
    raise SourceUnreadableError(
        f"{path.name} is being written to, so a consistent copy couldn't be made.",
        hint="Try again when nothing is writing to it, or pass a copy made with: "
        "sqlite3 FILE '.backup COPY'.",
    )


def _state(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_size, stat.st_mtime_ns


def _unreadable(path: Path, error: sqlite3.Error) -> SourceError | KeyboardInterrupt:
    message = str(error)
    if message == "interrupted":
        return KeyboardInterrupt()
    if "locked" in message:
        return SourceUnreadableError(
            f"{path.name} is locked: another process is writing to it.",
            hint="Close the other program, or try again in a moment.",
        )
    return SourceUnreadableError(
        f"{path.name} can't be read as a SQLite database: {message}.",
        hint="Check the file with: sqlite3 FILE 'PRAGMA integrity_check'.",
    )


class _TableFailedError(Exception):
    """A table that could not be read, and took the transaction that it was read in with it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name
        self.why = why


@dataclass
class _Staging:
    """The work of staging all tables, and what came of it."""

    connection: duckdb.DuckDBPyConnection
    reader: sqlite3.Connection
    path: Path
    relations: dict[str, str]
    on_progress: OnProgress
    started: set[str] = field(default_factory=set)
    exactly: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)


def _stage_all(
    connection: duckdb.DuckDBPyConnection,
    reader: sqlite3.Connection,
    path: Path,
    names: list[str],
    on_progress: OnProgress,
) -> tuple[list[Table], list[Skipped]]:
    relations = {
        name: f"{quote(STAGE)}.main.{quote(alias)}"
        for name, alias in zip(names, unique_names(names), strict=True)
    }
    staging = _Staging(connection, reader, path, relations, on_progress)
    tables: list[Table] = []
    for batch, is_large in _batches(reader, names):
        tables += _stage_batch(staging, batch, is_large=is_large)
    on_progress(Progress("reading", len(names), len(names)))
    position = {name: i for i, name in enumerate(names)}
    return sorted(tables, key=lambda table: position[table.name]), staging.skipped


def _batches(reader: sqlite3.Connection, names: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Small tables together, as a transaction costs more than reading one; large ones alone."""
    small: list[str] = []
    for name in names:
        if _is_large(reader, name):
            yield [name], True
        else:
            small.append(name)
    for start in range(0, len(small), _BATCH):
        yield small[start : start + _BATCH], False


def _is_large(reader: sqlite3.Connection, name: str) -> bool:
    try:
        (highest,) = reader.execute(f"SELECT max(rowid) FROM {quote(name)}").fetchone()
    except sqlite3.DatabaseError:
        # It has no rowid, or is broken, which shows when it is read.
        return False
    return isinstance(highest, int) and highest > _LARGE_ROWS


def _stage_batch(staging: _Staging, names: list[str], *, is_large: bool) -> list[Table]:
    """Stage tables in one transaction, and again without the fast way for one that failed."""
    # Every thread of a scan opens the database anew; only a large table is worth that.
    single = str(not is_large).lower()
    staging.connection.execute(f"SET sqlite_disable_multithreaded_scans = {single}")
    remaining = list(names)
    while True:
        staging.connection.execute("BEGIN")
        try:
            tables = [_stage(staging, name, is_large=is_large) for name in remaining]
        except _TableFailedError as failure:
            staging.connection.execute("ROLLBACK")
            if failure.name in staging.exactly:
                staging.skipped.append(Skipped(failure.name, failure.why))
                remaining.remove(failure.name)
            staging.exactly.add(failure.name)
        else:
            staging.connection.execute("COMMIT")
            return tables


def _stage(staging: _Staging, name: str, *, is_large: bool) -> Table:
    staging.started.add(name)
    report = Progress("reading", len(staging.started) - 1, len(staging.relations), name)
    with following(staging.connection, staging.on_progress, report):
        return _read_in(staging, name, is_large=is_large)


def _read_in(staging: _Staging, name: str, *, is_large: bool) -> Table:
    relation = staging.relations[name]
    (encoding,) = staging.reader.execute("PRAGMA encoding").fetchone()
    doubts = WOULD_BEND if is_large else WOULD_FAIL
    readings = query = None
    try:
        table = read_table(staging.reader, name)
        if name not in staging.exactly:
            readings = read_fast(staging.connection, staging.reader, table, relation, doubts=doubts)
        if readings is None:
            staging.exactly.add(name)
            utf8 = encoding == "UTF-8"
            readings = read_exactly(staging.connection, table, relation, utf8=utf8)
            query = exact_query(table, readings, utf8=utf8)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        raise _TableFailedError(name, reason(error, staging.path)) from None
    except sqlite3.DatabaseError as error:
        if str(error) == "interrupted":
            raise
        staging.exactly.add(name)
        raise _TableFailedError(name, f"SQLite says: {error}.") from None
    return _table(table, readings, relation, query)


def _table(
    declared: CatalogTable, readings: list[Reading], relation: str, query: NativeQuery | None
) -> Table:
    columns = tuple(
        Column(
            name=column.name,
            type=reading.type,
            declared_type=column.declared_type,
            nullable=column.nullable,
            generated=column.generated,
            notes=(reading.note,) if reading.note else (),
        )
        for column, reading in zip(declared.columns, readings, strict=True)
    )
    table = Table(
        name=declared.name,
        columns=columns,
        relation=relation,
        primary_key=declared.primary_key,
        unique_keys=declared.unique_keys,
        foreign_keys=declared.foreign_keys,
        origin=InDatabase("main", declared.name, query),
    )
    notes = tuple(f"{column.name}: {note}" for column in columns for note in column.notes)
    return replace(table, notes=notes)
