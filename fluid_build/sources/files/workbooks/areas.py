"""Where the tables of a sheet are: under titles, next to each other, or one below another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from fluid_build.sources.files.delimited.dialect import is_header, is_value, table_start
from fluid_build.sources.files.delimited.inner_rows import subtotals_among
from fluid_build.sources.files.delimited.tail import is_label, spans
from fluid_build.sources.files.workbooks.cells import Cell, Row, is_blank, kind_of_cell, text_of
from fluid_build.text import counted, noun

Range: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""The first and the last cell of a range, each as row and column from 0."""
Merged: TypeAlias = Sequence[Range]

_JUDGED = 230
"""Rows from which a table's start is judged: titles, the header, and rows that look like data."""
_HIGHEST_HEADER = 30
_LONGEST_UNIT = 12
_MOST_ADDED_UP = 200_000
"""Rows among which subtotals are looked for."""


@dataclass(frozen=True, slots=True)
class Area:
    """A table on a sheet: its columns' names, and its rows with what may stand below them.

    ``columns`` are the positions of its columns on the sheet and ``top`` is the row of its header,
    or of its first row without one. ``row_numbers`` says where each row is; all count from 0.
    """

    names: tuple[str, ...]
    header: bool
    columns: tuple[int, ...]
    top: int
    rows: Sequence[Row]
    row_numbers: Sequence[int]
    notes: tuple[str, ...] = ()
    is_plain: bool = True
    """Whether the rows are those of the sheet below the header, without any in between left out,
    and no cell was filled."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a sheet from its first to its last; ``top`` and ``left`` are where these are."""

    rows: Sequence[Row]
    top: int = 0
    left: int = 0
    merged: Merged = field(default_factory=tuple)


def tables_of(grid: Grid) -> list[Area]:
    """Return the tables of a sheet, from left to right and from top to bottom."""
    return [area for strip in _strips(grid) for area in _stacked(strip)]


@dataclass(frozen=True, slots=True)
class _Strip:
    """Columns of a sheet that belong together, without blank ones, and the merged cells in them.

    ``columns`` are their positions on the sheet; ``merged`` counts within the strip.
    """

    rows: Sequence[Row]
    columns: tuple[int, ...]
    top: int
    merged: Merged


def _strips(grid: Grid) -> Iterator[_Strip]:
    """Yield the parts of a sheet that blank columns part.

    A table may have blank columns too. Parts are tables of their own if each has several columns
    and they begin or end in different rows.
    """
    extents = _extents(grid.rows)
    runs: list[list[int]] = []
    for column in sorted(extents):
        if runs and runs[-1][-1] == column - 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    ranges = {(min(extents[c][0] for c in run), max(extents[c][1] for c in run)) for run in runs}
    are_apart = len(ranges) == len(runs) and all(len(run) > 1 for run in runs)
    if not are_apart:
        runs = [sorted(extents)] if extents else []
    for run in runs:
        place = {column: position for position, column in enumerate(run)}
        yield _Strip(
            rows=[[row[c] if c < len(row) else "" for c in run] for row in grid.rows],
            columns=tuple(grid.left + column for column in run),
            top=grid.top,
            merged=tuple(_merged_in(grid, place)),
        )


def _extents(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """Return the first and the last row of each column that holds something."""
    extents: dict[int, tuple[int, int]] = {}
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if not is_blank(cell):
                extents[column] = (extents.get(column, (number, 0))[0], number)
    return extents


def _merged_in(grid: Grid, place: Mapping[int, int]) -> Iterator[Range]:
    for (top, left), (bottom, right) in grid.merged:
        within = [place[c] for c in range(left - grid.left, right - grid.left + 1) if c in place]
        if within:
            yield (top - grid.top, within[0]), (bottom - grid.top, within[-1])


def _stacked(strip: _Strip) -> Iterator[Area]:
    """Yield the tables of a strip, one below another."""
    rows = strip.rows
    start = _start_of(strip, 0)
    while start is not None:
        end = _next_table(strip, start)
        yield _area(strip, start, len(rows) if end is None else end)
        start = None if end is None else _start_of(strip, end)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a table starts in a strip: the first row of its header, its first row, its names."""

    top: int
    body: int
    header: bool
    names: tuple[str, ...]


def _start_of(strip: _Strip, first: int) -> _Start | None:
    """Return where the next table starts at or below a row; None where there's nothing left."""
    while first < len(strip.rows) and _is_empty(strip.rows[first]):
        first += 1
    if first == len(strip.rows):
        return None
    two_rows = _two_row_header(strip, first)
    if two_rows is not None:
        return two_rows
    records = [_record(row) for row in strip.rows[first : first + _JUDGED]]
    start = table_start(records, len(strip.columns))
    top = first + start.titles
    while _is_empty(strip.rows[top]):
        top += 1
    names = tuple(" ".join(name.split()) for name in start.names)
    return _Start(top, top + start.header, start.header, names)


def _record(row: Row) -> list[str]:
    """Return a row as a record of text: a blank row is empty, a title ends with its only cell."""
    cells = [text_of(cell) for cell in row]
    filled = [i for i, cell in enumerate(cells) if cell]
    if not filled:
        return []
    return cells[:1] if filled == [0] else cells


def _two_row_header(strip: _Strip, first: int) -> _Start | None:
    """Return the start of a table whose header has groups: merged cells over several names."""
    width = len(strip.columns)
    for number in range(first, min(len(strip.rows) - 1, first + _HIGHEST_HEADER)):
        groups = {
            column: strip.rows[number][left]
            for (top, left), (bottom, right) in strip.merged
            if top == bottom == number and left < right and right - left + 1 < width
            for column in range(left, right + 1)
        }
        below = strip.rows[number + 1]
        if not groups or any(is_blank(below[column]) for column in groups):
            continue
        names = tuple(
            _joined(groups.get(column, strip.rows[number][column]), below[column])
            for column in range(width)
        )
        if (
            all(isinstance(cell, str) or _is_year(cell) for cell in below)
            and sum(bool(name) for name in names) > width // 2
        ):
            return _Start(number, number + 2, True, names)
    return None


def _is_year(cell: Cell) -> bool:
    return isinstance(cell, int | float) and 1900 <= cell <= 2200


def _joined(group: Cell, name: Cell) -> str:
    parts = dict.fromkeys(" ".join(text_of(cell).split()) for cell in (group, name))
    return " ".join(filter(None, parts))


def _next_table(strip: _Strip, start: _Start) -> int | None:
    """Return the row where another table begins below: after a blank row, with a header of its own.

    It may have a title above its header.
    """
    rows = strip.rows
    own = [name.lower() for name in start.names]
    for number in range(start.body + 1, len(rows)):
        if not _is_empty(rows[number - 1]) or _is_empty(rows[number]):
            continue
        top = number
        while top < len(rows) and _filled(rows[top]) == 1:
            top += 1
        below = rows[top + 1 : top + _JUDGED]
        if top >= len(rows) or _filled(rows[top]) < 2 or not below or _is_empty(below[0]):
            continue
        cells = [text_of(cell) for cell in rows[top]]
        if [cell.strip().lower() for cell in cells] == own:
            continue
        records = [_record(row) for row in below if not _is_empty(row)]
        if _names_columns(rows[top]) and _filled(below[0]) > 1 and is_header(cells, records):
            return number
    return None


def _names_columns(row: Row) -> bool:
    """Return whether the cells of a row are names, each another one."""
    names = [cell for cell in row if not is_blank(cell)]
    texts = [cell for cell in names if isinstance(cell, str) and not is_value(cell.strip())]
    return len(texts) == len(names) == len({text.lower() for text in texts})


def _area(strip: _Strip, start: _Start, end: int) -> Area:
    """Return the table that starts there, up to a row; repeated headers and units are left out."""
    notes: list[str] = []
    filled_rows, filled_cells = _filled_down(strip, start, end)
    names = [text_of(cell) for cell in strip.rows[start.body - 1]] if start.header else []
    numbers: list[int] = []
    repeated = 0
    for number in range(start.body, end):
        if names and _is_row_of(names, strip.rows[number]):
            repeated += 1
        else:
            numbers.append(number)
    units = _units(filled_rows, numbers, start)
    if units:
        notes.append(f"Row {strip.top + numbers[0] + 1} holds units and was left out: {units}.")
        numbers = numbers[1:]
    subtotals = _subtotals(filled_rows, numbers)
    if subtotals:
        lines = spans([strip.top + number + 1 for number in sorted(subtotals)])
        notes.append(f"Subtotals were left out: {noun(len(subtotals), 'row')} {lines}.")
        numbers = [number for number in numbers if number not in subtotals]
    if repeated:
        notes.append(f"The header is repeated in {counted(repeated, 'row')}, which were left out.")
    if filled_cells:
        notes.append(f"Merged cells were filled: {counted(filled_cells, 'value')} repeated.")
    while numbers and _is_empty(filled_rows[numbers[-1]]):
        numbers.pop()
    columns = [i for i, _ in enumerate(strip.columns) if _is_used(i, start, filled_rows, numbers)]
    area = Area(
        names=tuple(start.names[i] for i in columns),
        header=start.header,
        columns=tuple(strip.columns[i] for i in columns),
        top=strip.top + start.top,
        rows=[[filled_rows[number][i] for i in columns] for number in numbers],
        row_numbers=[strip.top + number for number in numbers],
        notes=tuple(notes),
    )
    is_even = start.body - start.top <= 1 and _is_gapless(numbers, start.body)
    is_even &= _is_gapless(area.columns, area.columns[0] if area.columns else 0)
    return replace(area, is_plain=is_even and not filled_cells)


def _is_row_of(texts: Sequence[str], row: Row) -> bool:
    return all(text_of(cell) == text for text, cell in zip(texts, row, strict=True))


def _is_gapless(numbers: Sequence[int], first: int) -> bool:
    return all(number == first + i for i, number in enumerate(numbers))


def _is_used(column: int, start: _Start, rows: Sequence[Row], numbers: Sequence[int]) -> bool:
    """Return whether a column has a name or a value in a table."""
    return bool(start.names[column]) or any(not is_blank(rows[n][column]) for n in numbers)


def _filled_down(strip: _Strip, start: _Start, end: int) -> tuple[Sequence[Row], int]:
    """Return the rows with the value of merged cells in each row they span; and how many were."""
    rows = list(strip.rows)
    count = 0
    for (top, left), (bottom, _) in strip.merged:
        if top < start.body or bottom >= end or top == bottom or is_blank(rows[top][left]):
            continue
        for number in range(top + 1, bottom + 1):
            if not _is_empty(rows[number]):
                row = list(rows[number])
                row[left] = rows[top][left]
                rows[number] = row
                count += 1
    return rows, count


def _units(rows: Sequence[Row], numbers: Sequence[int], start: _Start) -> str:
    """Return the units in the row below a header, each with its column; empty if it's a row.

    Units are short words without digits, over columns that hold only numbers.
    """
    if not start.header or len(numbers) < 3:
        return ""
    first = rows[numbers[0]]
    cells = {i: cell for i, cell in enumerate(first) if not is_blank(cell)}
    if not cells or not all(isinstance(cell, str) and _is_unit(cell) for cell in cells.values()):
        return ""
    below = numbers[1:_JUDGED]
    over_numbers = [
        i
        for i in cells
        if any(not is_blank(rows[n][i]) for n in below)
        and all(
            is_blank(rows[n][i]) or kind_of_cell(rows[n][i]) in {"number", "whole number"}
            for n in below
        )
    ]
    if 2 * len(over_numbers) <= len(cells):
        return ""
    return ", ".join(f"{start.names[i]} in {text_of(cells[i]).strip('[]() ')}" for i in cells)


def _subtotals(rows: Sequence[Row], numbers: Sequence[int]) -> set[int]:
    """Return the rows among others that are subtotals of these."""
    if len(numbers) > _MOST_ADDED_UP or not any(_has_label(rows[number]) for number in numbers):
        return set()
    texts = [(number, [text_of(cell) for cell in rows[number]]) for number in numbers]
    return set(subtotals_among([(number, cells) for number, cells in texts if any(cells)]))


def _has_label(row: Row) -> bool:
    first = next((cell for cell in row if not is_blank(cell)), "")
    return isinstance(first, str) and is_label(first.strip())


def _is_unit(text: str) -> bool:
    return len(text.strip()) <= _LONGEST_UNIT and not any(map(str.isdigit, text))


def _is_empty(row: Row) -> bool:
    return all(map(is_blank, row))


def _filled(row: Row) -> int:
    return sum(not is_blank(cell) for cell in row)
