"""Tables that keep names whole: on a narrow terminal only prose is wrapped."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

_GAP = 2
"""Blanks between two columns."""


class Grid(Table):
    """A table without lines. Columns that may not be wrapped, and words, are never broken."""

    def __init__(self, *columns: Column | str, show_header: bool = True) -> None:
        super().__init__(
            *columns, box=None, pad_edge=False, header_style="dim", show_header=show_header
        )

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Measure from prose as narrow as its longest word to every cell on one line."""
        bounds = self._bounds(console, options)
        gaps = _GAP * len(bounds)
        return Measurement(
            sum(least for least, _ in bounds) + gaps, sum(most for _, most in bounds) + gaps
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give each column its width, and draw the table."""
        bounds = self._bounds(console, options)
        room = options.max_width - _GAP * len(bounds)
        for column, width in zip(self.columns, _widths(bounds, room), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def _bounds(self, console: Console, options: ConsoleOptions) -> list[tuple[int, int]]:
        return [self._bounds_of(column, console, options) for column in self.columns]

    def _bounds_of(
        self, column: Column, console: Console, options: ConsoleOptions
    ) -> tuple[int, int]:
        cells = [*((column.header,) if self.show_header else ()), *column.cells]
        least, most = 0, 0
        for cell in cells:
            measured = Measurement.get(console, options.update(width=_UNBOUNDED), cell)
            whole = column.no_wrap or (isinstance(cell, Text) and cell.no_wrap)
            least = max(least, measured.maximum if whole else measured.minimum)
            most = max(most, measured.maximum)
        return least, most


_UNBOUNDED = 1_000_000


def _widths(bounds: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Return each column's width: its least and its share of the spare room, short ones first."""
    widths = [least for least, _ in bounds]
    spare = max(room - sum(widths), 0)
    lacking = sorted(range(len(bounds)), key=lambda i: bounds[i][1] - bounds[i][0])
    for left, i in zip(range(len(lacking), 0, -1), lacking, strict=True):
        extra = min(bounds[i][1] - bounds[i][0], spare // left)
        widths[i] += extra
        spare -= extra
    return widths
