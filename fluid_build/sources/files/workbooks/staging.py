"""Tables of workbooks, staged with the types of their cells."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from fluid_build.sources.base import Column
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine.connection import SCRATCH
from fluid_build.sources.files.delimited.readable import numbered_names
from fluid_build.sources.files.delimited.tail import Above, Record, above, below_table, notes_on
from fluid_build.sources.files.delimited.text_types import TextColumn, infer
from fluid_build.sources.files.sheet_tables import CellKind, SheetTable
from fluid_build.sources.origin import FilePart, InFiles, LeftOut
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.text_values.text_classes import NULL_WORDS
from fluid_build.sources.uri import as_pattern
from fluid_build.text import counted

_READ_BY_DUCKDB = (".xlsx", ".xlsm")
_TEXT = f"{SCRATCH}.sheet"
_TYPES: tuple[tuple[frozenset[CellKind], str], ...] = (
    (frozenset({"whole number"}), "BIGINT"),
    (frozenset({"whole number", "number"}), "DOUBLE"),
    (frozenset({"flag"}), "BOOLEAN"),
    (frozenset({"date"}), "DATE"),
    (frozenset({"date", "moment"}), "TIMESTAMP"),
    (frozenset({"time"}), "TIME"),
    (frozenset({"time", "duration"}), "INTERVAL"),
)
"""The type of a column by the kinds of its cells: the first whose kinds include them all."""
_NUMBERS: frozenset[CellKind] = frozenset({"whole number", "number"})
_PHRASES: dict[CellKind, str] = {
    "text": "text",
    "whole number": "numbers",
    "number": "numbers",
    "flag": "true or false",
    "date": "dates",
    "moment": "dates",
    "time": "times",
    "duration": "times",
}


def stage_sheet(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    table: SheetTable,
    relation: str,
    answers: Conventions = NO_ANSWERS,
) -> tuple[tuple[Column, ...], tuple[str, ...], InFiles]:
    """Stage a table of a workbook; return its columns, notes on its cells, and its origin."""
    names = numbered_names(table.names)
    aliases = unique_names(names)
    texts = [f"c{i}" for i in range(len(names))]
    _load(connection, table, texts)
    try:
        below, rows_kept = _leave_out_what_is_below(connection, table, texts)
        kinds = _kinds(table, rows_kept)
        blanks = _blanks(table, rows_kept)
        verdicts = [
            _with_blanks(verdict, count)
            for verdict, count in zip(
                _verdicts(connection, texts, names, kinds, answers), blanks, strict=True
            )
        ]
        chosen = ", ".join(
            f"{verdict.of(text)} AS {quote(alias)}"
            for text, verdict, alias in zip(texts, verdicts, aliases, strict=True)
        )
        connection.execute(f"CREATE TABLE {relation} AS SELECT {chosen} FROM {_TEXT}")
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {_TEXT}")
    columns = tuple(
        Column(
            name,
            verdict.type,
            alias=alias,
            notes=tuple(filter(None, (verdict.note, verdict.evidence))),
            spelling=verdict.spelling,
        )
        for name, alias, verdict in zip(names, aliases, verdicts, strict=True)
    )
    notes = [
        *table.notes,
        *(note.replace("Line", "Row", 1) for note in notes_on(below, named=False)),
    ]
    if not table.header:
        notes.append("It has no header, so its columns are named by position.")
    notes += [
        f"{name}: {verdict.note}"
        for name, verdict in zip(names, verdicts, strict=True)
        if verdict.note
    ]
    origin = _origin(path, table, columns, below, rows_kept)
    if not all(verdict.plain for verdict in verdicts):
        origin = replace(origin, in_place=False)
    return columns, tuple(notes), origin


def _origin(
    path: Path,
    table: SheetTable,
    columns: Sequence[Column],
    below: tuple[LeftOut, ...],
    rows_kept: int,
) -> InFiles:
    """Say where the rows are, for DuckDB's reader, which knows nothing of what is around them."""
    first, _, _ = table.place.partition(":")
    last_column = table.place.partition(":")[2].rstrip("0123456789")
    place = f"{first}:{last_column}{table.row_numbers[rows_kept - 1]}" if rows_kept else table.place
    part = FilePart(
        paths=(path,),
        options=(
            ("sheet", literal(table.sheet)),
            ("range", literal(place)),
            ("header", str(table.header).lower()),
            ("stop_at_empty", "false"),
            ("empty_as_varchar", "true"),
        ),
        types=tuple((column.alias, column.type) for column in columns),
        expressions=tuple(
            (column.alias, f"CAST({quote(column.alias)} AS {column.type})")
            for column in columns
            if column.type not in ("VARCHAR", "DOUBLE")
        ),
    )
    return InFiles(
        format="excel",
        root=path.parent,
        parts=(part,),
        in_place=table.is_plain and table.header and path.suffix.lower() in _READ_BY_DUCKDB,
        left_out=below,
    )


def _load(connection: duckdb.DuckDBPyConnection, table: SheetTable, texts: Sequence[str]) -> None:
    fields = [*texts, *(["spare"] if len(texts) == 1 else [])]
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in fields)
    connection.execute(
        f"CREATE OR REPLACE TABLE {_TEXT} AS SELECT {', '.join(texts)} FROM read_csv("
        f"{literal(as_pattern(str(table.rows)))}, auto_detect=false, header=false, delim=',',"
        f" quote='\"', escape='\"', columns={{{columns}}}, max_line_size=33554432,"
        r" new_line='\r\n')"
    )


def _leave_out_what_is_below(
    connection: duckdb.DuckDBPyConnection, table: SheetTable, texts: Sequence[str]
) -> tuple[tuple[LeftOut, ...], int]:
    """Delete the totals and notes that end a table from its rows.

    Returns them, and how many of the table's last rows are rows of it.
    """

    def ask(count: int) -> Above:
        rows = f"FROM {_TEXT} ORDER BY rowid"
        return above(
            connection,
            f"{rows} LIMIT greatest(0, (SELECT count(*) FROM {_TEXT}) - {count})",
            texts,
        )

    count = len(table.last)
    records = [
        Record(count - i, fields if any(fields) else ()) for i, fields in enumerate(table.last)
    ]
    below = below_table(records, len(texts), ask)
    full = sum(bool(record.fields) for record, _ in below)
    connection.execute(
        f"DELETE FROM {_TEXT} WHERE rowid >= (SELECT count(*) FROM {_TEXT}) - {full}"
    )
    position = {record.line: i for i, record in enumerate(records)}
    left_out = tuple(
        LeftOut(table.name, table.row_numbers[position[record.line]], what)
        for record, what in below
    )
    return left_out, min((position[record.line] for record, _ in below), default=len(records))


def _kinds(table: SheetTable, rows_kept: int) -> list[frozenset[CellKind]]:
    """Return the kinds of each column's cells, without the rows below the table."""
    return [
        kinds | {kind for row in table.last_kinds[:rows_kept] if (kind := row[i]) is not None}
        for i, kinds in enumerate(table.kinds)
    ]


def _blanks(table: SheetTable, rows_kept: int) -> list[int]:
    """Count each column's cells with spaces alone, without the rows below the table."""
    last = table.last_blanks[:rows_kept]
    return [count + sum(i in row for row in last) for i, count in enumerate(table.blanks)]


def _with_blanks(verdict: TextColumn, count: int) -> TextColumn:
    """Say that cells with spaces alone are null, which no other reader of the file makes them."""
    if not count:
        return verdict
    note = f"{counted(count, 'cell')} with nothing but spaces read as null."
    return replace(verdict, note=f"{verdict.note} {note}".strip(), plain=False)


def _verdicts(
    connection: duckdb.DuckDBPyConnection,
    texts: Sequence[str],
    names: Sequence[str],
    kinds: Sequence[frozenset[CellKind]],
    answers: Conventions,
) -> list[TextColumn]:
    """Return how each column is read: by its cells, and text by what it says."""
    verdicts: dict[str, TextColumn] = {}
    for text, of_column in zip(texts, kinds, strict=True):
        verdict = _by_cells(connection, text, of_column)
        if verdict is not None:
            verdicts[text] = verdict
    of_text = [text for text in texts if text not in verdicts]
    labels = [name for text, name in zip(texts, names, strict=True) if text in of_text]
    verdicts |= zip(of_text, infer(connection, _TEXT, of_text, labels, answers), strict=True)
    return [verdicts[text] for text in texts]


def _by_cells(
    connection: duckdb.DuckDBPyConnection, text: str, kinds: frozenset[CellKind]
) -> TextColumn | None:
    """Return how a column is read by the kinds of its cells; None where all are text."""
    if not kinds or kinds == {"text"}:
        return None
    type_ = next((type_ for all_kinds, type_ in _TYPES if kinds <= all_kinds), None)
    if type_ is not None:
        return TextColumn(type_, f"CAST({{c}} AS {type_})")
    if "text" in kinds:
        others = kinds - {"text"}
        type_ = next((type_ for all_kinds, type_ in _TYPES if others <= all_kinds), None)
        words = ", ".join(literal(word) for word in (*NULL_WORDS, *_BLANK_WORDS))
        value = f"CASE WHEN trim({{c}}) NOT IN ({words}) THEN trim({{c}}) END"
        if type_ is not None and _is_plain(connection, text, value, type_):
            note = _note_on_text_cells(connection, text, words, type_)
            return TextColumn(type_, f"CAST({value} AS {type_})", note, plain=False)
    phrases = dict.fromkeys(_PHRASES[kind] for kind in sorted(kinds))
    return TextColumn("VARCHAR", "{c}", f"Read as text: its cells hold {_listed(list(phrases))}.")


_BLANK_WORDS = ("-", "\u2013", "\u2014", "--")
"""Dashes in the place of a value, as people type them."""


def _is_plain(connection: duckdb.DuckDBPyConnection, text: str, value: str, type_: str) -> bool:
    """Return whether all text among other cells says nothing, or a value as DuckDB writes it."""
    bare = value.replace("{c}", text)
    row = connection.execute(
        f"SELECT coalesce(bool_and(coalesce(written IN (v, v || '.0'), v IS NULL)), true) FROM"
        f" (SELECT v, CAST(TRY_CAST(v AS {type_}) AS VARCHAR) AS written"
        f" FROM (SELECT {bare} AS v FROM {_TEXT}))"
    ).fetchone()
    return bool(row and row[0])


def _note_on_text_cells(
    connection: duckdb.DuckDBPyConnection, text: str, words: str, type_: str
) -> str:
    row = connection.execute(
        f"SELECT count(*) FROM {_TEXT} WHERE trim({text}) IN ({words})"
    ).fetchone()
    absent = int(row[0]) if row else 0
    if absent:
        return f"{counted(absent, 'cell')} with a word or a dash for a missing value read as null."
    return "Some of its cells hold numbers as text." if type_ in ("BIGINT", "DOUBLE") else ""


def _listed(phrases: Sequence[str]) -> str:
    return " and ".join(phrases)
