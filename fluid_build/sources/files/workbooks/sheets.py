"""A workbook's tables, put aside as text: one for each sheet, or for each table that it names."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fluid_build import limits
from fluid_build.extras import needs_extra
from fluid_build.sources.files.delimited.readable import numbered_names
from fluid_build.sources.files.sheet_tables import CellKind, SheetTable
from fluid_build.sources.files.workbooks.areas import Area, Grid, tables_of
from fluid_build.sources.files.workbooks.cells import Cell, Row, is_blank, kind_of_cell, text_of
from fluid_build.sources.files.workbooks.guards import PROTECTED, Place, SheetFacts, check_workbook
from fluid_build.text import counted

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook, SheetMetadata

_NAMING_TABLES = (".xlsx", ".xlsm")
_LAST_ROWS = 200
"""Rows at a table's end that may be totals and notes, as for delimited files."""


@dataclass(frozen=True, slots=True)
class Workbook:
    """The tables of a workbook, and the sheets that have none with the reason."""

    tables: tuple[SheetTable, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def read_workbook(path: Path, folder: Path) -> Workbook:
    """Read the tables of a workbook; their rows are written to ``folder``.

    Raises ValueError where it can't be read, and MissingExtraError where what reads it is missing.
    """
    with needs_extra("excel", "Reading a workbook"):
        from python_calamine import CalamineError, PasswordError, load_workbook
    facts = check_workbook(path)
    try:
        with load_workbook(path, load_tables=path.suffix.lower() in _NAMING_TABLES) as workbook:
            return _read(path, workbook, facts, folder)
    except PasswordError:
        raise ValueError(PROTECTED) from None
    except CalamineError as error:
        raise ValueError(f"It can't be read as a workbook: {error}") from None


def _read(
    path: Path, workbook: "CalamineWorkbook", facts: Mapping[str, SheetFacts], folder: Path
) -> Workbook:
    from python_calamine import SheetTypeEnum

    tables: list[SheetTable] = []
    skipped: list[tuple[str, str]] = []
    for sheet in workbook.sheets_metadata:
        if sheet.typ != SheetTypeEnum.WorkSheet:
            skipped.append((sheet.name, "it has a chart or a macro, and no cells."))
            continue
        cells = workbook.get_sheet_by_name(sheet.name)
        known = facts.get(sheet.name, SheetFacts())
        misread = known.misread
        named = _named_areas(workbook, sheet.name, cells, misread)
        areas = named or [("", area) for area in tables_of(_grid(cells, misread))]
        if misread:
            # Any other reader may take them for others as well.
            areas = [(name, replace(area, is_plain=False)) for name, area in areas]
        areas = [(name, area) for name, area in areas if area.rows]
        if not areas:
            skipped.append(
                (
                    sheet.name,
                    "it is empty." if not cells.height else "it has no rows below a header.",
                )
            )
            continue
        notes = _notes_on(sheet, known, len(areas))
        for number, (name, area) in enumerate(areas, start=1):
            own_name = name or (sheet.name if number == 1 else f"{sheet.name}_{number}")
            file = folder / f"sheet_{abs(hash(path)):x}_{len(tables)}.csv"
            table = _spooled(own_name, sheet.name, area, file)
            of_times = tuple(_notes_on_times(area, known))
            tables.append(replace(table, notes=(*notes, *table.notes, *of_times)))
    return Workbook(_with_file_s_name(path, tables), tuple(skipped))


def _with_file_s_name(path: Path, tables: Sequence[SheetTable]) -> tuple[SheetTable, ...]:
    """Return the tables; an only one is called after the file."""
    return (replace(tables[0], name=path.stem),) if len(tables) == 1 else tuple(tables)


def _grid(sheet: "CalamineSheet", misread: Mapping[Place, time | timedelta]) -> Grid:
    top, left = sheet.start or (0, 0)
    rows = _with_right_times(sheet.to_python(), top, left, misread)
    return Grid(rows, top, left, sheet.merged_cell_ranges or ())


def _with_right_times(
    rows: list[list[Cell]], top: int, left: int, misread: Mapping[Place, time | timedelta]
) -> list[list[Cell]]:
    """Put the times back that were read as others, where they are times.

    One before midnight was rounded up to it, which is the day's other end.
    """
    for (row, column), right in misread.items():
        if 0 <= row - top < len(rows) and 0 <= column - left < len(rows[row - top]):
            cell = rows[row - top][column - left]
            if isinstance(cell, time) and (isinstance(right, timedelta) or cell == time()):
                rows[row - top][column - left] = right
    return rows


def _named_areas(
    workbook: "CalamineWorkbook",
    sheet: str,
    cells: "CalamineSheet",
    misread: Mapping[Place, time | timedelta],
) -> list[tuple[str, Area]]:
    """Return the tables that a sheet names (Insert, Table), each with its name."""
    areas = []
    is_naming = Path(workbook.path or "").suffix.lower() in _NAMING_TABLES
    for name in (workbook.table_names or []) if is_naming else []:
        table = workbook.get_table_by_name(name)
        if table.sheet != sheet or table.start is None or table.end is None:
            continue
        (top, left), (_, right) = table.start, table.end
        rows = _with_right_times(table.to_python(), top, left, misread)
        area = Area(
            names=tuple(" ".join(column.split()) for column in table.columns),
            header=True,
            columns=tuple(range(left, right + 1)),
            top=max(0, top - 1),
            rows=[row for row in rows if not all(map(is_blank, row))],
            row_numbers=range(top, top + len(rows)),
            is_plain=True,
        )
        areas.append((name, area))
    if areas and _cells_in(cells) > sum(_extent(area) for _, area in areas):
        (name, first), *others = areas
        note = f"Cells of the sheet {sheet} outside of its named tables were left out."
        areas = [(name, replace(first, notes=(*first.notes, note))), *others]
    return areas


def _cells_in(sheet: "CalamineSheet") -> int:
    return sum(not is_blank(cell) for row in sheet.to_python() for cell in row)


def _extent(area: Area) -> int:
    return (len(area.rows) + 1) * len(area.columns)


def _notes_on(sheet: "SheetMetadata", facts: SheetFacts, tables: int) -> tuple[str, ...]:
    from python_calamine import SheetVisibleEnum

    notes = []
    if sheet.visible != SheetVisibleEnum.Visible:
        notes.append(f"The sheet {sheet.name} is hidden.")
    if tables > 1:
        notes.append(f"The sheet {sheet.name} has {tables} tables, which were read one by one.")
    if facts.errors:
        notes.append(f"{counted(facts.errors, 'cell')} with an error, such as #N/A, read as null.")
    if facts.uncalculated:
        notes.append(
            f"{counted(facts.uncalculated, 'formula')} without a stored result, read as null. Open"
            " the workbook in a spreadsheet program and save it."
        )
    if facts.rounded:
        letters = ", ".join(facts.rounded)
        notes.append(
            f"Numbers in the sheet's column {letters} have more digits than a spreadsheet keeps:"
            " they're read as it shows them, rounded. Write them as text."
        )
    return tuple(notes)


def _notes_on_times(area: Area, facts: SheetFacts) -> Iterator[str]:
    """Yield notes on columns with moments that are others in the workbook."""
    for i, (name, place) in enumerate(zip(numbered_names(area.names), area.columns, strict=True)):
        cells = [row[i] for row in area.rows if isinstance(row[i], _OF_TIME)]
        if cells and _letters(place) in facts.finer:
            yield f"{name}: times are finer than a millisecond, and read rounded to one."
        if any(isinstance(cell, date) and cell.timetuple()[:3] == _TWO_DAYS for cell in cells):
            yield (f"{name}: 1900-02-28 may be 1900-02-29, which Excel counts and no calendar has.")


_OF_TIME = (date, time, timedelta)
_TWO_DAYS = (1900, 2, 28)
"""What the numbers 59 and 60 are both read as."""


def _spooled(name: str, sheet: str, area: Area, file: Path) -> SheetTable:
    """Write a table's rows to a file, and return the table."""
    limits.COLUMNS.check(len(area.columns), "columns")
    body = max(0, len(area.rows) - _LAST_ROWS)
    kinds: list[set[CellKind]] = [set() for _ in area.columns]
    blanks = [0] * len(area.columns)
    with file.open("w", encoding="utf-8", newline="") as place:
        writer = csv.writer(place, lineterminator="\r\n")
        for number, row in enumerate(area.rows):
            texts = [text_of(cell) for cell in row]
            if not any(texts):
                continue
            writer.writerow(texts if len(texts) > 1 else [*texts, ""])
            if number < body:
                for i, cell in enumerate(row):
                    if not is_blank(cell):
                        kinds[i].add(kind_of_cell(cell))
                    elif cell:
                        blanks[i] += 1
    last = area.rows[body:]
    return SheetTable(
        name=name,
        sheet=sheet,
        place=_range_of(area),
        rows=file,
        names=area.names,
        header=area.header,
        kinds=tuple(frozenset(column) for column in kinds),
        last=tuple(tuple(map(text_of, row)) for row in last),
        last_kinds=tuple(_kinds_of(row) for row in last),
        blanks=tuple(blanks),
        last_blanks=tuple(_blanks_of(row) for row in last),
        row_numbers=tuple(number + 1 for number in area.row_numbers[body:]),
        notes=area.notes,
        is_plain=area.is_plain,
    )


def _kinds_of(row: Row) -> tuple[CellKind | None, ...]:
    return tuple(None if is_blank(cell) else kind_of_cell(cell) for cell in row)


def _blanks_of(row: Row) -> frozenset[int]:
    if all(map(is_blank, row)):
        return frozenset()
    return frozenset(i for i, cell in enumerate(row) if cell and is_blank(cell))


def _range_of(area: Area) -> str:
    """Return where a table is in the spelling of spreadsheets: ``A3:F20``."""
    last = area.row_numbers[-1] + 1
    first_column, last_column = area.columns[0], area.columns[-1]
    return f"{_letters(first_column)}{area.top + 1}:{_letters(last_column)}{last}"


def _letters(column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters
