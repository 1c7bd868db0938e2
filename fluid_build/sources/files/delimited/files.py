"""Delimited text files, staged with the types that all their values fit.

Large files are read once: a column whose start settles its type is read as that type, and each
value tested on the way. Where one doesn't fit, and for small files, all is staged as text first
and typed afterwards.
"""

import csv
import zlib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from fluid_build.sources.base import Column
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine.connection import SCRATCH
from fluid_build.sources.files.delimited.dialect import agreement_of
from fluid_build.sources.files.delimited.empty_text import notes_on_empty_text
from fluid_build.sources.files.delimited.overlong import WHAT_TO_DO, refuse_overlong_lines
from fluid_build.sources.files.delimited.readable import (
    Readable,
    all_names,
    dialect_of,
    options_of,
    own_names,
    readable,
    sample_of,
)
from fluid_build.sources.files.delimited.rows import (
    LoadedFile,
    MisfitError,
    Target,
    column_sql,
    create,
    load,
    start_of_rows,
    text_table,
)
from fluid_build.sources.files.delimited.text_types import (
    Guess,
    TextColumn,
    guess,
    infer,
    sampled_rows,
)
from fluid_build.sources.files.hive_keys import refuse_repeated
from fluid_build.sources.files.layout import TableFiles, partitions
from fluid_build.sources.origin import FilePart, InFiles, LeftOut, Options
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values import encodings
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from fluid_build.text import counted, listed, noun

READ_ERRORS = (OSError, EOFError, zlib.error, csv.Error)
"""What Python raises where a text file can't be read."""

_LEAST_AGREEMENT = 0.8
"""The share of records with the same number of fields below which a file is prose."""

_START = f"{SCRATCH}.start"
_WIDEST = 200
"""Columns up to which one statement tests every value in reasonable time."""

WORTH_A_GUESS = 16 * 1024 * 1024
"""Bytes of files from which on reading them once saves more than looking at their start takes."""


def column_names(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """Return the columns of a delimited file, judged by its start.

    Empty where it holds nothing, or looks like prose rather than a table. Raises one of
    READ_ERRORS or duckdb.Error where it can't be read.
    """
    sample, complete = sample_of(connection, path, encodings.encoding_of_start(path))
    dialect = dialect_of(sample, complete)
    if dialect is None or agreement_of(sample, dialect) < _LEAST_AGREEMENT:
        return ()
    return tuple(own_names(dialect))


def stage_csv(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    relation: str,
    folder: Path,
    answers: Conventions = NO_ANSWERS,
    *,
    encoding: str | None = None,
) -> tuple[tuple[Column, ...], tuple[str, ...], InFiles]:
    """Stage the files of one table; return its columns, notes on its text, and its origin.

    ``folder`` takes temporary files; ``answers`` say how text that fits two conventions is read,
    and ``encoding`` that of text that isn't Unicode.
    Raises ValueError where there is nothing to read, and one of READ_ERRORS or duckdb.Error where a
    file can't be read.
    """
    opened = [readable(connection, path, folder, encoding) for path in files.paths]
    present = [file for file in opened if file is not None]
    if not present:
        raise ValueError("It is empty.")
    for file in present:
        _refuse_overlong(file)
        refuse_overlong_lines(file)
    refuse_repeated(files)
    names = all_names(present, files)
    notes = _notes_on_files(present, len(opened) - len(present))
    loaded, verdicts = _staged(
        connection, _Staging(present, names, files, folder), relation, answers
    )
    blank = _blank_columns(present, verdicts)
    filled = {key[0] for key in verdicts.keys() - blank}
    notes += _notes_on_shifted(connection, relation, present, filled)
    if blank:
        notes.append(f"{counted(len(blank), 'column')} without a name and values left out.")
    for _, alias in blank:
        connection.execute(f"ALTER TABLE {relation} DROP COLUMN {quote(alias)}")
    text = [key for key, verdict in verdicts.items() if verdict.type == "VARCHAR"]
    text = [key for key in text if key not in blank]
    letters = _notes_on_letters(connection, relation, present, text)
    if letters:
        guessed = listed(f"`{name}`" for name, _ in letters)
        notes.append(f"Its letters beyond ASCII are in {guessed}.")
    empty = notes_on_empty_text([file.empty_text for file in loaded], [name for name, _ in text])
    notes += [f"{name}: {note}" for name, note in empty.items()]
    columns = tuple(
        Column(
            name,
            verdict.type,
            alias=alias,
            notes=tuple(
                note
                for note in (
                    verdict.note,
                    verdict.evidence,
                    letters.get((name, alias)),
                    empty.get(name),
                )
                if note
            ),
            spelling=verdict.spelling,
        )
        for (name, alias), verdict in verdicts.items()
        if (name, alias) not in blank
    )
    notes += [note for file in loaded for note in file.notes]
    notes += [f"{name}: {verdict.note}" for (name, _), verdict in verdicts.items() if verdict.note]
    notes += _note_on_comma(verdicts)
    mended = any(file.mended for file in loaded)
    left_out = [line for file in present for line in _titles(file)]
    left_out += [line for file in loaded for line in file.left_out]
    origin = _origin(present, files, verdicts, mended=mended)
    return columns, tuple(notes), replace(origin, left_out=tuple(left_out))


@contextmanager
def text_again(
    connection: duckdb.DuckDBPyConnection, origin: InFiles, names: Sequence[str], folder: Path
) -> Iterator[str]:
    """Provide the text of a table's files, read from the start: a relation with columns c0, c1, …

    ``names`` are the table's columns, in order. Errors as in ``stage_csv``, and ValueError where
    the files have other columns now.
    """
    paths = tuple(path for part in origin.parts for path in part.paths)
    files = TableFiles("", "csv", paths, origin.root, origin.period)
    opened = (
        readable(connection, path, folder, _other_than_utf8(part.encoding))
        for part in origin.parts
        for path in part.paths
    )
    present = [file for file in opened if file is not None]
    blank = [name for name in _unnamed(present) if name not in names]
    if set(all_names(present, files)) != {*names, *blank}:
        raise ValueError("Their columns have changed.")
    with text_table(connection, len(names) + len(blank)) as target:
        _load_all(connection, _Staging(present, (*names, *blank), files, folder), target)
        if any(_holds_text(connection, target, name) for name in target.columns[len(names) :]):
            raise ValueError("Their columns have changed.")
        yield target.relation


def _other_than_utf8(encoding: str) -> str | None:
    return None if encoding == "utf-8" else encoding


def _unnamed(files: Sequence[Readable]) -> list[str]:
    """Return what columns that no file has a name for are called."""
    pairs = [
        (name, given)
        for file in files
        for name, given in zip(own_names(file.dialect), file.dialect.names, strict=True)
    ]
    named = {name for name, given in pairs if given}
    return list(dict.fromkeys(name for name, _ in pairs if name not in named))


def _blank_columns(
    files: Sequence[Readable], verdicts: Mapping[tuple[str, str], TextColumn]
) -> set[tuple[str, str]]:
    """Return the columns without a name and without a value, which are what a table has around it.

    A table without a header has no names, and none is left out where there'd be nothing left.
    """
    if not all(file.dialect.header for file in files):
        return set()
    unnamed = _unnamed(files)
    blank = {key for key, verdict in verdicts.items() if verdict.is_blank and key[0] in unnamed}
    return blank if len(blank) < len(verdicts) else set()


def _notes_on_letters(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    files: Sequence[Readable],
    columns: Sequence[tuple[str, str]],
) -> dict[tuple[str, str], str]:
    """Return a note for each column whose letters would be others in an encoding that fits too.

    Columns come by name and alias.
    """
    guessed = [file.text for file in files if file.text.others]
    if not guessed or not columns:
        return {}
    # A letter beyond ASCII has several bytes in UTF-8.
    tests = (f"bool_or(strlen({quote(alias)}) <> length({quote(alias)}))" for _, alias in columns)
    found = connection.execute(f"SELECT {', '.join(tests)} FROM {relation}").fetchone() or ()
    note = encodings.note_on_letters(guessed[0])
    return {column: note for column, is_beyond in zip(columns, found, strict=True) if is_beyond}


_ALMOST_ALL = 0.9
"""Where so many rows have values without a name, hardly any shows which values the names are of."""


def _refuse_overlong(file: Readable) -> None:
    """Raise ValueError where almost all rows at a file's start have more values than columns."""
    if file.dialect.overlong >= _ALMOST_ALL:
        names = counted(len(file.dialect.names), "name")
        raise ValueError(
            f"The header of {file.source.name} has {names}, but almost all rows have more values."
            f" {WHAT_TO_DO}"
        )


def _notes_on_shifted(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    files: Sequence[Readable],
    filled: Set[str],
) -> Iterator[str]:
    """Yield notes on rows with more values than a header has names, as 1,50 between commas makes.

    ``filled`` are the columns with values. Raises ValueError where almost all rows have more:
    nobody can tell which name is of which value then.
    """
    for file in files:
        names = own_names(file.dialect)
        headed = len(names) - file.dialect.unheaded
        shifted = [name for name in names[headed:] if name in filled]
        if not shifted:
            continue
        condition = " OR ".join(f"{quote(name)} IS NOT NULL" for name in shifted)
        figures = connection.execute(
            f"SELECT count(*) FILTER ({condition}), count(*) FROM {relation}"
        ).fetchone()
        longer, rows = figures or (0, 0)
        what = (
            f"The header of {file.source.name} has {counted(headed, 'name')}, but {longer:,} of"
            f" {counted(rows, 'row')} have more values"
        )
        if longer >= _ALMOST_ALL * rows:
            raise ValueError(
                f"{what}, the first in line {file.dialect.preamble + 2} or below. {WHAT_TO_DO}"
            )
        yield f"{what}: these may be under wrong names. The others are in {listed(shifted)}."


def _holds_text(connection: duckdb.DuckDBPyConnection, target: Target, column: str) -> bool:
    row = connection.execute(f"SELECT count({quote(column)}) FROM {target.relation}").fetchone()
    return bool(row and row[0])


def _notes_on_files(files: Sequence[Readable], empty: int) -> list[str]:
    notes = [note for file in files for note in file.notes]
    if empty:
        notes.append(f"{empty} of its {empty + len(files)} files are empty.")
    notes += [note for file in files if (note := _note_on_titles(file))]
    notes += [note for file in files if (note := _note_on_undivided(file))]
    renamed = dict.fromkeys(
        f"`{chosen}`"
        for file in files
        for name, chosen in zip(file.dialect.names, own_names(file.dialect), strict=True)
        if name and name != chosen
    )
    if renamed:
        notes += [f"Its header has some names twice: the later ones are {listed(renamed)}."]
    if any(not file.dialect.header for file in files):
        notes.append("It has no header, so its columns are named by position.")
    if len({frozenset(own_names(file.dialect)) for file in files}) > 1:
        notes.append("Its files have different columns; missing columns are null.")
    return notes


def _titles(file: Readable) -> list[LeftOut]:
    """Return the lines before the table; the one that names the delimiter says nothing else."""
    first = 2 if file.dialect.declared else 1
    lines = range(first, file.dialect.preamble + 1 - file.dialect.groups)
    return [LeftOut(file.source.name, line, "title") for line in lines]


def _note_on_titles(file: Readable) -> str:
    lines = [title.line for title in _titles(file)]
    if not lines:
        return ""
    if len(lines) == 1:
        return f"Line {lines[0]} of {file.source.name} is above the table and was left out."
    return (
        f"Lines {lines[0]} to {lines[-1]} of {file.source.name} are above the table and were left"
        " out."
    )


def _note_on_undivided(file: Readable) -> str:
    mark = file.dialect.undivided
    if not mark:
        return ""
    return (
        f"Read as the single column {file.dialect.names[0] or 'column1'}: {file.source.name} has"
        f" {mark!r} in its lines, but not in the first. If that is a title, leave a blank line"
        " below it."
    )


def _note_on_comma(verdicts: Mapping[tuple[str, str], TextColumn]) -> list[str]:
    with_comma = [name for (name, _), verdict in verdicts.items() if verdict.spelling == ","]
    if not with_comma:
        return []
    columns = f"{noun(len(with_comma), 'column')} {listed(f'`{name}`' for name in with_comma)}"
    return [f"Numbers are read with a comma as the decimal mark in {columns}."]


@dataclass(frozen=True, slots=True)
class _Staging:
    """What is to be staged: the files that hold something, and the columns of all of them."""

    present: Sequence[Readable]
    names: Sequence[str]
    table: TableFiles
    folder: Path

    @property
    def is_worth_a_guess(self) -> bool:
        """Whether the files are large, and no wider than one statement can well test."""
        size = sum(file.place.stat().st_size for file in self.present)
        return size >= WORTH_A_GUESS and len(self.names) <= _WIDEST

    @property
    def text(self) -> frozenset[int]:
        """The columns that stay text, by their place: as a number, 2024.1 would be 2024.10."""
        period = self.table.period
        return frozenset((self.names.index(period.name),)) if period else frozenset()


def _staged(
    connection: duckdb.DuckDBPyConnection,
    staging: _Staging,
    relation: str,
    answers: Conventions,
) -> tuple[list[LoadedFile], dict[tuple[str, str], TextColumn]]:
    """Stage the files as ``relation``; what came of each, and the verdict on each column.

    The verdicts stand by name and alias, in order.
    """
    aliases = unique_names(staging.names)
    if staging.is_worth_a_guess:
        try:
            loaded, verdicts = _typed_at_once(connection, staging, relation, aliases, answers)
        except MisfitError:
            connection.execute(f"DROP TABLE IF EXISTS {relation}")
        else:
            return loaded, _by_name(staging.names, aliases, verdicts)
    with text_table(connection, len(staging.names)) as target:
        loaded = _load_all(connection, staging, target)
        text = [target.columns[i] for i in staging.text]
        verdicts = infer(
            connection, target.relation, target.columns, staging.names, answers, text=text
        )
        chosen = ", ".join(
            f"{verdict.of(column)} AS {quote(alias)}"
            for column, verdict, alias in zip(target.columns, verdicts, aliases, strict=True)
        )
        connection.execute(f"CREATE TABLE {relation} AS SELECT {chosen} FROM {target.relation}")
    return loaded, _by_name(staging.names, aliases, verdicts)


def _by_name(
    names: Sequence[str], aliases: Sequence[str], verdicts: Sequence[TextColumn]
) -> dict[tuple[str, str], TextColumn]:
    return dict(zip(zip(names, aliases, strict=True), verdicts, strict=True))


def _load_all(
    connection: duckdb.DuckDBPyConnection, staging: _Staging, target: Target
) -> list[LoadedFile]:
    return [
        load(connection, file, staging.names, staging.table, target, staging.folder)
        for file in staging.present
    ]


def _typed_at_once(
    connection: duckdb.DuckDBPyConnection,
    staging: _Staging,
    relation: str,
    aliases: Sequence[str],
    answers: Conventions,
) -> tuple[list[LoadedFile], list[TextColumn]]:
    """Load the files with the types that their start settles; then type the columns left as text.

    Raises MisfitError where a later value, or what stands below a table, says otherwise.
    """
    columns = _placeholders(aliases)
    guesses = _guesses(connection, staging)
    target = Target(relation, columns, guesses)
    create(connection, target)
    loaded = _load_all(connection, staging, target)
    proven = {columns[i]: guessed for i, guessed in guesses.items()}
    text = [columns[i] for i in staging.text]
    verdicts = infer(connection, relation, columns, staging.names, answers, proven, text)
    if any(verdicts[i].type != guessed.type for i, guessed in guesses.items()):
        raise MisfitError
    for column, verdict, alias in zip(columns, verdicts, aliases, strict=True):
        if column not in proven and verdict.of(column) != column:
            connection.execute(
                f"ALTER TABLE {relation} ALTER {column} SET DATA TYPE {verdict.type}"
                f" USING {verdict.of(column)}"
            )
        connection.execute(f"ALTER TABLE {relation} RENAME {column} TO {quote(alias)}")
    return loaded, verdicts


def _placeholders(aliases: Sequence[str]) -> tuple[str, ...]:
    """Return names for the columns while a table is loaded.

    Its own may be ones that queries use.
    """
    prefix = "c"
    while any(alias.lower().startswith(prefix) for alias in aliases):
        prefix += "_"
    return tuple(f"{prefix}{i}" for i in range(len(aliases)))


def _guesses(connection: duckdb.DuckDBPyConnection, staging: _Staging) -> dict[int, Guess]:
    """Guess the types that the start of the first file settles, by the column's position."""
    first = staging.present[0]
    sql = column_sql(first, staging.names, staging.table)
    start = start_of_rows(first, sql, sampled_rows(len(staging.names)))
    columns = {f"c{i}": i for i in sql if i not in staging.text}
    connection.execute(f"CREATE TABLE {_START} AS FROM {start}")
    try:
        guesses = guess(connection, _START, list(columns))
    finally:
        connection.execute(f"DROP TABLE {_START}")
    return {columns[name]: guessed for name, guessed in guesses.items()}


def _origin(
    files: Sequence[Readable],
    table: TableFiles,
    verdicts: Mapping[tuple[str, str], TextColumn],
    *,
    mended: bool,
) -> InFiles:
    """Say how the files can be read again: those that are written alike by one call.

    DuckDB reads no files by one call whose paths have other keys.
    """
    alike: dict[tuple[Options, tuple[str, ...], tuple[str, ...], str], list[Path]] = {}
    for file in files:
        format_ = (
            options_of(file.source, file.dialect),
            tuple(own_names(file.dialect)),
            tuple(table.values_of_path(file.source)),
            file.text.encoding,
        )
        alike.setdefault(format_, []).append(file.source)
    return InFiles(
        format="csv",
        root=table.root,
        parts=tuple(
            _part(tuple(paths), options, own, of_path, encoding, verdicts)
            for (options, own, of_path, encoding), paths in alike.items()
        ),
        partitioned=any(partitions(path, table.root) for path in table.paths),
        mended=mended,
        copied=any(file.source != file.place for file in files),
        period=table.period,
    )


def _part(
    paths: tuple[Path, ...],
    options: Options,
    own: Sequence[str],
    of_path: Sequence[str],
    encoding: str,
    verdicts: Mapping[tuple[str, str], TextColumn],
) -> FilePart:
    by_name = {name: (alias, verdict) for (name, alias), verdict in verdicts.items()}
    in_file = [by_name[name] for name in own]
    in_path = [by_name[name] for name in of_path if name not in own]
    return FilePart(
        paths=paths,
        options=options,
        types=tuple(
            (alias, verdict.type if verdict.plain else "VARCHAR") for alias, verdict in in_file
        ),
        expressions=tuple(
            (alias, verdict.of(quote(alias)))
            for alias, verdict in (*in_file, *in_path)
            if not verdict.plain
        ),
        encoding=encoding,
    )
