"""What stands below the table in a delimited file: totals and notes.

A total is no row of the table: counted as one it doubles every sum. It is known by its label
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

from fluid_build.sources.delimited.dialect import Dialect, is_value, records_of
from fluid_build.sources.origin import LeftOut, NotARow
from fluid_build.sources.sql import literal
from fluid_build.sources.text_classes import SPACES

_MOST = 10
"""Records below a table. Where more look like totals or notes, they are what the table is of."""

_ROUNDING = 0.0051
"""How far a printed total may be off the sum: half of a hundredth."""

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
"""What the table holds without so many of its last full records."""


def last_records(text: str, dialect: Dialect) -> list[Record]:
    """The records of a text from a file's end; blank lines have no fields."""
    lines = text.rstrip("\r\n").split("\n")
    reader = records_of("\n".join(lines), dialect.delimiter, dialect.escape)
    found, line = [], len(lines)
    for fields in reader:
        found.append(Record(line, tuple(fields)))
        line -= sum(field.count("\n") for field in fields) + 1
    # A quoted line break that the text begins within would shift every line.
    return found if line == 0 else []


def below_table(records: Sequence[Record], width: int, ask: Ask) -> list[tuple[Record, NotARow]]:
    """The totals and notes that end a file, from the top; blank lines aside."""
    block = possibly_below(records, width)
    while block:
        found = _judged(block, width, ask(sum(len(one.fields) == width for one in block)))
        if not isinstance(found, int):
            return found
        block = block[found + 1 :]
    return []


def possibly_below(records: Sequence[Record], width: int) -> list[Record]:
    """The records at the end of a file that may be no rows, as far as they tell by themselves."""
    block = list(takewhile(lambda one: _may_be_below(one, width), reversed(records)))[::-1]
    if len(block) == len(records) or sum(bool(one.filled) for one in block) > _MOST:
        return []
    return block


def _judged(
    block: Sequence[Record], width: int, above: Above
) -> list[tuple[Record, NotARow]] | int:
    """What each record of a block is; the place of the last one that is a row, if there is one."""
    found: list[tuple[Record, NotARow]] = []
    apart, row = False, -1
    for place, one in enumerate(block):
        if not one.filled:
            found += [(one, "blank")] * bool(one.fields)
        elif _is_total(one, width, above):
            found.append((one, "total"))
        elif _is_note(one, width, above, apart=apart):
            found.append((one, "note"))
        else:
            row = place
            continue
        apart = True
    return found if row < 0 else row


def _may_be_below(one: Record, width: int) -> bool:
    if not one.filled:
        return True
    if len(one.fields) > width or width < 2:
        return False
    first = one.fields[one.filled[0]].strip()
    is_sparse = len(one.filled) == 1 or len(one.fields) < width
    return is_sparse or _is_label(first) or (one.filled[0] > 0 and is_value(first))


def _is_label(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


def _is_total(one: Record, width: int, above: Above) -> bool:
    if len(one.fields) != width or not above.rows:
        return False
    filled = one.filled
    summed = [_is_sum(one.fields[i], above.sums[i]) for i in filled]
    if _is_label(one.fields[filled[0]].strip()):
        lacks = any(i not in filled for i in above.complete)
        return len(filled) > 1 and (any(summed) or lacks or filled[0] in above.values)
    nameless = 0 in above.complete and 0 not in filled
    return nameless and above.rows > 1 and all(summed)


def _is_note(one: Record, width: int, above: Above, *, apart: bool) -> bool:
    first = one.fields[one.filled[0]].strip()
    if is_value(first) or len(one.filled) > max(1, width // 2):
        return False
    return apart or (len(one.filled) == 1 and one.filled[0] == 0 and 0 in above.values)


def _is_sum(text: str, sums: tuple[float | None, float | None]) -> bool:
    """Whether a text is the sum of its column, read by either convention; 0 proves nothing."""
    pairs = zip((_number(text, "."), _number(text, ",")), sums, strict=True)
    return any(
        own is not None and total and abs(own - total) <= _ROUNDING + 1e-9 * abs(total)
        for own, total in pairs
    )


def _number(text: str, decimal: str) -> float | None:
    """A number by a convention; None where the text is none."""
    groups = SPACES + ("," if decimal == "." else ".")
    bare = text.strip().translate({ord(mark): None for mark in groups}).replace(decimal, ".")
    try:
        return float(bare) if bare and not bare[-1].isalpha() else None
    except ValueError:
        return None


def above(connection: duckdb.DuckDBPyConnection, rows: str, columns: Sequence[str]) -> Above:
    """What some rows hold; ``rows`` is a query, and its ``columns`` are text."""
    asked = ", ".join(
        f"count_if(trim(coalesce({name}, '')) = ''),"
        f" coalesce(bool_and(regexp_full_match(trim({name}), '[-+]?[0-9][-+0-9.,:/ ]*')), false),"
        f" sum({_summed(name, '.')}), sum({_summed(name, ',')})"
        for name in columns
    )
    count, *found = connection.execute(f"SELECT count(*), {asked} FROM ({rows})").fetchone() or (0,)
    by_column = list(zip(found[::4], found[1::4], found[2::4], found[3::4], strict=True))
    return Above(
        rows=int(count),
        complete=frozenset(i for i, (blank, *_) in enumerate(by_column) if not blank),
        values=frozenset(i for i, (_, values, *_) in enumerate(by_column) if values),
        sums=tuple((point, comma) for _, _, point, comma in by_column),
    )


def _summed(column: str, decimal: str) -> str:
    groups = SPACES + ("," if decimal == "." else ".")
    bare = f"translate({column}, {literal(groups)}, '')"
    read = bare if decimal == "." else f"replace({bare}, ',', '.')"
    return f"CASE WHEN regexp_matches({column}, '[0-9]$') THEN TRY_CAST({read} AS DOUBLE) END"


def notes_on(left_out: Sequence[LeftOut], *, named: bool) -> list[str]:
    """A sentence for what was left out of a file; it is ``named`` where there are several."""
    where = f" of {left_out[0].file}" if named and left_out else ""
    said: dict[NotARow, tuple[str, str]] = {
        "total": ("holds a total", "hold totals"),
        "note": ("holds a note below the table", "hold notes below the table"),
        "blank": ("below the table is blank", "below the table are blank"),
    }
    notes = []
    for what, (one, several) in said.items():
        lines = [entry.line for entry in left_out if entry.what == what]
        if len(lines) == 1:
            notes.append(f"Line {lines[0]}{where} {one} and was left out.")
        elif lines:
            notes.append(f"Lines {spans(lines)}{where} {several} and were left out.")
    return notes


def spans(lines: Sequence[int]) -> str:
    """Line numbers in order, those that follow each other as a span."""
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][-1] + 1:
            found[-1].append(line)
        else:
            found.append([line])
    return ", ".join(f"{one[0]} to {one[-1]}" if len(one) > 1 else f"{one[0]}" for one in found)
