"""Totals and notes below a table, taken out of the rows that were read from its file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.sources.files.delimited.dialect import Dialect
from fluid_build.sources.files.delimited.repair import Rejected, fields_of
from fluid_build.sources.files.delimited.tail import (
    Above,
    Record,
    above,
    below_table,
    is_label,
    last_records,
    possibly_below,
    spans,
)
from fluid_build.sources.files.delimited.zstd_lines import as_lines
from fluid_build.sources.origin import LeftOut, NotARow
from fluid_build.sources.text_values import encodings
from fluid_build.text import noun

_WINDOW = 64 * 1024
_LAST_LINES = 200


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rows of a file in a table of text: its columns there, and the first row's rowid."""

    relation: str
    columns: tuple[str, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The lines that are no rows, and the refused lines that are none of these.

    ``kept`` are lines at the end that begin as a total does, and stay rows.
    """

    left_out: tuple[LeftOut, ...]
    rejected: list[Rejected]
    kept: tuple[int, ...] = ()

    def note_on_kept(self, where: str) -> str:
        """Return a sentence on the lines that may be totals, empty without any."""
        if not self.kept:
            return ""
        lines = f"{noun(len(self.kept), 'line').capitalize()} {spans(self.kept)}{where}"
        if len(self.kept) == 1:
            return f"{lines} begins as a total does, but no sum shows it: kept as a row."
        return f"{lines} begin as totals do, but no sum shows it: kept as rows."


def trim(
    connection: duckdb.DuckDBPyConnection,
    place: Path,
    dialect: Dialect,
    loaded: Loaded,
    rejected: list[Rejected],
    records: Sequence[Record],
) -> Trimmed:
    """Delete the totals and notes that end a file from the rows that were read of it.

    ``place`` is the UTF-8 file that they were read from, ``records`` its last ones. Nothing is
    deleted where these and the rows don't agree. The lines' ``file`` is the place's name.
    """
    width = len(dialect.names)

    def ask(count: int) -> Above:
        rows = f"FROM {loaded.relation} WHERE rowid >= {loaded.first} ORDER BY rowid"
        return above(
            connection,
            f"{rows} LIMIT greatest(0, (SELECT count(*) FROM {loaded.relation}"
            f" WHERE rowid >= {loaded.first}) - {count})",
            loaded.columns,
        )

    below = below_table(records, width, ask)
    full = [record for record, _ in below if len(record.fields) == width]
    ragged = [record for record, _ in below if len(record.fields) != width]
    remaining = _without(rejected, ragged, dialect)
    start = _start_of(connection, loaded, full)
    if remaining is None or start is None:
        below = []
    kept = _labelled(records, width, below)
    lines = _lines_in(connection, place) if below or kept else 0
    kept_lines = tuple(lines + 1 - record.line for record in kept)
    if not below or remaining is None:
        return Trimmed((), rejected, kept_lines)
    if full:
        connection.execute(f"DELETE FROM {loaded.relation} WHERE rowid >= {start}")
    left_out = tuple(LeftOut(place.name, lines + 1 - record.line, what) for record, what in below)
    return Trimmed(left_out, remaining, kept_lines)


def _labelled(
    records: Sequence[Record], width: int, below: Sequence[tuple[Record, NotARow]]
) -> list[Record]:
    """Return the last records that begin with what totals are called, but for those left out."""
    left_out = [record for record, _ in below]
    return [
        record
        for record in possibly_below(records, width)
        if record.filled
        and is_label(record.fields[record.filled[0]].strip())
        and record not in left_out
    ]


def ending(connection: duckdb.DuckDBPyConnection, place: Path, dialect: Dialect) -> list[Record]:
    """Return the last records of a file, its header and what stands before that aside.

    None of a file with one column, where a note looks like any row.
    """
    if len(dialect.names) <= 1:
        return []
    if _is_zstd(place):
        lines = _lines_in(connection, place)
        start = max(0, lines - _LAST_LINES)
        rows = connection.execute(f"SELECT line FROM {as_lines(place)} OFFSET {start}").fetchall()
        text, whole = "\n".join(line or "" for (line,) in rows), start == 0
    else:
        end, whole = encodings.end_of(place, _WINDOW)
        text = end.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")
        text = text if whole else text.partition("\n")[2]
    if whole:
        text = text.split("\n", dialect.preamble)[-1]
    records = last_records(text, dialect)
    if not (whole and dialect.header):
        return records
    header = next((i for i, record in enumerate(records) if record.fields), len(records))
    return records[header + 1 :]


def _is_zstd(place: Path) -> bool:
    return place.suffix.lower() in encodings.ZSTD


def _lines_in(connection: duckdb.DuckDBPyConnection, place: Path) -> int:
    if not _is_zstd(place):
        return encodings.lines_in(place)
    row = connection.execute(f"SELECT count(*) FROM {as_lines(place)}").fetchone()
    return int(row[0]) if row else 0


def _without(
    rejected: list[Rejected], ragged: Sequence[Record], dialect: Dialect
) -> list[Rejected] | None:
    """Return the refused lines but for some records that end a file.

    None where they don't end it.
    """
    if not ragged:
        return rejected
    remaining, last = rejected[: -len(ragged)], rejected[-len(ragged) :]
    fields = [fields_of(line, dialect) for line in last]
    return remaining if fields == [[list(record.fields)] for record in ragged] else None


def _start_of(
    connection: duckdb.DuckDBPyConnection, loaded: Loaded, full: Sequence[Record]
) -> int | None:
    """Return the rowid of the first of some records that end a file.

    None where they don't end it.
    """
    if not full:
        return loaded.first
    rows = connection.execute(
        f"SELECT rowid, {', '.join(loaded.columns)} FROM {loaded.relation}"
        f" WHERE rowid >= {loaded.first} ORDER BY rowid DESC LIMIT {len(full)}"
    ).fetchall()[::-1]
    read = [tuple(cell or "" for cell in cells) for _, *cells in rows]
    return int(rows[0][0]) if read == [record.fields for record in full] else None
