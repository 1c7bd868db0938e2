"""The rows of delimited files, loaded into one table: as text, or typed with every value tested."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from fluid_build.sources.engine.connection import SCRATCH
from fluid_build.sources.files.delimited.dialect import Dialect
from fluid_build.sources.files.delimited.empty_text import (
    Figures,
    may_have_empty_text,
    replace_empty_text,
)
from fluid_build.sources.files.delimited.inner_rows import leave_out_inner
from fluid_build.sources.files.delimited.readable import Readable, options_of, own_names
from fluid_build.sources.files.delimited.repair import Rejected, mend
from fluid_build.sources.files.delimited.tail import notes_on, possibly_below
from fluid_build.sources.files.delimited.text_types import Guess
from fluid_build.sources.files.delimited.trimming import Loaded, ending, trim
from fluid_build.sources.files.hive_keys import key_sql, refuse_other_values
from fluid_build.sources.files.layout import TableFiles, partitions
from fluid_build.sources.origin import LeftOut
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_TEXT = f"{SCRATCH}.text"
_MISFIT = "fluid: a value does not fit the type that its column starts with"

_UNREAD_KEY = "It's empty in a file whose path has a key of its name, which isn't read."


class MisfitError(Exception):
    """The rows don't fit the types that their start suggests; they have to be loaded as text."""


@dataclass(frozen=True, slots=True)
class Target:
    """The table that rows go to, its columns, and by their place the guesses they're read by.

    A column without a guess is text.
    """

    relation: str
    columns: tuple[str, ...]
    guesses: Mapping[int, Guess] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """What came of a file's lines: whether some had to be mended, or were no rows, and notes.

    ``empty_text`` are the figures of columns that are text.
    """

    mended: bool = False
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    empty_text: Figures = field(default_factory=dict)


@contextmanager
def text_table(connection: duckdb.DuckDBPyConnection, width: int) -> Iterator[Target]:
    """Provide a table of text for the time of the block, with columns c0, c1, …"""
    target = Target(_TEXT, tuple(f"c{i}" for i in range(width)))
    create(connection, target)
    try:
        yield target
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {target.relation}")


def create(connection: duckdb.DuckDBPyConnection, target: Target) -> None:
    """Make the table that rows will go to."""
    types = [
        target.guesses[i].type if i in target.guesses else "VARCHAR"
        for i in range(len(target.columns))
    ]
    columns = ", ".join(
        f"{quote(name)} {type_}" for name, type_ in zip(target.columns, types, strict=True)
    )
    connection.execute(f"CREATE TABLE {target.relation} ({columns})")


def load(
    connection: duckdb.DuckDBPyConnection,
    file: Readable,
    names: Sequence[str],
    table: TableFiles,
    target: Target,
    folder: Path,
) -> LoadedFile:
    """Append a file to a table, with the lines that DuckDB refuses mended.

    Raises MisfitError where a value doesn't fit the guess on its column, and where only text tells
    whether the last lines are rows.
    """
    records = ending(connection, file.place, file.dialect)
    if target.guesses and possibly_below(records, len(file.dialect.names)):
        raise MisfitError
    sources = column_sql(file, names, table)
    first = _rows_so_far(connection, target)
    has_empty_text = may_have_empty_text(file)
    rejected = _insert(
        connection, file.place, file.dialect, sources, target, has_empty_text=has_empty_text
    )
    empty: Figures = {}
    if has_empty_text:
        text = {names[i]: target.columns[i] for i in sources if i not in target.guesses}
        empty = replace_empty_text(connection, target.relation, first, text)
    columns = tuple(quote(target.columns[names.index(name)]) for name in own_names(file.dialect))
    loaded = Loaded(target.relation, columns, first)
    inner = () if target.guesses else leave_out_inner(connection, file, loaded)
    trimmed = trim(connection, file.place, file.dialect, loaded, rejected, records)
    rejected = trimmed.rejected
    own = own_names(file.dialect)
    unread_keys = []
    for key, value in partitions(file.source, table.root).items():
        if key in own:
            own_column = f"{quote(target.columns[names.index(key)])} AS {quote(key)}"
            rows = f"(SELECT {own_column} FROM {target.relation} WHERE rowid >= {first})"
            if refuse_other_values(connection, rows, key, key, value):
                unread_keys.append(f"{key}: {_UNREAD_KEY}")
    lines = sorted((*inner, *trimmed.left_out), key=lambda line: line.line)
    left_out = tuple(replace(line, file=file.source.name) for line in lines)
    notes = [*unread_keys, *notes_on(left_out, named=len(table.paths) > 1)]
    where = f" of {file.source.name}" if len(table.paths) > 1 else ""
    if kept := trimmed.note_on_kept(where):
        notes.append(kept)
    if not rejected:
        return LoadedFile(left_out=left_out, notes=tuple(notes), empty_text=empty)
    mended = mend(file.place, file.dialect, rejected)
    copy = folder / "mended.csv"
    with copy.open("w", encoding="utf-8", newline="") as place:
        csv.writer(place, lineterminator="\n").writerows(mended.rows)
    plain = Dialect(",", '"', False, 0, file.dialect.names)
    lost = _insert(connection, copy, plain, sources, target)
    copy.unlink()
    notes += mended.notes(file.source.name if len(table.paths) > 1 else "")
    if lost:
        notes.append(f"{len(lost)} lines couldn't be read and were left out.")
    return LoadedFile(True, left_out, tuple(notes), empty)


def column_sql(file: Readable, names: Sequence[str], table: TableFiles) -> dict[int, str]:
    """Return the SQL of each of the table's columns that a file gives, by the column's place."""
    sources = {names.index(name): f"f{i}" for i, name in enumerate(own_names(file.dialect))}
    for key, value in table.values_of_path(file.source).items():
        sources.setdefault(names.index(key), key_sql(value))
    return sources


def start_of_rows(file: Readable, sources: Mapping[int, str], rows_wanted: int) -> str:
    """Return a query for the first rows of a file that need no repair, with columns c0, c1, …"""
    chosen = ", ".join(f"{sql} AS c{i}" for i, sql in sorted(sources.items()))
    rows = (
        f"read_csv({_place(file.place)}, {_layout(file.place, file.dialect)}, ignore_errors=true)"
    )
    return f"(SELECT {chosen} FROM {rows} LIMIT {rows_wanted})"


def _rows_so_far(connection: duckdb.DuckDBPyConnection, target: Target) -> int:
    row = connection.execute(
        f"SELECT coalesce(max(rowid) + 1, 0) FROM {target.relation}"
    ).fetchone()
    return int(row[0]) if row else 0


def _place(path: Path) -> str:
    """Return a path as SQL.

    As a parameter, DuckDB would import pandas where that's installed, and lose a Ctrl-C meanwhile.
    """
    return literal(as_pattern(str(path)))


def _layout(path: Path, dialect: Dialect) -> str:
    columns = ", ".join(f"f{i}: 'VARCHAR'" for i in range(len(dialect.names)))
    options = ", ".join(f"{name}={value}" for name, value in options_of(path, dialect))
    return f"auto_detect=false, columns={{{columns}}}, {options}"


def _insert(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    dialect: Dialect,
    sources: Mapping[int, str],
    target: Target,
    *,
    has_empty_text: bool = False,
) -> list[Rejected]:
    """Append what DuckDB can read of a file to a table; hand back the lines it can't.

    Where the file ``has_empty_text``, columns of text get it as such, and others null for it.
    """
    into = ", ".join(quote(target.columns[i]) for i in sources)
    read = {
        i: f"nullif({sql}, '')" if has_empty_text and i in target.guesses else sql
        for i, sql in sources.items()
    }
    attempted = ", ".join(
        f"{sql} AS t{i}"
        + (f", {target.guesses[i].attempt(sql)} AS v{i}" if i in target.guesses else "")
        for i, sql in read.items()
    )
    quoted_nulls = ", allow_quoted_nulls=false" if has_empty_text else ""
    failing = f"error({literal(_MISFIT)})"
    values = ", ".join(
        target.guesses[i].value(f"t{i}", f"v{i}", failing) if i in target.guesses else f"t{i}"
        for i in sources
    )
    sql = (
        f"INSERT INTO {target.relation} ({into}) SELECT {values} FROM (SELECT {attempted}"
        f" FROM read_csv({_place(path)}, {_layout(path, dialect)}, store_rejects=true,"
        f" rejects_limit=0, rejects_table='rejected', rejects_scan='rejected_scans'{quoted_nulls}))"
    )
    try:
        connection.execute(sql)
        if connection.execute("SELECT 1 FROM rejected LIMIT 1").fetchone() is None:
            return []
        rows = connection.execute(
            "SELECT min(CAST(error_type AS VARCHAR)), line_byte_position, min(csv_line)"
            " FROM rejected GROUP BY line_byte_position ORDER BY line_byte_position"
        ).fetchall()
    except duckdb.InvalidInputException as error:
        if target.guesses and _MISFIT in str(error):
            raise MisfitError from None
        raise
    finally:
        connection.execute("DROP TABLE IF EXISTS rejected")
        connection.execute("DROP TABLE IF EXISTS rejected_scans")
    return [Rejected(kind, position or 0, text or "") for kind, position, text in rows]
