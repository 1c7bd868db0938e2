"""Totals and notes below the table in a delimited file.

A total isn't a row of the table: counted as one it doubles every sum. It is known by its label
(Total, Summe, Gesamt and so on) or by its numbers, each the sum of the column above it, in a row
that lacks what every other row has. A note fills a single cell, or too few of them, and is set
apart from the table. What can't be told from a row for sure stays a row.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

import duckdb

from fluid_build.sources.files.delimited.affixes import bare_number
from fluid_build.sources.files.delimited.dialect import Dialect, is_value, records_of
from fluid_build.sources.origin import LeftOut, NotARow
from fluid_build.sources.sql import literal
from fluid_build.sources.text_values.text_classes import SPACES

_MOST = 10
"""Records below a table. Where more look like totals or notes, they are the table's own rows."""

_ROUNDING = 0.0051
"""How far a printed total may be from the sum: half of a hundredth, and a little for doubles."""

_VALUE = "[(]?[-+]?[0-9][-+0-9.,:/ ]*[)]?"
"""A number or a date, by its characters."""

_LABEL = re.compile(
    r"""(?:(?:(?:grand|sub|net|gross|overall|running)[ -]?)?totals?
    |(?:gesamt|zwischen|end)?summe|gesamt(?:betrag|ergebnis|umsatz|wert)?|insgesamt
    |(?:sous|sub)?[ -]?tota(?:l|ux|le|is|les)(?:[ ](?:général|generale?|geral))?|somme|ensemble
    |(?:eind|sub)?totaal|som|sum|suma|razem|ogółem|łącznie|celkem|spolu|összesen|итого|всего
    |toplam|yhteensä|summa|sammanlagt|i[ ]alt|σύνολο|合計|总计|合计|합계
    |average|avg|mean|durchschnitt|mittelwert|moyenne|gemiddelde|promedio|media|média)
    [\s:=]*(?:\(.*\)|[\d/.-]+|(?-i:[A-Z]{3})|[€$£])?[\s:=]*""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Record:
    """A record near the end of a file; ``line`` is counted from the end, 1 for the last one."""

    line: int
    fields: tuple[str, ...]

    @property
    def filled(self) -> list[int]:
        """The places of the fields that aren't blank."""
        return [i for i, field in enumerate(self.fields) if field.strip()]


@dataclass(frozen=True, slots=True)
class Above:
    """What the rows above some records hold, column by column.

    ``complete`` are columns that are never blank, ``values`` those that hold numbers and dates
    alone. ``sums`` are read with a decimal point and with a decimal comma.
    """

    rows: int
    complete: frozenset[int]
    values: frozenset[int]
    sums: tuple[tuple[float | None, float | None], ...]


Ask: TypeAlias = Callable[[int], Above]
"""Returns what the table holds without so many of its last full records."""


def last_records(text: str, dialect: Dialect) -> list[Record]:
    """Return the records of a text from a file's end; blank lines have no fields."""
    lines = text.rstrip("\r\n").split("\n")
    reader = records_of("\n".join(lines), dialect.delimiter, dialect.escape)
    records, line = [], len(lines)
    for fields in reader:
        records.append(Record(line, tuple(fields)))
        line -= sum(field.count("\n") for field in fields) + 1
    # A quoted line break that the text begins within would shift every line.
    return records if line == 0 else []


def below_table(records: Sequence[Record], width: int, ask: Ask) -> list[tuple[Record, NotARow]]:
    """Return the totals and notes that end a file, from the top; blank lines aside."""
    block = possibly_below(records, width)
    while block:
        full = sum(len(record.fields) == width for record in block)
        verdict = _judge(block, width, ask(full))
        if not isinstance(verdict, int):
            return verdict
        block = block[verdict + 1 :]
    return []


def possibly_below(records: Sequence[Record], width: int) -> list[Record]:
    """Return the records at the end of a file that, judged by themselves, may not be rows."""
    left = min((record.filled[0] for record in records if record.filled), default=0)
    last = takewhile(lambda record: _may_be_below(record, width, left), reversed(records))
    block = list(last)[::-1]
    if len(block) == len(records) or sum(bool(record.filled) for record in block) > _MOST:
        return []
    return block


def _judge(block: Sequence[Record], width: int, above: Above) -> list[tuple[Record, NotARow]] | int:
    """Return what each record of a block is, or the position of the last one that is a row."""
    judged: list[tuple[Record, NotARow]] = []
    apart, row = False, -1
    for position, record in enumerate(block):
        if not record.filled:
            judged += [(record, "blank")] * bool(record.fields)
        elif _is_total(record, width, above):
            judged.append((record, "total"))
        elif _is_note(record, width, above, apart=apart):
            judged.append((record, "note"))
        else:
            row = position
            continue
        apart = True
    return judged if row < 0 else row


def _may_be_below(record: Record, width: int, left: int) -> bool:
    """Return whether a record may be a total or a note; ``left`` is the first column in use."""
    if not record.filled:
        return True
    if len(record.fields) > width or width < 2:
        return False
    first = record.fields[record.filled[0]].strip()
    is_sparse = len(record.filled) == 1 or len(record.fields) < width
    return is_sparse or is_label(first) or (record.filled[0] > left and is_value(first))


def is_label(text: str) -> bool:
    """Return whether a text is what totals are called."""
    return _LABEL.fullmatch(text) is not None


def _is_total(record: Record, width: int, above: Above) -> bool:
    if len(record.fields) != width or not above.rows:
        return False
    filled = record.filled
    summed = [_is_a_sum(record.fields[i], above.sums[i]) for i in filled]
    if is_label(record.fields[filled[0]].strip()):
        lacks = any(i not in filled for i in above.complete)
        return len(filled) > 1 and (any(summed) or lacks or filled[0] in above.values)
    nameless = 0 in above.complete and 0 not in filled
    return nameless and above.rows > 1 and all(summed)


def _is_note(record: Record, width: int, above: Above, *, apart: bool) -> bool:
    first = record.fields[record.filled[0]].strip()
    if is_value(first) or len(record.filled) > max(1, width // 2):
        return False
    return apart or (len(record.filled) == 1 and record.filled[0] == 0 and 0 in above.values)


def _is_a_sum(text: str, sums: tuple[float | None, float | None]) -> bool:
    """Return whether a text is the sum of its column, read by either convention.

    0 proves nothing.
    """
    return any(is_sum(text, mark, total) for mark, total in zip(".,", sums, strict=True) if total)


def is_sum(text: str, mark: str, total: float) -> bool:
    """Return whether a text is a sum by a decimal mark, but for rounding; 0 proves nothing."""
    own = number_of(text, mark)
    return own is not None and total != 0 and abs(own - total) <= _ROUNDING + 1e-9 * abs(total)


def number_of(text: str, decimal: str) -> float | None:
    """Return a number by a convention; None where the text is none."""
    groups = SPACES + ("," if decimal == "." else ".")
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = f"-{text[1:-1]}"
    bare = text.translate({ord(mark): None for mark in groups}).replace(decimal, ".")
    try:
        return float(bare) if bare and not bare[-1].isalpha() else None
    except ValueError:
        return None


def above(connection: duckdb.DuckDBPyConnection, rows: str, columns: Sequence[str]) -> Above:
    """Return what some rows hold; ``rows`` is a query, and its ``columns`` are text."""
    figures = ", ".join(
        f"count_if(trim(coalesce({name}, '')) = ''),"
        f" coalesce(bool_and(regexp_full_match(trim({name}), {literal(_VALUE)})), false),"
        f" sum({_summed(name, '.')}), sum({_summed(name, ',')})"
        for name in columns
    )
    row = connection.execute(f"SELECT count(*), {figures} FROM ({rows})").fetchone() or (0,)
    count, *cells = row
    by_column = list(zip(cells[::4], cells[1::4], cells[2::4], cells[3::4], strict=True))
    return Above(
        rows=int(count),
        complete=frozenset(i for i, (blank, *_) in enumerate(by_column) if not blank),
        values=frozenset(i for i, (_, values, *_) in enumerate(by_column) if values),
        sums=tuple((point, comma) for _, _, point, comma in by_column),
    )


def _summed(column: str, decimal: str) -> str:
    groups = SPACES + ("," if decimal == "." else ".")
    number = bare_number(column)
    bare = f"translate({number}, {literal(groups)}, '')"
    read = bare if decimal == "." else f"replace({bare}, ',', '.')"
    return f"CASE WHEN regexp_matches({number}, '[0-9]$') THEN TRY_CAST({read} AS DOUBLE) END"


def notes_on(left_out: Sequence[LeftOut], *, named: bool) -> list[str]:
    """Write a sentence on the lines left out of a file, which is ``named`` if there are several."""
    where = f" of {left_out[0].file}" if named and left_out else ""
    phrases: dict[NotARow, tuple[str, str]] = {
        "total": ("holds a total", "hold totals"),
        "note": ("holds a note below the table", "hold notes below the table"),
        "blank": ("below the table is blank", "below the table are blank"),
        "units": ("holds units", "hold units"),
        "header": ("repeats the header", "repeat the header"),
        "subtotal": ("holds a subtotal", "hold subtotals"),
    }
    notes = []
    for what, (singular, plural) in phrases.items():
        lines = [entry.line for entry in left_out if entry.what == what]
        if len(lines) == 1:
            notes.append(f"Line {lines[0]}{where} {singular} and was left out.")
        elif lines:
            notes.append(f"Lines {spans(lines)}{where} {plural} and were left out.")
    return notes


def spans(lines: Sequence[int]) -> str:
    """Line numbers in order, those that follow each other as a span."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
