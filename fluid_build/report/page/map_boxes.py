"""The boxes of a map: how large they are, and where the text in them is."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from fluid_build.report.diagrams.diagram import BoxKind, Diagram, DiagramBox, DiagramEdge, Row
from fluid_build.report.layout.graph import Graph, Link, Node
from fluid_build.report.page.text_widths import clipped, single_line, text_width, words
from fluid_build.text import counted

TITLE_SIZE = 13.0
REMARK_SIZE = 11.0
ROW_SIZE = 12.0
MARK_SIZE = 9.0
LABEL_SIZE = 11.0
LANDMARK_SIZE = 13.0
_HEAD = 40.0
_HEAD_WITHOUT_REMARK = 28.0
_ROW = 18.0
_MARGIN = 4.0
_PAD = 10.0
_GAP = 12.0
_SMALLEST_WIDTH = 120.0
# About 30 letters: longer names are rare, and would push their neighbours away.
_GREATEST_WIDTH = 264.0
_GREATEST_TYPE = 104.0
# The title that is read from afar: as large as the box has room for, up to twice the other.
_GREATEST_TITLE = 28.0
# A word that would make the title smaller than this is broken.
_SMALLEST_TITLE = 16.0
_TITLE_LEADING = 1.15
_MOST_TITLE_LINES = 4

_KIND_LABELS: dict[BoxKind, str] = {
    "hub": "hub",
    "link": "link",
    "satellite": "satellite",
    "reference": "reference table",
    "fact": "fact",
    "dimension": "dimension",
    "bridge": "bridge",
    "business": "business vault",
}


@dataclass(frozen=True, slots=True)
class RowShape:
    """A column in a box: ``y`` is its middle, ``mark`` says what the column is part of."""

    y: float
    name: str
    type: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class TitleLine:
    """A line of the title that is read from afar."""

    y: float
    text: str


@dataclass(frozen=True, slots=True)
class BoxShape:
    """A box of a diagram with the places of its texts, from its top left corner.

    ``name_x`` is where the names of columns begin, ``more`` says how many columns aren't in
    ``rows``, ``label`` what a screen reader says. ``far_title`` has the lines of the title that is
    read from afar, in ``far_size``.
    """

    box: DiagramBox
    width: float
    height: float
    title: str
    remark: str
    label: str
    head_height: float
    rows: tuple[RowShape, ...]
    more: str
    more_y: float
    name_x: float
    far_title: tuple[TitleLine, ...]
    far_size: float
    offsets: dict[str, float]

    @property
    def head(self) -> str:
        """Return the path of the head, inside of the frame."""
        right, bottom = self.width - 0.5, self.head_height
        return f"M.5 {bottom:g}V6Q.5 .5 6 .5H{right - 5.5:g}Q{right:g} .5 {right:g} 6V{bottom:g}z"

    def offset(self, row: str) -> float:
        """Return how far below the top of the box an edge to a column ends."""
        return self.offsets.get(row, self.more_y if self.more else self.head_height / 2)

    def parent_offset(self, rows: Sequence[str]) -> float:
        """Return how far below the top an edge ends that refers to rows, or to the whole box."""
        return self.offset(rows[0]) if rows else self.head_height / 2


def box_shapes(diagram: Diagram, *, with_all_columns: bool) -> dict[str, BoxShape]:
    """Return the boxes by their ids, with all columns or with keys and references alone."""
    names = {piece.strip("_") for box in diagram.boxes for piece in words(box.name)}
    return {box.id: _box_shape(box, names, with_all_columns) for box in diagram.boxes}


def map_graph(shapes: dict[str, BoxShape], edges: Iterable[DiagramEdge]) -> Graph:
    """Return what is to be laid out.

    An edge ends at its first column on either side. Edges between whole boxes leave the child at
    places of their own and meet at the head of the parent.
    """
    edges = tuple(edges)
    whole_boxes = Counter(edge.child for edge in edges if not edge.child_rows)
    places = dict.fromkeys(whole_boxes, 0)

    def child_offset(edge: DiagramEdge) -> float:
        shape = shapes[edge.child]
        if edge.child_rows:
            return shape.offset(edge.child_rows[0])
        places[edge.child] += 1
        return shape.height * places[edge.child] / (whole_boxes[edge.child] + 1)

    return Graph(
        tuple(
            Node(id_, shape.width, shape.height, shape.box.group) for id_, shape in shapes.items()
        ),
        tuple(
            Link(
                edge.id,
                edge.child,
                edge.parent,
                child_offset(edge),
                shapes[edge.parent].parent_offset(edge.parent_rows),
            )
            for edge in edges
        ),
    )


def _box_shape(box: DiagramBox, names: Collection[str], with_all_columns: bool) -> BoxShape:
    rows = box.rows if with_all_columns else tuple(row for row in box.rows if row.is_key)
    more = _more(len(box.rows) - len(rows), has_rows=bool(rows))
    title, remark = single_line(box.name) or "(no name)", _remark(box)
    # Two marks are wider than one; a box without marks needs no room for them.
    mark_width = max((text_width(_mark(row), MARK_SIZE, bold=True) for row in rows), default=0.0)
    name_x = _PAD + (mark_width + 6 if mark_width else 0)
    width = _width(title, remark, more, rows, name_x)
    head = _HEAD if remark else _HEAD_WITHOUT_REMARK
    offsets = {row.name: head + _MARGIN + _ROW * (n + 0.5) for n, row in enumerate(rows)}
    more_y = head + _MARGIN + _ROW * (len(rows) + 0.5)
    lines = len(rows) + bool(more)
    height = head + (lines * _ROW + 2 * _MARGIN if lines else 0)
    far_title, far_size = _far_title(title, names, width, height)
    return BoxShape(
        box,
        width,
        height,
        title=clipped(title, width - 2 * _PAD, TITLE_SIZE, bold=True),
        remark=clipped(remark, width - 2 * _PAD, REMARK_SIZE),
        head_height=head,
        label=", ".join(filter(None, (title, remark))),
        rows=tuple(_row_shape(row, offsets[row.name], width - name_x - _PAD) for row in rows),
        more=more,
        more_y=more_y,
        name_x=name_x,
        far_title=far_title,
        far_size=far_size,
        offsets=offsets,
    )


def _remark(box: DiagramBox) -> str:
    return " · ".join(filter(None, (_KIND_LABELS.get(box.kind, ""), single_line(box.remark))))


def _more(count: int, *, has_rows: bool) -> str:
    if not count:
        return ""
    columns = counted(count, "column")
    return f"+ {columns}" if has_rows else columns


def _mark(row: Row) -> str:
    return " ".join(row.marks)


def _width(title: str, remark: str, more: str, rows: Iterable[Row], name_x: float) -> float:
    widths = [
        text_width(title, TITLE_SIZE, bold=True) + 2 * _PAD,
        text_width(remark, REMARK_SIZE) + 2 * _PAD,
        text_width(more, ROW_SIZE) + name_x + _PAD,
        *(_row_width(row) + name_x + _PAD for row in rows),
    ]
    width = min(_GREATEST_WIDTH, max(_SMALLEST_WIDTH, *widths))
    return -(-width // 4) * 4


def _row_width(row: Row) -> float:
    type_width = min(_GREATEST_TYPE, text_width(row.type, REMARK_SIZE))
    return text_width(single_line(row.name), ROW_SIZE, bold=True) + type_width + _GAP


def _row_shape(row: Row, y: float, room: float) -> RowShape:
    """Return a row whose name and type share the room; the type gives way first."""
    name = clipped(single_line(row.name) or "(no name)", room, ROW_SIZE, bold=True)
    left = min(_GREATEST_TYPE, room - text_width(name, ROW_SIZE, bold=True) - _GAP)
    type_ = clipped(single_line(row.type), left, REMARK_SIZE) if left > 0 else ""
    return RowShape(y, name, "" if len(type_) < min(3, len(row.type)) else type_, _mark(row))


def _far_title(
    title: str, names: Collection[str], width: float, height: float
) -> tuple[tuple[TitleLine, ...], float]:
    """Return the lines of a title, broken so that it's as large as its box allows."""
    longest = (width - _PAD) / _SMALLEST_TITLE
    title = clipped(title, longest * _MOST_TITLE_LINES, 1, bold=True)
    pieces = [piece for word in words(title, names) for piece in _broken_word(word, longest)]
    best, best_size = [title], 0.0
    for count in range(1, min(len(pieces), _MOST_TITLE_LINES) + 1):
        lines = _broken(pieces, count)
        widest = max(text_width(line, 1, bold=True) for line in lines)
        size = min(
            (width - _PAD) / widest, (height - 8) / (len(lines) * _TITLE_LEADING), _GREATEST_TITLE
        )
        if size > best_size:
            best, best_size = lines, size
    leading = best_size * _TITLE_LEADING
    top = height / 2 - leading * (len(best) - 1) / 2
    return (
        tuple(TitleLine(round(top + leading * n, 1), line) for n, line in enumerate(best)),
        int(best_size * 10) / 10,
    )


def _broken_word(word: str, width: float) -> Iterator[str]:
    """Return a word in equal pieces that are at most ``width`` em wide."""
    count = ceil(text_width(word, 1, bold=True) / width)
    length = ceil(len(word) / count)
    for start in range(0, len(word), length):
        yield word[start : start + length]


def _broken(pieces: list[str], count: int) -> list[str]:
    """Return the pieces in at most ``count`` lines, the longest as short as it can be."""
    widths = [text_width(piece, 1, bold=True) for piece in pieces]
    limits = sorted({sum(widths[a:b]) for b in range(len(widths) + 1) for a in range(b)})
    for limit in limits:
        lines = list(_filled(pieces, widths, limit))
        if len(lines) <= count:
            return lines
    return ["".join(pieces)]


def _filled(pieces: list[str], widths: list[float], limit: float) -> Iterator[str]:
    """Return lines of pieces, each as long as ``limit`` allows."""
    line, width = "", 0.0
    for piece, piece_width in zip(pieces, widths, strict=True):
        # Sums of the same widths in another order may differ in their last digit.
        if line and width + piece_width > limit + 1e-6:
            yield line
            line, width = "", 0.0
        line += piece
        width += piece_width
    yield line
