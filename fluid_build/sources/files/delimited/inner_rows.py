"""Lines among the rows of a delimited file that are no rows: units, repeated headers, subtotals.

A subtotal is known by its label and by its numbers, each the sum of the rows since some other
subtotal. The units of columns stand right below the header, over columns that hold only numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.sources.files.delimited.dialect import is_value, records_of
from fluid_build.sources.files.delimited.readable import Readable
from fluid_build.sources.files.delimited.tail import is_label, is_sum, number_of
from fluid_build.sources.files.delimited.trimming import Loaded
from fluid_build.sources.origin import LeftOut, NotARow
from fluid_build.sources.sql import literal
from fluid_build.sources.text_values import encodings

_PART_OF_A_LABEL = (
    "(?i)tota|sum|som|gesamt|ensemble|razem|og\u00f3\u0142em|\u0142\u0105cznie|celkem|spolu"
    "|\u00f6sszesen|\u0438\u0442\u043e\u0433\u043e|\u0432\u0441\u0435\u0433\u043e|toplam|yhteens"
    "|\u03c3\u03cd\u03bd\u03bf\u03bb\u03bf|\u5408\u8ba1|\u5408\u8a08|\u603b\u8ba1|\ud569\uacc4"
)
"""What labels of totals have in them: a first, cheap test."""
_MOST_ROWS = 200_000
"""Rows up to which lines are looked at one by one."""
_MOST_SUBTOTALS = 0.5
"""The share of rows that may be subtotals; where there are more, they're what the table holds."""
_LONGEST_UNIT = 12
_JUDGED = 200


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of the table with the line that it begins on, counted from 1."""

    number: int
    fields: Sequence[str]


def leave_out_inner(
    connection: duckdb.DuckDBPyConnection, file: Readable, loaded: Loaded
) -> tuple[LeftOut, ...]:
    """Delete what isn't a row from the rows that were read of a file, and return the lines.

    Nothing is deleted where the rows aren't the lines of the file one by one.
    """
    if len(loaded.columns) < 2 or not _is_worth_a_look(connection, file, loaded):
        return ()
    lines = _lines_of(file)
    if len(lines) != _count(connection, loaded):
        return ()
    no_rows = _no_rows(lines, file.dialect.names if file.dialect.header else ())
    if no_rows:
        rowids = ", ".join(str(loaded.first + position) for position in no_rows)
        connection.execute(f"DELETE FROM {loaded.relation} WHERE rowid IN ({rowids})")
    return tuple(
        LeftOut(file.place.name, lines[position].number, what) for position, what in no_rows.items()
    )


def _is_worth_a_look(connection: duckdb.DuckDBPyConnection, file: Readable, loaded: Loaded) -> bool:
    """Return whether some row repeats the header, has the label of a total, or may be units."""
    first, second = loaded.columns[:2]
    names = file.dialect.names if file.dialect.header else ()
    repeated = " AND ".join(
        f"{column} IS NOT DISTINCT FROM {literal(name) if name else 'NULL'}"
        for column, name in zip(loaded.columns, names, strict=False)
    )
    label = f"coalesce({first}, {second})"
    # Most tables begin with numbers, which needn't be searched for words.
    worded = f"{label}[1] NOT BETWEEN '0' AND '9'"
    own_rows = f"FROM {loaded.relation} WHERE rowid >= {loaded.first}"
    figures = connection.execute(
        f"SELECT count(*), count_if({worded}), count_if({repeated or 'false'}) {own_rows}"
    ).fetchone() or (0, 0, 0)
    rows, words, headers = figures
    if not 2 < rows <= _MOST_ROWS:
        return False
    if headers:
        return True
    start = connection.execute(
        f"SELECT {', '.join(loaded.columns)} FROM {loaded.relation} WHERE rowid = {loaded.first}"
    ).fetchone()
    if names and start and _are_short_words([cell or "" for cell in start]):
        return True
    if not words:
        return False
    is_label = f"regexp_matches({label}, {literal(_PART_OF_A_LABEL)})"
    row = connection.execute(f"SELECT count(*) {own_rows} AND {worded} AND {is_label}").fetchone()
    return row is not None and 0 < row[0] <= _MOST_SUBTOTALS * int(rows)


def _count(connection: duckdb.DuckDBPyConnection, loaded: Loaded) -> int:
    row = connection.execute(
        f"SELECT count(*) FROM {loaded.relation} WHERE rowid >= {loaded.first}"
    ).fetchone()
    return int(row[0]) if row else 0


def _lines_of(file: Readable) -> list[_Line]:
    """Return the rows of a file as its lines have them, without those of another width.

    None of a format that can't be read like this.
    """
    dialect = file.dialect
    if file.place.suffix.lower() in encodings.ZSTD:
        return []
    with encodings.opened(file.place) as content:
        text = content.read().decode("utf-8", errors="replace").removeprefix("\ufeff")
    text = text.replace("\r\n", "\n").split("\n", dialect.preamble)[-1]
    lines, number = [], dialect.preamble + 1
    for fields in records_of(text, dialect.delimiter, dialect.escape):
        if len(fields) == len(dialect.names):
            lines.append(_Line(number, fields))
        number += sum(field.count("\n") for field in fields) + 1
    return lines[1:] if dialect.header and lines else lines


def _no_rows(lines: Sequence[_Line], names: Sequence[str]) -> Mapping[int, NotARow]:
    """Return the positions of lines that are no rows, and what they are, in order."""
    no_rows: dict[int, NotARow] = {}
    if names and _are_units(lines):
        no_rows[0] = "units"
    stripped = [name.strip() for name in names]
    if len([name for name in stripped if name]) > 1:
        for position, line in enumerate(lines):
            if [field.strip() for field in line.fields] == stripped:
                no_rows[position] = "header"
    subtotals = subtotals_among(
        [(i, line.fields) for i, line in enumerate(lines) if i not in no_rows]
    )
    no_rows |= dict.fromkeys(subtotals, "subtotal")
    return dict(sorted(no_rows.items()))


def _are_short_words(cells: Sequence[str]) -> bool:
    """Return whether cells are short and without digits, and not all blank."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(
        len(cell) <= _LONGEST_UNIT and not any(map(str.isdigit, cell)) for cell in filled
    )


def _are_units(lines: Sequence[_Line]) -> bool:
    """Return whether the first line has units: short words, most of them over numbers alone."""
    first, below = lines[0].fields, lines[1:_JUDGED]
    if not _are_short_words(first):
        return False
    filled = [i for i, cell in enumerate(first) if cell.strip()]
    columns = {
        i: [cell for line in below if i < len(line.fields) and (cell := line.fields[i].strip())]
        for i in filled
    }
    over_numbers = [i for i, cells in columns.items() if cells and all(map(is_value, cells))]
    return 2 * len(over_numbers) > len(filled)


def subtotals_among(rows: Sequence[tuple[int, Sequence[str]]]) -> list[int]:
    """Return the positions of subtotals; those that end the rows are left to be judged as totals.

    One column at least must add up in each of them.
    """
    labelled = [i for i, (_, fields) in enumerate(rows) if _is_labelled(fields)]
    # A note below the table fills a single cell, and is no row that a total could stand among.
    full = {i for i, (_, fields) in enumerate(rows) if sum(map(bool, map(str.strip, fields))) > 1}
    last_row = max(full.difference(labelled), default=-1)
    inner = [i for i in labelled if i < last_row]
    if not inner or len(labelled) > _MOST_SUBTOTALS * len(rows):
        return []
    columns = range(min(len(fields) for _, fields in rows))
    adding_up = any(_adds_up([fields[c] for _, fields in rows], labelled, inner) for c in columns)
    return [rows[i][0] for i in inner] if adding_up else []


def _is_labelled(fields: Sequence[str]) -> bool:
    label = next((field.strip() for field in fields if field.strip()), "")
    return is_label(label)


def _adds_up(column: Sequence[str], labelled: Sequence[int], inner: Sequence[int]) -> bool:
    """Return whether each inner subtotal is the sum of the rows since the start or a subtotal."""
    return any(_adds_up_by(mark, column, set(labelled), set(inner)) for mark in ".,")


def _adds_up_by(mark: str, column: Sequence[str], labelled: set[int], inner: set[int]) -> bool:
    total, starts = 0.0, [0.0]
    for position, text in enumerate(column):
        if position not in labelled:
            total += number_of(text, mark) or 0.0
            continue
        if position in inner and not any(is_sum(text, mark, total - start) for start in starts):
            return False
        starts.append(total)
    return True
