"""Lines with many more values than a table has columns, of which DuckDB would list each.

Its list of refused values has the whole line beside each of them: a line of 400,000 values under a
header of three would take 160 GB.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from fluid_build.sources.files.delimited.readable import Readable
from fluid_build.sources.text_values import encodings
from fluid_build.text import counted

WHAT_TO_DO = "Put values that contain the delimiter in quotes, or name every column."

_MOST_LISTED = 128 * 1024 * 1024
"""Bytes that DuckDB may list. It takes three times as much, and real files have a line or two."""
_BLOCK = 4 * 1024 * 1024
_QUOTED = re.compile(rb'"[^"]*"')


def refuse_overlong_lines(file: Readable) -> None:
    """Raise ValueError where the list of a file's values too many would be too long."""
    path, dialect = file.place, file.dialect
    if path.suffix.lower() in encodings.ZSTD or not file.text.marks.has_long_lines:
        return
    listed = lines = 0
    delimiter, columns = dialect.delimiter.encode(), len(dialect.names)
    for line in _long_lines(path, backslash=dialect.escape == "\\"):
        surplus = line.count(delimiter) + 1 - columns
        if surplus > 0:
            listed += surplus * len(line)
            lines += 1
        if listed > _MOST_LISTED:
            names = counted(columns, "column")
            raise ValueError(
                f"At least {counted(lines, 'line')} of {path.name} have far more values than its"
                f" {names}. {WHAT_TO_DO}"
            )


def _long_lines(path: Path, *, backslash: bool) -> Iterator[bytes]:
    """Yield the long lines that begin outside quotes, without what they have in quotes."""
    begun, is_quoted = b"", False
    with encodings.opened(path) as file:
        while block := file.read(_BLOCK):
            text = begun + block
            if backslash:
                text = text.replace(b'\\"', b"")
            end = text.rfind(b"\n") + 1
            begun = text[end:]
            seen = 0
            for start, stop in _long_spans(text, end):
                is_quoted ^= text.count(b'"', seen, start) % 2 == 1
                seen = start
                if not is_quoted:
                    yield _QUOTED.sub(b"", text[start:stop])
            is_quoted ^= text.count(b'"', seen, end) % 2 == 1
    if len(begun) > encodings.LONG_LINE and not is_quoted:
        yield _QUOTED.sub(b"", begun)


def _long_spans(text: bytes, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the long lines of a text begin and end, from one line end to a far one."""
    start = 0
    while end - start > encodings.LONG_LINE:
        line_end = text.rfind(b"\n", start, start + encodings.LONG_LINE)
        if line_end < 0:
            line_end = text.find(b"\n", start)
            yield start, line_end
        start = line_end + 1
