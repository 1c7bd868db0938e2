"""Text that a model may look at: no more of it than asked for, and names that surely are names."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

from fluid_build.copilot.errors import FileTooLargeError
from fluid_build.errors import SourceError
from fluid_build.lexicon import meanings, terms
from fluid_build.profiling.names.naming_words import NAME_WORDS, TITLE_WORDS
from fluid_build.profiling.names.words import singular, words
from fluid_build.sources.addresses.endings import COMPRESSIONS, FORMATS, Format, uncompressed
from fluid_build.sources.base import Source
from fluid_build.sources.files.delimited import zstd_lines
from fluid_build.sources.files.delimited.dialect import is_value, records_of
from fluid_build.sources.files.delimited.files import READ_ERRORS
from fluid_build.sources.files.delimited.readable import dialect_of, sample_of
from fluid_build.sources.origin import InFiles
from fluid_build.sources.text_values import encodings

MAX_SAMPLE_BYTES = 64 * 1024 * 1024
"""The largest file whose schema is read in a turn of a model, once it's unpacked."""
SAMPLE_MEMORY = "1GB"
"""What DuckDB may use for it: it sets half of that aside for lines, even where they are short."""
_MOST_DOCUMENT = 8 * 1024 * 1024
"""Bytes of JSON that is read as a whole: DuckDB takes fifteen times as many."""

_ABOVE_ROWS = 40
"""Lines that may stand above the rows: a report's titles, and a header of two lines."""
_STEP = 1024 * 1024
_BY_LINE: frozenset[Format | None] = frozenset({"csv", "jsonl"})
"""Formats with a row a line, or several."""
_CUT = _BY_LINE | {"json"}
_ROWS_BELOW = 200

_BRACKET = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
"""A bracket of JSON, or a text, in which there may be some."""

_NAMING_WORDS = terms("key_word", "common") | NAME_WORDS | TITLE_WORDS | meanings().keys()


class UnnamedColumnsError(SourceError):
    """The first line of a text may be data, so that nobody may be told it as columns."""


def start_of_file(place: Path, folder: Path, rows: int) -> Path:
    """Return what may be read of a file: a copy in the folder where it's text or packed, or itself.

    The copy isn't packed; of a format with a row a line it has little more than so many rows.
    Raises ``FileTooLargeError`` for what is larger than ``MAX_SAMPLE_BYTES`` once unpacked, and
    SourceError where it can't be unpacked.
    """
    try:
        return _start_of_file(place, folder, rows)
    except (*READ_ERRORS, zipfile.BadZipFile, ValueError) as error:
        raise SourceError(f"{place.name} can't be unpacked.", hint="Pack it again.") from error


def _start_of_file(place: Path, folder: Path, rows: int) -> Path:
    kind = FORMATS.get(uncompressed(place).suffix.lower())
    if zipfile.is_zipfile(place):
        _check_archive(place)
    if kind not in _CUT and place.suffix.lower() not in COMPRESSIONS:
        return place
    copy = folder / uncompressed(place).name
    size = 0
    with copy.open("w", encoding="utf-8", newline="") as file:
        for piece, is_of_start in _pieces(place, kind, rows + _ABOVE_ROWS):
            size += len(piece.encode("utf-8", "surrogatepass"))
            if size > MAX_SAMPLE_BYTES:
                raise FileTooLargeError(f"It is larger than {MAX_SAMPLE_BYTES} bytes.")
            if is_of_start:
                file.write(piece)
    if kind == "json":
        _cut_records(copy, rows)
    return copy


def _cut_records(place: Path, rows: int) -> None:
    """Leave so many records of a JSON file, be they elements of a list or one after another.

    Raises FileTooLargeError where they are longer than what is read as a whole.
    """
    depth = records = 0
    text = place.read_text(encoding="utf-8", errors="surrogatepass")
    is_list = text.lstrip()[:1] == "["
    for mark in _BRACKET.finditer(text):
        if mark[0] in "[{":
            depth += 1
        elif mark[0] in "]}":
            depth -= 1
            records += depth == is_list
        if records >= rows or mark.end() > _MOST_DOCUMENT:
            break
    else:
        return
    if mark.end() > _MOST_DOCUMENT:
        raise FileTooLargeError(f"A part of it is larger than {_MOST_DOCUMENT} bytes.")
    start = text[: mark.end()] + ("]" if is_list and depth else "")
    place.write_text(start, encoding="utf-8", errors="surrogatepass")


def _pieces(place: Path, kind: Format | None, lines: int) -> Iterator[tuple[str, bool]]:
    """Yield an unpacked text file in pieces, each with whether it's of the start that is wanted.

    That is so many ``lines`` where a format has a row a line, and everything of other formats.
    """
    if place.suffix.lower() in encodings.ZSTD:
        most = lines if kind in _BY_LINE else None
        yield from ((line, True) for line in _zstd_lines(place, most))
        return
    with encodings.opened(place) as packed:
        encoding = encodings.other_encoding(encodings.encoding_of_start(place))
        text = io.TextIOWrapper(packed, encoding, errors="replace", newline="")
        if kind in _BY_LINE:
            number = quotes = 0
            # A line inside quotes is the middle of a row.
            while number < lines or (kind == "csv" and quotes % 2):
                piece = text.readline(_STEP)
                if not piece:
                    return
                number += 1
                quotes += piece.count('"')
                yield piece, True
        while piece := text.read(_STEP):
            yield piece, kind not in _BY_LINE


def _zstd_lines(place: Path, most: int | None) -> Iterator[str]:
    if encodings.zstd_content(place) > MAX_SAMPLE_BYTES:
        raise FileTooLargeError(f"It is larger than {MAX_SAMPLE_BYTES} bytes.")
    limit = "" if most is None else f" LIMIT {most}"
    with duckdb.connect(config={"memory_limit": SAMPLE_MEMORY, "threads": 1}) as connection:
        result = connection.execute(f"SELECT line FROM {zstd_lines.as_lines(place)}{limit}")
        while row := result.fetchone():
            yield f"{row[0] or ''}\n"


def _check_archive(place: Path) -> None:
    """Raise FileTooLargeError for a workbook that is too large once it's unpacked."""
    with zipfile.ZipFile(place) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_SAMPLE_BYTES:
            raise FileTooLargeError(f"It is larger than {MAX_SAMPLE_BYTES} bytes.")


def require_named_columns(source: Source) -> None:
    """Raise UnnamedColumnsError where the names of a text file's columns may be its first row.

    A file called ``.txt`` may be a list of anything, and a list of one column has nothing that
    sets its first line apart: their names must look like names. Where a file that is called a table
    has no header, its columns are numbered, and nothing of the data is told.
    """
    for table in source.tables:
        if isinstance(table.origin, InFiles) and table.origin.format == "csv":
            for part in table.origin.parts:
                for path in part.paths:
                    if not _is_named(source.connection, path):
                        raise UnnamedColumnsError(f"{path.name} has no header.", hint="Add one.")


def _is_named(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    sample, complete = sample_of(connection, path, encodings.encoding_of_start(path))
    dialect = dialect_of(sample, complete)
    if dialect is None:
        return True
    is_any_text = uncompressed(path).suffix.lower() == ".txt"
    width = len(dialect.names)
    if not dialect.header or (width < 2 and is_any_text):
        return not is_any_text
    if width > 1 and not is_any_text:
        return True
    lines = sample.splitlines(keepends=True)[dialect.preamble + 1 :]
    rows = records_of("".join(lines), dialect.delimiter, dialect.escape)
    below = [row for row, _ in zip(rows, range(_ROWS_BELOW), strict=False)]
    return _look_like_names(dialect.names) or _heads_values(dialect.names, below)


def _look_like_names(names: tuple[str, ...]) -> bool:
    """Return whether most names have a word in them that columns are named with."""
    known = sum(
        any(word in _NAMING_WORDS or singular(word) in _NAMING_WORDS for word in words(name))
        for name in names
    )
    return known > len(names) // 2


def _heads_values(names: tuple[str, ...], below: list[list[str]]) -> bool:
    """Return whether a name stands above nothing but numbers or dates, two at least."""
    for i, name in enumerate(names):
        column = [row[i].strip() for row in below if i < len(row) and row[i].strip()]
        if name and not is_value(name) and len(column) > 1 and all(map(is_value, column)):
            return True
    return False
