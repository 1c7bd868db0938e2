"""Delimited text files, staged as text first and typed over all their values afterwards."""

import csv
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

import duckdb

from fluid_build import limits
from fluid_build.sources import encodings, zstd_lines
from fluid_build.sources.base import Column
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.csv_dialect import Dialect, agreement_of, sniff
from fluid_build.sources.csv_repair import Rejected, mend
from fluid_build.sources.csv_tail import notes_on
from fluid_build.sources.csv_trimming import Loaded, trim
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine import SCRATCH
from fluid_build.sources.file_layout import TableFiles, partitions
from fluid_build.sources.origin import FilePart, InFiles, LeftOut, Options
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_types import TextColumn, infer
from fluid_build.sources.uri import as_pattern
from fluid_build.sources.zstd_lines import longest_line

READ_ERRORS = (OSError, EOFError, zlib.error, csv.Error)
"""What Python raises where a text file can't be read."""

_SAMPLE = 96 * 1024
_RAW = f"{SCRATCH}.text"
_SAMPLE_LINES = 20
_LEAST_AGREEMENT = 0.8
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Readable:
    """A file, the place where DuckDB can read it as UTF-8, and how it is written."""

    source: Path
    place: Path
    dialect: Dialect
    encoding: str = "utf-8"

    @property
    def note(self) -> str:
        """A sentence where the encoding is worth one."""
        if self.encoding == "utf-8":
            return ""
        return f"{self.source.name} is encoded in {encodings.said(self.encoding)}."


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What came of a file's lines: whether some had to be mended, or were no rows, and notes."""

    mended: bool = False
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


def column_names(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """The columns of a delimited file, judged by its start.

    Empty where it holds nothing, or looks like prose rather than a table. Raises one of
    READ_ERRORS or duckdb.Error where it can't be read.
    """
    sample, complete = _sample(connection, path, encodings.encoding_of_start(path))
    dialect = _dialect(sample, complete)
    if dialect is None or agreement_of(sample, dialect) < _LEAST_AGREEMENT:
        return ()
    return tuple(_own_names(dialect))


def stage_csv(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    relation: str,
    folder: Path,
    answers: Conventions = NO_ANSWERS,
) -> tuple[tuple[Column, ...], tuple[str, ...], InFiles]:
    """Stage the files of one table; its columns, notes on what was met, and how it was read.

    ``folder`` takes temporary files; ``answers`` say how text that fits two conventions is read.
    Raises ValueError where there is nothing to read, and one of READ_ERRORS or duckdb.Error where a
    file can't be read.
    """
    found = [_readable(connection, path, folder) for path in files.paths]
    present = [one for one in found if one is not None]
    if not present:
        raise ValueError("It is empty.")
    names = _all_names(present, files)
    notes = _notes_on_files(present, len(found) - len(present))
    with _raw_table(connection, len(names)):
        loaded = [_load(connection, one, names, files, folder) for one in present]
        verdicts = _typed(connection, names, relation, answers)
    columns = tuple(
        Column(
            name,
            one.type,
            alias=alias,
            notes=(one.note,) if one.note else (),
            spelling=one.spelling,
        )
        for (name, alias), one in verdicts.items()
    )
    notes += [note for one in loaded for note in one.notes]
    notes += [f"{one.name}: {note}" for one in columns for note in one.notes]
    notes += _note_on_comma(verdicts)
    mended = any(one.mended for one in loaded)
    left_out = [line for one in present for line in _titles(one)]
    left_out += [line for one in loaded for line in one.left_out]
    origin = _origin(present, files, verdicts, mended=mended)
    return columns, tuple(notes), replace(origin, left_out=tuple(left_out))


@contextmanager
def text_again(
    connection: duckdb.DuckDBPyConnection, origin: InFiles, names: Sequence[str], folder: Path
) -> Iterator[str]:
    """The text of a table's files, read from the start: a relation with columns c0, c1, …

    ``names`` are the table's columns, in order. Errors as in ``stage_csv``, and ValueError where
    the files have other columns now.
    """
    paths = tuple(path for part in origin.parts for path in part.paths)
    files = TableFiles("", "csv", paths, origin.root)
    present = [one for path in paths if (one := _readable(connection, path, folder)) is not None]
    if set(_all_names(present, files)) != set(names):
        raise ValueError("Their columns have changed.")
    with _raw_table(connection, len(names)) as relation:
        for one in present:
            _load(connection, one, names, files, folder)
        yield relation


@contextmanager
def _raw_table(connection: duckdb.DuckDBPyConnection, width: int) -> Iterator[str]:
    columns = ", ".join(f"c{i} VARCHAR" for i in range(width))
    connection.execute(f"CREATE TABLE {_RAW} ({columns})")
    try:
        yield _RAW
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {_RAW}")


def _readable(connection: duckdb.DuckDBPyConnection, path: Path, folder: Path) -> Readable | None:
    """How to read a file; None where it is empty."""
    text = encodings.examine(path, longest_line=longest_line())
    if path.suffix.lower() in encodings.ZSTD:
        zstd_lines.check(connection, path)
    dialect = _dialect(*_sample(connection, path, text.encoding))
    if dialect is None:
        return None
    if text.encoding == "utf-8" and text.even_lines:
        return Readable(path, path, dialect)
    copy = encodings.rewrite(path, text.encoding, folder)
    return Readable(path, copy, dialect, text.encoding)


def _sample(connection: duckdb.DuckDBPyConnection, path: Path, encoding: str) -> tuple[str, bool]:
    """Text from the start of a file, and whether that is all of it."""
    if path.suffix.lower() in encodings.ZSTD:
        return zstd_lines.start_of(connection, path)
    size = _SAMPLE
    raw = encodings.start_of(path, size + 1)
    # A header may be longer than that, and what is cut off in it would be taken for all of it.
    while len(raw) > size and size < longest_line() and len(raw.splitlines()) <= _SAMPLE_LINES:
        size *= 8
        raw = encodings.start_of(path, size + 1)
    text = raw[:size].decode(encoding, errors="ignore").removeprefix("\ufeff")
    return text, len(raw) <= size


def _dialect(sample: str, complete: bool) -> Dialect | None:
    """How a sample is written; None where it holds nothing, ValueError where it's too wide."""
    dialect = sniff(sample, complete=complete)
    if dialect is not None:
        limits.COLUMNS.check(len(dialect.names), "columns")
    return dialect


def _own_names(dialect: Dialect) -> list[str]:
    """A name for each column of a file: its header's, numbered where that repeats."""
    names: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for i, name in enumerate(dialect.names):
        wanted = chosen = name or f"column{i + 1}"
        while chosen in names:
            numbers[wanted] = numbers.get(wanted, 1) + 1
            chosen = f"{wanted}_{numbers[wanted]}"
        names[chosen] = None
    return list(names)


def _all_names(files: Sequence[Readable], table: TableFiles) -> list[str]:
    """Every column of the table: those of all files, then those of the partitions."""
    names = dict.fromkeys(name for one in files for name in _own_names(one.dialect))
    names |= dict.fromkeys(key for path in table.paths for key in partitions(path, table.root))
    return list(names)


def _notes_on_files(files: Sequence[Readable], empty: int) -> list[str]:
    notes = [one.note for one in files if one.note]
    if empty:
        notes.append(f"{empty} of its {empty + len(files)} files are empty.")
    notes += [note for one in files if (note := _note_on_titles(one))]
    if any(not one.dialect.header for one in files):
        notes.append("It has no header: its columns are named by position.")
    if len({frozenset(_own_names(one.dialect)) for one in files}) > 1:
        notes.append("Its files do not all have the same columns; what one lacks is null there.")
    return notes


def _titles(file: Readable) -> list[LeftOut]:
    """The lines before the table; the one that names the delimiter says nothing else."""
    first = 2 if file.dialect.declared else 1
    lines = range(first, file.dialect.preamble + 1)
    return [LeftOut(file.source.name, line, "title") for line in lines]


def _note_on_titles(file: Readable) -> str:
    lines = [one.line for one in _titles(file)]
    if not lines:
        return ""
    if len(lines) == 1:
        return f"Line {lines[0]} of {file.source.name} stands above the table and was left out."
    return (
        f"Lines {lines[0]} to {lines[-1]} of {file.source.name} stand above the table and were left"
        " out."
    )


def _note_on_comma(verdicts: Mapping[tuple[str, str], TextColumn]) -> list[str]:
    with_comma = [name for (name, _), one in verdicts.items() if one.spelling == ","]
    return [f"Numbers are read with a decimal comma: {', '.join(with_comma)}."] * bool(with_comma)


def _load(
    connection: duckdb.DuckDBPyConnection,
    file: Readable,
    names: Sequence[str],
    table: TableFiles,
    folder: Path,
) -> _Loaded:
    """Append a file to the raw table, with the lines that DuckDB refuses mended."""
    own = _own_names(file.dialect)
    taken = {names.index(name): f"f{i}" for i, name in enumerate(own)}
    for key, value in partitions(file.source, table.root).items():
        given = "NULL" if value == _HIVE_NULL else literal(unquote(value))
        taken.setdefault(names.index(key), given)
    first = _rows_so_far(connection)
    rejected = _insert(connection, file.place, file.dialect, taken)
    columns = tuple(f"c{names.index(name)}" for name in own)
    trimmed = trim(connection, file.place, file.dialect, Loaded(_RAW, columns, first), rejected)
    rejected = trimmed.rejected
    left_out = tuple(replace(one, file=file.source.name) for one in trimmed.left_out)
    notes = notes_on(left_out, named=len(table.paths) > 1)
    if not rejected:
        return _Loaded(left_out=left_out, notes=tuple(notes))
    mended = mend(file.place, file.dialect, rejected)
    copy = folder / "mended.csv"
    with copy.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target, lineterminator="\n").writerows(mended.rows)
    plain = Dialect(",", '"', False, 0, file.dialect.names)
    lost = _insert(connection, copy, plain, taken)
    copy.unlink()
    notes += mended.notes(file.source.name if len(table.paths) > 1 else "")
    if lost:
        notes.append(f"{len(lost)} lines could not be read and were left out.")
    return _Loaded(mended=True, left_out=left_out, notes=tuple(notes))


def _rows_so_far(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute(f"SELECT coalesce(max(rowid) + 1, 0) FROM {_RAW}").fetchone()
    return int(row[0]) if row else 0


def _insert(
    connection: duckdb.DuckDBPyConnection, path: Path, dialect: Dialect, taken: dict[int, str]
) -> list[Rejected]:
    """Append what DuckDB can read of a file to the raw table; hand back the lines it can't."""
    columns = ", ".join(f"f{i}: 'VARCHAR'" for i in range(len(dialect.names)))
    options = ", ".join(f"{name}={value}" for name, value in _options(path, dialect))
    target = ", ".join(f"c{i}" for i in taken)
    sql = (
        f"INSERT INTO {_RAW} ({target}) SELECT {', '.join(taken.values())} FROM read_csv(?,"
        f" auto_detect=false, columns={{{columns}}}, {options}, store_rejects=true,"
        " rejects_limit=0, rejects_table='rejected', rejects_scan='rejected_scans')"
    )
    try:
        connection.execute(sql, [as_pattern(str(path))])
        rows = connection.execute(
            "SELECT min(CAST(error_type AS VARCHAR)), line_byte_position, min(csv_line)"
            " FROM rejected GROUP BY line_byte_position ORDER BY line_byte_position"
        ).fetchall()
    finally:
        connection.execute("DROP TABLE IF EXISTS rejected")
        connection.execute("DROP TABLE IF EXISTS rejected_scans")
    return [Rejected(kind, position or 0, text or "") for kind, position, text in rows]


def _options(path: Path, dialect: Dialect) -> Options:
    suffix = path.suffix.lower()
    packed = "gzip" if suffix == ".gz" else "zstd" if suffix in encodings.ZSTD else "none"
    return (
        ("header", str(dialect.header).lower()),
        ("skip", str(dialect.preamble)),
        ("delim", literal(dialect.delimiter)),
        ("quote", literal('"')),
        ("escape", literal(dialect.escape)),
        ("compression", literal(packed)),
        ("max_line_size", str(longest_line())),
    )


def _typed(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    relation: str,
    answers: Conventions,
) -> dict[tuple[str, str], TextColumn]:
    """Turn the raw table into the staged one, each column with the type that all values fit.

    The verdict on each column by its name and alias, in order.
    """
    verdicts = infer(connection, _RAW, [f"c{i}" for i in range(len(names))], answers)
    aliases = unique_names(names)
    chosen = ", ".join(
        f"{one.of(f'c{i}')} AS {quote(alias)}"
        for i, (one, alias) in enumerate(zip(verdicts, aliases, strict=True))
    )
    connection.execute(f"CREATE TABLE {relation} AS SELECT {chosen} FROM {_RAW}")
    return dict(zip(zip(names, aliases, strict=True), verdicts, strict=True))


def _origin(
    files: Sequence[Readable],
    table: TableFiles,
    verdicts: Mapping[tuple[str, str], TextColumn],
    *,
    mended: bool,
) -> InFiles:
    """How the files can be read again: those that are written alike by one call."""
    alike: dict[tuple[Options, tuple[str, ...], str], list[Path]] = {}
    for one in files:
        written = (
            _options(one.source, one.dialect),
            tuple(_own_names(one.dialect)),
            one.encoding,
        )
        alike.setdefault(written, []).append(one.source)
    return InFiles(
        format="csv",
        root=table.root,
        parts=tuple(
            _part(tuple(paths), options, own, encoding, verdicts)
            for (options, own, encoding), paths in alike.items()
        ),
        partitioned=any(partitions(path, table.root) for path in table.paths),
        mended=mended,
        copied=any(one.source != one.place for one in files),
    )


def _part(
    paths: tuple[Path, ...],
    options: Options,
    own: Sequence[str],
    encoding: str,
    verdicts: Mapping[tuple[str, str], TextColumn],
) -> FilePart:
    by_name = {name: (alias, one) for (name, alias), one in verdicts.items()}
    found = [by_name[name] for name in own]
    keys = [(alias, one) for name, (alias, one) in by_name.items() if name not in own]
    return FilePart(
        paths=paths,
        options=options,
        types=tuple((alias, one.type if one.plain else "VARCHAR") for alias, one in found),
        expressions=tuple(
            (alias, one.of(quote(alias))) for alias, one in (*found, *keys) if not one.plain
        ),
        encoding=encoding,
    )
