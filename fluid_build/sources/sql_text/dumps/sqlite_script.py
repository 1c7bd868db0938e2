"""A SQLite dump, run in a database of its own: its rows are expressions as often as literals."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.addresses.kinds import DUMP
from fluid_build.sources.base import OpenSource
from fluid_build.sources.databases.sqlite.file import open_sqlite
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.row_statements import inner_header
from fluid_build.sources.sql_text.ddl.source import DeclaredSchema, in_schemas
from fluid_build.sources.sql_text.ddl.statements import Statement, split
from fluid_build.sources.text_values.personal_text import without_values
from fluid_build.temporary import owned_folder

_ALLOWED = frozenset(
    (
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_CREATE_VIEW,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_DROP_TABLE,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_ALTER_TABLE,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
        sqlite3.SQLITE_REINDEX,
        sqlite3.SQLITE_ANALYZE,
    )
)
"""What a dump needs. ATTACH and VACUUM INTO would write files, PRAGMA could unlock more."""
_FUNCTIONS = frozenset(("replace", "char", "unistr", "cast", "length", "substr", "hex", "abs"))
"""What SQLite's own dumps call, and a few that can't do harm."""
_INSTRUCTIONS = (200_000_000, 20)
"""Of SQLite's virtual machine, and how many more for each character of the dump: several times what
literal rows and their indexes take, and an end to a statement that goes on for ever."""
_STEP = 1_000_000
_PAGE = 4096
_SMALLEST_LIMIT = 256 * 1024 * 1024
_EXPANSION = 8
"""Bytes of the database for each character of the dump, where that is more: rows take less than
their text, and several indexes repeat them."""
_LONGEST_VALUE = 1024 * 1024
"""Bytes of a value or a row that are always allowed: ``replace`` could make a gigabyte of ten."""
_UTF8 = 4
_SHOWN = 3
_CODE = re.compile(
    r"\\(?:\\|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4}))"
)
_TRANSACTION = ("BEGIN", "COMMIT", "END", "ROLLBACK", "PRAGMA")


def open_sqlite_script(place: str, ddl: DeclaredSchema, options: OpenOptions) -> OpenSource:
    """Run a dump of SQLite in a temporary database, and open that.

    Raises SourceUnreadableError where none of it can be run, or one statement undoes the others,
    and SourceNotFoundError for a schema that it doesn't have.
    """
    in_schemas(ddl, options.schemas)
    folder = owned_folder()
    try:
        file = folder.path / "dump.sqlite"
        failures = _run(ddl.files, ddl.dialect, str(file))
        opened = open_sqlite(str(file), options)
    except BaseException:
        folder.cleanup()
        raise
    opened.kind = DUMP.name
    opened.name = ddl.name
    opened.cleanup.append(folder)
    opened.notes = (*ddl.notes[:1], *failures, *opened.notes)
    opened.tables = tuple(replace(table, origin=None) for table in opened.tables)
    if not opened.tables:
        raise SourceUnreadableError(
            f"No statement of {place} could be run. {' '.join(failures)}",
            hint="Check that it is what .dump of the sqlite3 shell wrote.",
        )
    return opened


def _run(files: Sequence[SqlFile], dialect: Dialect, place: str) -> list[str]:
    """Run the statements of files, and return notes on those that failed.

    Raises SourceUnreadableError where one undid those before it, as SQLite does when a bound is
    reached.
    """
    failures: list[str] = []
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.create_function("unistr", 1, _unistr, deterministic=True)
        _set_bounds(connection, [len(file.text) for file in files])
        connection.set_authorizer(_authorize)
        connection.execute("BEGIN")
        for file in files:
            failures += _run_file(connection, file, dialect)
        connection.execute("COMMIT")
    return failures


def _set_bounds(connection: sqlite3.Connection, sizes: Sequence[int]) -> None:
    """Bound the time, the disk and the memory that statements take, by the characters of files."""
    least, for_each = _INSTRUCTIONS
    budget = iter(range((least + for_each * sum(sizes)) // _STEP))
    connection.set_progress_handler(lambda: next(budget, None) is None, _STEP)
    pages = max(_SMALLEST_LIMIT, _EXPANSION * sum(sizes)) // _PAGE
    connection.execute(f"PRAGMA page_size = {_PAGE}")
    connection.execute(f"PRAGMA max_page_count = {pages}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(_LONGEST_VALUE, _UTF8 * max(sizes)))


def _run_file(connection: sqlite3.Connection, file: SqlFile, dialect: Dialect) -> list[str]:
    failed: list[str] = []
    for statement in split(file.text, dialect, file.name):
        if statement.client or statement.words[0] in _TRANSACTION:
            continue
        _, end = statement.rows or (0, statement.tokens[-1].end)
        try:
            connection.execute(file.text[statement.tokens[0].start : end])
        except (sqlite3.Error, sqlite3.Warning) as error:
            what = " ".join((statement.words[0], *_written(file, statement, dialect)))
            line = f"line {statement.line}, {what} ({without_values(str(error))})"
            if not connection.in_transaction:
                raise SourceUnreadableError(
                    f"{file.name} can't be read: all that comes before {line} would be lost.",
                    hint="Remove that statement from the dump.",
                ) from None
            failed.append(line)
    if not failed:
        return []
    shown = "; ".join(failed[:_SHOWN])
    count = "1 statement" if len(failed) == 1 else f"{len(failed):,} statements"
    return [f"{count} of {file.name} couldn't be run: {shown}."]


def _written(file: SqlFile, statement: Statement, dialect: Dialect) -> list[str]:
    """Return the name of the table that an INSERT writes to, if it can be read."""
    if statement.rows is None:
        return []
    header = inner_header(file.text, *statement.rows, dialect)
    return [] if header is None else [header.table.name.text]


def _authorize(
    action: int, _first: str | None, second: str | None, _database: str | None, _cause: str | None
) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _unistr(text: str | None) -> str | None:
    """Do what SQLite's function of that name does, which its older versions lack.

    https://www.sqlite.org/lang_corefunc.html#unistr
    """
    return None if text is None else _CODE.sub(_character, text)


def _character(code: re.Match[str]) -> str:
    digits = code[1] or code[2] or code[3] or code[4]
    return chr(int(digits, 16)) if digits else "\\"
