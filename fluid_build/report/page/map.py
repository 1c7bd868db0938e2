"""The map: the source, its entities and the model, each as a drawing to pan and zoom."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fluid_build.report.diagrams.conceptual_diagram import conceptual_diagram
from fluid_build.report.diagrams.diagram import Count, Diagram, DiagramBox, DiagramEdge, EdgeState
from fluid_build.report.diagrams.model_diagram import model_diagram
from fluid_build.report.diagrams.source_diagram import source_diagram
from fluid_build.report.layout.drawing import Box, Drawing, Point, Region
from fluid_build.report.layout.engine import layout
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.lineage import relation_address
from fluid_build.report.page.map_boxes import (
    LABEL_SIZE,
    LANDMARK_SIZE,
    BoxShape,
    box_shapes,
    map_graph,
)
from fluid_build.report.page.map_lines import (
    count_symbol,
    feet_path,
    label_place,
    line_path,
    number,
)
from fluid_build.report.page.text_widths import clipped, single_line, text_width
from fluid_build.text import counted

LayerId = Literal["source", "conceptual", "model"]
# A second drawing takes as long to lay out as the first. Beyond this the panel of a table lists its
# columns.
_MOST_BOXES_IN_FULL = 100
_MOST_ROWS_IN_FULL = 3_000
LayerFacts: TypeAlias = dict[Literal["boxes", "edges"], list[list[object]]]
_SWITCHED: tuple[EdgeState, ...] = ("implied", "question")
_COUNT_LABELS: dict[Count, str] = {
    "one": "exactly one",
    "zero-or-one": "at most one",
    "many": "one or more",
    "zero-or-many": "any number",
}
# That many dashed lines are no clutter.
_MOST_LINES_AT_FIRST = 8
# Smaller regions explain themselves.
_FEWEST_NAMED = 5
# What a laptop shows of a page between its header and the buttons.
_WINDOW = Point(1240, 620)
# The scales of ``map_scene.js``.
_NEAR, _FAR = 0.6, 0.16
_MOST_LANDMARKS = 40
_LONGEST_LANDMARK = 200.0
# Where lines share a way, the broken one is on top.
_PAINTING_ORDER: tuple[EdgeState, ...] = ("question", "implied", "sound", "broken")


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A box at its place."""

    shape: BoxShape
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """An edge with its path and crow's feet; ``label`` is at ``place``, where there is one."""

    edge: DiagramEdge
    path: str
    feet: str
    label: str
    place: Point


@dataclass(frozen=True, slots=True)
class Landmark:
    """The name of a much connected box, for those who see all of a large map at once."""

    name: str
    place: Point
    size: float


@dataclass(frozen=True, slots=True)
class DrawnMap:
    """A layer as it's drawn. ``level`` is how much of it can be read when all of it is shown."""

    width: str
    height: str
    boxes: tuple[DrawnBox, ...]
    lines: tuple[DrawnLine, ...]
    regions: tuple[Region, ...]
    landmarks: tuple[Landmark, ...]
    level: Literal["near", "far", "furthest"]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the map; ``full`` is its drawing with all columns, where that isn't too large.

    ``hidden`` are the states of edges that are too many to show at first.
    """

    id: LayerId
    label: str
    description: str
    drawing: DrawnMap
    full: DrawnMap | None
    states: Mapping[EdgeState, int]
    hidden: tuple[EdgeState, ...]


@dataclass(frozen=True, slots=True)
class MapData:
    """The layers of the map, and what its script says about boxes and edges by layer.

    ``symbols`` are the crow's feet with what they mean.
    """

    layers: tuple[Layer, ...]
    facts: Mapping[str, LayerFacts]
    symbols: tuple[tuple[str, str], ...]


def map_data(content: PageContent) -> MapData:
    """Return the layers of a page's map: the model only where something was built."""
    diagrams = dict(_diagrams(content))
    return MapData(
        tuple(_layer(id_, diagram) for id_, diagram in diagrams.items()),
        {
            id_: _facts(diagram, content.table_addresses, is_model=id_ == "model")
            for id_, diagram in diagrams.items()
        },
        tuple((label, count_symbol(count)) for count, label in _COUNT_LABELS.items()),
    )


def _diagrams(content: PageContent) -> Iterator[tuple[LayerId, Diagram]]:
    yield "source", source_diagram(content.view)
    yield "conceptual", conceptual_diagram(content.view.conceptual)
    if content.built is not None:
        yield "model", model_diagram(content.built.model, content.built.plan)


def _layer(id_: LayerId, diagram: Diagram) -> Layer:
    states = Counter(edge.state for edge in diagram.edges)
    labels = {"source": "Source", "conceptual": "Conceptual", "model": "Model"}
    return Layer(
        id_,
        labels[id_],
        f"{diagram.title}: {len(diagram.boxes):,} boxes, {len(diagram.edges):,} relationships",
        _drawn(diagram, with_all_columns=False),
        _drawn(diagram, with_all_columns=True) if _fits_in_full(diagram) else None,
        states,
        tuple(state for state in _SWITCHED if states[state] > _MOST_LINES_AT_FIRST),
    )


def _fits_in_full(diagram: Diagram) -> bool:
    rows = sum(len(box.rows) for box in diagram.boxes)
    has_more = any(not row.is_key for box in diagram.boxes for row in box.rows)
    return has_more and len(diagram.boxes) <= _MOST_BOXES_IN_FULL and rows <= _MOST_ROWS_IN_FULL


def _drawn(diagram: Diagram, *, with_all_columns: bool) -> DrawnMap:
    shapes = box_shapes(diagram, with_all_columns=with_all_columns)
    drawing = layout(map_graph(shapes, diagram.edges))
    return DrawnMap(
        number(drawing.width),
        number(drawing.height),
        tuple(_drawn_box(shape, drawing.boxes[id_]) for id_, shape in shapes.items()),
        tuple(
            _drawn_line(edge, drawing.routes[edge.id])
            for edge in sorted(diagram.edges, key=lambda edge: _PAINTING_ORDER.index(edge.state))
        ),
        tuple(_named_regions(drawing, diagram)),
        tuple(_landmarks(drawing, diagram)),
        _level(drawing),
    )


def _level(drawing: Drawing) -> Literal["near", "far", "furthest"]:
    """Return what the script would: a browser needn't lay out first what it hides then."""
    scale = _window_scale(drawing)
    return "near" if scale >= _NEAR else "far" if scale >= _FAR else "furthest"


def _window_scale(drawing: Drawing) -> float:
    """Return the scale at which a drawing fits in a window."""
    return min(_WINDOW.x / drawing.width, _WINDOW.y / drawing.height)


def _drawn_box(shape: BoxShape, place: Box) -> DrawnBox:
    return DrawnBox(shape, number(place.x), number(place.y))


def _drawn_line(edge: DiagramEdge, route: Sequence[Point]) -> DrawnLine:
    place, room = label_place(route)
    return DrawnLine(
        edge,
        line_path(route),
        feet_path(route, edge.child_count, edge.parent_count),
        _line_label(edge, room),
        place,
    )


def _line_label(edge: DiagramEdge, room: float) -> str:
    """Return the orphans of a broken edge, with the word where there's room for it."""
    if edge.state != "broken" or not edge.orphans:
        return ""
    labels = (counted(edge.orphans, "orphan"), f"{edge.orphans:,}")
    return next((text for text in labels if text_width(text, LABEL_SIZE, bold=True) <= room), "")


def _named_regions(drawing: Drawing, diagram: Diagram) -> Iterator[Region]:
    """Yield the regions with names, where there are several."""
    if len(drawing.regions) < 2:
        return
    boxes = {box.id: box for box in diagram.boxes}
    are_several = sum(len(region.nodes) >= _FEWEST_NAMED for region in drawing.regions) > 1
    degrees = _degrees(diagram)
    for region in drawing.regions:
        centre = _region_centre([boxes[id_] for id_ in region.nodes], degrees)
        is_named = are_several and len(region.nodes) >= _FEWEST_NAMED
        name = region.name or (centre if is_named else "")
        yield Region(name, region.box, region.nodes)


def _region_centre(boxes: Sequence[DiagramBox], degrees: Mapping[str, int]) -> str:
    """Return the group that all boxes share, or the box that most edges lead to."""
    groups = {box.group for box in boxes}
    if len(groups) == 1 and (group := single_line(groups.pop())):
        return group
    centre = max(boxes, key=lambda box: degrees[box.id])
    return single_line(centre.name) if degrees[centre.id] else "Without relationships"


def _degrees(diagram: Diagram) -> Counter[str]:
    """Return the number of edges at each box."""
    return Counter(id_ for edge in diagram.edges for id_ in (edge.child, edge.parent))


def _landmarks(drawing: Drawing, diagram: Diagram) -> Iterator[Landmark]:
    """Yield the most connected boxes whose names don't overlap when all of a map is in a window."""
    degrees = _degrees(diagram)
    scale = _window_scale(drawing)
    size = LANDMARK_SIZE / scale
    areas: list[Box] = []
    for box in sorted(diagram.boxes, key=lambda box: -degrees[box.id]):
        name = clipped(single_line(box.name), _LONGEST_LANDMARK / scale, size, bold=True)
        at = drawing.boxes[box.id]
        middle = Point(at.x + at.width / 2, at.y + at.height / 2)
        width, height = text_width(name, size, bold=True), size * 2
        left = min(max(middle.x - width / 2, 0), drawing.width - width)
        area = Box(left, middle.y - height / 2, width, height)
        if degrees[box.id] and not any(_overlap(area, other) for other in areas):
            areas.append(area)
            yield Landmark(name, Point(left + width / 2, middle.y), size)
        if len(areas) == _MOST_LANDMARKS:
            return


def _overlap(first: Box, second: Box) -> bool:
    return (
        first.x < second.right
        and second.x < first.right
        and first.y < second.bottom
        and second.y < first.bottom
    )


def _facts(diagram: Diagram, addresses: Mapping[str, str], *, is_model: bool) -> LayerFacts:
    """Return what the script shows about boxes and edges, in the order of ``map_panel.js``."""
    return {
        "boxes": [
            [
                box.id,
                box.name,
                "" if box.kind in ("table", "entity") else box.kind,
                box.remark,
                relation_address(box.id) if is_model else addresses[box.id],
                [[table, addresses[table]] for table in box.tables] if is_model else [],
                [[row.name, row.type, " ".join(row.marks)] for row in box.rows],
            ]
            for box in diagram.boxes
        ],
        "edges": [
            [
                edge.id,
                edge.child,
                edge.child_rows,
                edge.child_count,
                edge.parent,
                edge.parent_rows,
                edge.parent_count,
                edge.state,
                edge.orphans,
                edge.label,
                edge.text,
            ]
            for edge in diagram.edges
        ],
    }
