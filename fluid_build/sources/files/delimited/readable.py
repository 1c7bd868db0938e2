"""How a delimited file is to be read: where it lies as UTF-8, how it's written, its columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build import limits
from fluid_build.sources.files.delimited import zstd_lines
from fluid_build.sources.files.delimited.dialect import (
    Dialect,
    has_blanks_around_quotes,
    sniff,
)
from fluid_build.sources.files.delimited.zstd_lines import longest_line
from fluid_build.sources.files.layout import TableFiles
from fluid_build.sources.origin import Options
from fluid_build.sources.sql import literal
from fluid_build.sources.text_values import encodings
from fluid_build.sources.text_values.utf8_copies import Quoting, rewrite

_SAMPLE = 96 * 1024
_SAMPLE_LINES = 20


@dataclass(frozen=True, slots=True)
class Readable:
    """A file, the place where DuckDB can read it as UTF-8, and how it is written."""

    source: Path
    place: Path
    dialect: Dialect
    text: encodings.Text
    notes: tuple[str, ...] = ()


def readable(
    connection: duckdb.DuckDBPyConnection, path: Path, folder: Path, encoding: str | None = None
) -> Readable | None:
    """Say how to read a file; None where it is empty. ``encoding`` is what its user says."""
    text = encodings.examine(path, longest_line=longest_line(), named=encoding)
    if path.suffix.lower() in encodings.ZSTD:
        zstd_lines.check(connection, path)
    sample, complete = sample_of(connection, path, text.encoding)
    dialect = dialect_of(sample, complete)
    if dialect is None:
        return None
    place, replaced = path, list[int]()
    if not text.is_plain:
        quoting = Quoting(dialect.delimiter, dialect.escape)
        place, replaced = rewrite(path, text, folder, quoting)
    notes = list(encodings.notes_on(path.name, text, replaced))
    if has_blanks_around_quotes(sample, dialect.delimiter):
        notes.append(f"Blanks around values in quotes were left out of {path.name}.")
    return Readable(path, place, dialect, text, tuple(notes))


def sample_of(connection: duckdb.DuckDBPyConnection, path: Path, encoding: str) -> tuple[str, bool]:
    """Return text from the start of a file, and whether that is all of it."""
    if path.suffix.lower() in encodings.ZSTD:
        return zstd_lines.start_of(connection, path)
    size = _SAMPLE
    raw = encodings.start_of(path, size + 1)
    # A header may be longer than that, and what is cut off in it would be taken for all of it.
    while len(raw) > size and size < longest_line() and len(raw.splitlines()) <= _SAMPLE_LINES:
        size *= 8
        raw = encodings.start_of(path, size + 1)
    text = encodings.decoded(raw[:size], encoding).removeprefix("\ufeff")
    # What is cut off in the middle of a character.
    return text.rstrip("\ufffd"), len(raw) <= size


def dialect_of(sample: str, complete: bool) -> Dialect | None:
    """Say how a sample is written; None where it holds nothing, ValueError where it's too wide."""
    dialect = sniff(sample, complete=complete)
    if dialect is not None:
        limits.COLUMNS.check(len(dialect.names), "columns")
    return dialect


def own_names(dialect: Dialect) -> list[str]:
    """Return a name for each column of a file: its header's, numbered where that repeats."""
    return numbered_names(dialect.names)


def numbered_names(header: Sequence[str]) -> list[str]:
    """Return a name for each column of a header: blank ones by position, repeated ones numbered."""
    names: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for i, name in enumerate(header):
        plain = chosen = name or f"column{i + 1}"
        while chosen in names:
            numbers[plain] = numbers.get(plain, 1) + 1
            chosen = f"{plain}_{numbers[plain]}"
        names[chosen] = None
    return list(names)


def all_names(files: Sequence[Readable], table: TableFiles) -> list[str]:
    """Return every column of the table: those of all files, then those of the partitions."""
    names = dict.fromkeys(name for file in files for name in own_names(file.dialect))
    names |= dict.fromkeys(key for path in table.paths for key in table.values_of_path(path))
    return list(names)


def options_of(path: Path, dialect: Dialect) -> Options:
    """Return what DuckDB has to be told to read a file that is written so."""
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
