"""Lines of a delimited file that do not have the shape of the others, mended and reported.

No line is lost in silence: one with too few fields is filled up with nulls, one with too many
keeps the first ones and the note counts what was cut off, and broken quotes are read as they stand.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fluid_build.sources.files.delimited.dialect import Dialect, records_of
from fluid_build.sources.text_values import encodings
from fluid_build.text import counted, noun

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that DuckDB refused: why, the byte it starts at (from 1), and its text."""

    kind: str
    position: int
    text: str


@dataclass
class Mended:
    """The refused records in the right shape, and the numbers of their lines by what was done."""

    rows: list[list[str]] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    cut_values: int = 0
    unquoted: list[int] = field(default_factory=list)
    width: int = 0
    numbered_by: str = "line"

    def notes(self, file: str) -> list[str]:
        """Return one sentence for each kind of repair; ``file`` is named if not empty."""
        where = f"{file}: " if file else ""
        notes = []
        if self.filled:
            notes.append(
                f"{where}{self._lines(self.filled, f'with fewer than {self._width()}')}: the "
                "missing fields were read as null."
            )
        if self.cut:
            # Not the values themselves: nobody can tell which of them are personal.
            kept = "field was" if self.width == 1 else f"{self.width} were"
            left = counted(self.cut_values, "value")
            notes.append(
                f"{where}{self._lines(self.cut, f'with more than {self._width()}')}: the first "
                f"{kept} kept and the others were left out ({left})."
            )
        if self.unquoted:
            notes.append(
                f"{where}{self._lines(self.unquoted, 'with broken quotes')}: read as written."
            )
        return notes

    def _width(self) -> str:
        return counted(self.width, "field")

    def _lines(self, numbers: Sequence[int], what: str) -> str:
        first = ", ".join(f"{number}" for number in numbers[:_SHOWN])
        more = ", …" if len(numbers) > _SHOWN else ""
        unit = noun(len(numbers), self.numbered_by)
        return f"{len(numbers):,} {unit} {what} ({unit} {first}{more})"


def mend(place: Path, dialect: Dialect, rejected: Sequence[Rejected]) -> Mended:
    """Bring refused records into shape. ``place`` is the UTF-8 file that they were read from."""
    width = len(dialect.names)
    known = place.suffix.lower() not in encodings.ZSTD
    mended = Mended(width=width, numbered_by="line" if known else "record")
    positions = [line.position for line in rejected]
    starts = _line_numbers(place, positions) if known else range(1, len(rejected) + 1)
    for line, start in zip(rejected, starts, strict=True):
        # The text may start with the line ends of blank lines before it.
        body = line.text.lstrip("\r\n")
        number = start + line.text[: len(line.text) - len(body)].count("\n")
        for offset, fields in _fields(body, dialect, line.kind):
            _shape(mended, fields, number + offset, line.kind)
    return mended


def _shape(mended: Mended, fields: list[str], number: int, kind: str) -> None:
    width = mended.width
    if kind == "UNQUOTED VALUE":
        mended.unquoted.append(number)
    if len(fields) < width:
        mended.filled.append(number)
    surplus = fields[width:]
    if any(value.strip() for value in surplus):
        mended.cut.append(number)
        mended.cut_values += sum(bool(value.strip()) for value in surplus)
    mended.rows.append(fields[:width] + [""] * (width - len(fields)))


def fields_of(rejected: Rejected, dialect: Dialect) -> list[list[str]]:
    """Return the records in a refused piece of text, each as its fields."""
    body = rejected.text.lstrip("\r\n")
    return [fields for _, fields in _fields(body, dialect, rejected.kind)]


def _fields(text: str, dialect: Dialect, kind: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records in a refused piece of text, each with its line counted from the piece's."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    if kind == "UNQUOTED VALUE" and _swallowed(lines, dialect):
        for offset, line in enumerate(lines):
            if line:
                yield offset, line.split(dialect.delimiter)
        return
    if kind == "UNQUOTED VALUE":
        yield from ((0, fields) for fields in _as_written(text, dialect) if fields != [""])
        return
    try:
        records = list(records_of(text, dialect.delimiter, dialect.escape))
    except csv.Error:
        records = [text.split(dialect.delimiter)]
    for record in records:
        if record:
            yield 0, record


def _as_written(text: str, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the records in a text; a field that goes on after its last quote keeps its quotes."""
    is_backslashed = dialect.escape == "\\"
    end = f"[{re.escape(dialect.delimiter)}\r\n]"
    inner = r'[^"\\]*(?:\\.[^"\\]*)*' if is_backslashed else '[^"]*(?:""[^"]*)*'
    field = re.compile(
        f'"(?P<inner>{inner})"(?P<blanks>[ \t]*)(?={end}|\\Z)'
        f'|(?P<raw>(?:"{inner}")?[^{end[1:-1]}]*)',
        re.DOTALL,
    )
    fields: list[str] = []
    at = 0
    while found := field.match(text, at):
        value = found["raw"]
        if value is None:
            doubled = r"\\(.)" if is_backslashed else '"(")'
            value = re.sub(doubled, r"\1", found["inner"], flags=re.DOTALL) + found["blanks"]
        fields.append(value)
        at = found.end()
        if text[at : at + 1] != dialect.delimiter:
            yield fields
            fields = []
        if at == len(text):
            return
        at += 2 if text.startswith("\r\n", at) else 1


def _swallowed(lines: Sequence[str], dialect: Dialect) -> bool:
    """Return whether a quote that nobody closed took up lines which are records by themselves."""
    if sum(line.count('"') for line in lines) % 2:
        return True
    parts = [line.count(dialect.delimiter) + 1 for line in lines]
    return len(lines) > 1 and all(count == len(dialect.names) for count in parts)


def _line_numbers(place: Path, positions: Sequence[int]) -> list[int]:
    """Return the line, counted from 1, that each byte position (from 1, ascending) lies on."""
    numbers: list[int] = []
    with encodings.opened(place) as file:
        line, at = 1, 1
        for position in positions:
            while at < position:
                block = file.read(min(1 << 20, position - at))
                if not block:
                    break
                line += block.count(b"\n")
                at += len(block)
            numbers.append(line)
    return numbers
