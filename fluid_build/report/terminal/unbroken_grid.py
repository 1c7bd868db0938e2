"""Tables that keep names whole: on a narrow terminal only prose is wrapped."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from fluid_build.report.terminal.wrapping import wrapped

_STACKED_INDENT = 2
"""Blanks in front of the columns that go on below the first ones of their row."""
_GAP = 2
"""Blanks between two columns."""
_LEAST_OF_LAST = 24
"""Room for three or four words of a last column next to the others."""


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

    def stacked(self, console: Console, width: int) -> Iterator[Text]:
        """Yield each row in several lines, as many columns on each as there is room for.

        That is for a table whose names need more than ``width``. A long word of the last column
        may go beyond it: nothing is to the right of it.
        """
        *bounds, (least, most) = self._bounds(console, console.options)
        bounds.append((min(least, _LEAST_OF_LAST), most))
        groups = [
            (indent, group, _group_widths([bounds[place] for place in group], width - indent))
            for indent, group in _groups(bounds, width)
        ]
        for row in self._rows():
            for indent, group, widths in groups:
                cells = [(self.columns[place], row[place]) for place in group]
                yield from (Text.assemble(" " * indent, line) for line in _lines(cells, widths))

    def _rows(self) -> Iterator[Sequence[Text]]:
        """Yield the titles, if they are shown, and each row."""
        if self.show_header:
            yield [Text(str(column.header), style=self.header_style) for column in self.columns]
        for row in zip(*(column.cells for column in self.columns), strict=True):
            yield [cell if isinstance(cell, Text) else Text(str(cell)) for cell in row]

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


def _groups(bounds: Sequence[tuple[int, int]], width: int) -> Iterator[tuple[int, list[int]]]:
    """Yield the columns that fit on a line together, with its indentation: none for the first."""
    group: list[int] = []
    indent, used = 0, 0
    for place, (least, _) in enumerate(bounds):
        if group and used + _GAP + least > width - indent:
            yield indent, group
            indent, group, used = _STACKED_INDENT, [], 0
        used += least + (_GAP if group else 0)
        group.append(place)
    yield indent, group


def _group_widths(bounds: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Return the widths of columns on a line; a single one has all of it, whatever it needs."""
    if len(bounds) == 1:
        return [width]
    return _widths(bounds, width - _GAP * (len(bounds) - 1))


def _styled(cell: Text, column: Column) -> Text:
    styled = cell.copy()
    styled.stylize_before(column.style)
    return styled


def _lines(cells: Sequence[tuple[Column, Text]], widths: Sequence[int]) -> Iterator[Text]:
    """Yield the lines of cells next to each other, each wrapped to its width."""
    columns = [
        list(wrapped(_styled(cell, column), width))
        for (column, cell), width in zip(cells, widths, strict=True)
    ]
    for parts in zip_longest(*columns, fillvalue=Text()):
        line = Text()
        for (column, _), part, width in zip(cells, parts, widths, strict=True):
            blanks = " " * max(width - part.cell_len, 0)
            line = Text.assemble(
                line,
                " " * _GAP if line.cell_len else "",
                *((blanks, part) if column.justify == "right" and cells[1:] else (part, blanks)),
            )
        line.rstrip()
        yield line
