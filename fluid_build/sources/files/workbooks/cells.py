"""The cells of a sheet: what kinds of values they hold, and their text."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

from fluid_build.sources.files.sheet_tables import CellKind

Cell: TypeAlias = int | float | str | bool | time | date | datetime | timedelta
"""A cell's value; an empty text where it's blank."""
Row: TypeAlias = Sequence[Cell]

_EXACT = 2**53
"""Spreadsheets keep numbers as doubles, which have every whole number up to this."""


def is_blank(cell: Cell) -> bool:
    """Return whether a cell holds nothing that can be seen."""
    return isinstance(cell, str) and not cell.strip()


def kind_of_cell(cell: Cell) -> CellKind:
    """Return what kind of value a cell that isn't blank holds."""
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, bool):
        return "flag"
    if isinstance(cell, int | float):
        return "whole number" if _is_whole(cell) else "number"
    if isinstance(cell, datetime):
        return "moment"
    if isinstance(cell, date):
        return "date"
    return "time" if isinstance(cell, time) else "duration"


def text_of(cell: Cell) -> str:
    """Return the text that a cast reads a cell's value from; empty for a blank cell."""
    if isinstance(cell, str):
        return "" if is_blank(cell) else cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        return str(int(cell)) if _is_whole(cell) else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, timedelta):
        return _clock(cell)
    return cell.isoformat()


def _is_whole(number: float) -> bool:
    return number == number // 1 and abs(number) <= _EXACT


def _clock(duration: timedelta) -> str:
    """Return a duration as hours, minutes and seconds: ``30:05:00``."""
    sign = "-" if duration < timedelta() else ""
    seconds = abs(duration) // timedelta(seconds=1)
    micros = abs(duration).microseconds
    fraction = f".{micros:06d}" if micros else ""
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"
