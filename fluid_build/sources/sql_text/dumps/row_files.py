"""Rows on their way into DuckDB: one file of text for each table, which its CSV reader takes.

A value is between marks that no text has by chance, so that it may hold anything.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fluid_build.sources.base import Column
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.sql_text.dumps.literals import copied

DROPPED = Column("", "VARCHAR")
"""Stands for a column that rows have, and their table no longer."""
_NULL = "\\N"
_QUOTE = "\x1e"
_SPECIAL = re.compile(r"[\t\n\r\x1e\\]")
_ESCAPED = re.compile(r"\\(?!N(?:\t|\n|\Z))")
"""A backslash in the text format of COPY that isn't a null."""
_LINE = 2 * 1024 * 1024
"""Bytes of a line that DuckDB expects by default; a character of UTF-8 has up to four."""


@dataclass
class RowFile:
    """The rows of a table that come with the same columns; ``longest`` is in characters."""

    path: Path
    columns: Sequence[Column]
    lines: list[str] = field(default_factory=list)
    rows: int = 0
    longest: int = 0

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    def add(self, row: Sequence[str | None]) -> None:
        """Add a row of values."""
        line = "\t".join(map(_written, row))
        self.longest = max(self.longest, len(line))
        self.lines.append(line)
        self.rows += 1
        if len(self.lines) >= _BUFFERED:
            self.flush()

    def add_copied(self, text: str) -> int:
        """Add the lines of a COPY in its text format; return how many of them are no text.

        https://www.postgresql.org/docs/current/sql-copy.html
        """
        if not text:
            return 0
        left_out = 0
        if self.width == 1 or _QUOTE in text or _ESCAPED.search(text):
            for line in text.removesuffix("\n").split("\n"):
                try:
                    self.add([_decoded(value) for value in line.split("\t")])
                except ValueError:
                    left_out += 1
            return left_out
        self.longest = max(self.longest, max(map(len, text.split("\n"))))
        self.rows += text.count("\n")
        self.lines.append(text.removesuffix("\n"))
        self.flush()
        return left_out

    def flush(self) -> None:
        """Write what was added to the file."""
        if self.lines:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write("\n".join(self.lines) + "\n")
            self.lines.clear()


_BUFFERED = 10_000
"""Rows that are written together."""


def _written(value: str | None) -> str:
    if value is None:
        return _NULL
    if value and not _SPECIAL.search(value):
        return value
    return f"{_QUOTE}{value.replace(_QUOTE, _QUOTE * 2)}{_QUOTE}"


def _decoded(value: str) -> str | None:
    if value == _NULL:
        return None
    return copied(value) if "\\" in value else value


def rows_query(files: Iterable[RowFile]) -> str:
    """Return SQL for the rows of a table's files, as text, without columns that were dropped."""
    return " UNION ALL BY NAME ".join(map(_query, files))


def _query(file: RowFile) -> str:
    # No column is called by two marks.
    names = [column.alias or f"{2 * _QUOTE}{n}" for n, column in enumerate(file.columns)]
    types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    kept = [name for name in names if not name.startswith(2 * _QUOTE)]
    return (
        f"SELECT {', '.join(map(quote, kept))} FROM read_csv({literal(str(file.path))},"
        f" columns={{{types}}}, auto_detect=false, header=false, delim='\t',"
        f" quote={literal(_QUOTE)}, escape={literal(_QUOTE)}, nullstr={literal(_NULL)},"
        f" allow_quoted_nulls=false, new_line='\\n', max_line_size={max(_LINE, 4 * file.longest)},"
        " parallel=false)"
    )
