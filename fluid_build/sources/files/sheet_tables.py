"""A table of a workbook, as it was found on a sheet."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

CellKind: TypeAlias = Literal[
    "text", "whole number", "number", "flag", "date", "moment", "time", "duration"
]


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table of a workbook, its rows as text in a file of our own.

    ``place`` says where it is in the workbook (``Sales!A3:F20``). ``kinds`` are those of each
    column's cells but for the last rows, which may turn out not to be rows: ``last`` has these as
    text, and ``last_kinds`` the kinds of their cells. ``is_plain`` says whether its rows
    are those of the range as it stands. ``row_numbers`` are those of the last rows, from 1.
    ``blanks`` counts the cells of each column that hold spaces alone, but for the last rows, of
    which ``last_blanks`` has the columns with such a cell.
    """

    name: str
    sheet: str
    place: str
    rows: Path
    names: tuple[str, ...]
    header: bool
    kinds: tuple[frozenset[CellKind], ...]
    last: tuple[tuple[str, ...], ...] = ()
    last_kinds: tuple[tuple[CellKind | None, ...], ...] = ()
    blanks: tuple[int, ...] = ()
    last_blanks: tuple[frozenset[int], ...] = ()
    row_numbers: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    is_plain: bool = True
