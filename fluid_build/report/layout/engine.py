"""The layout of a diagram: every connected part in columns, then the parts next to each other."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt

from fluid_build.report.layout.columns import assign_columns
from fluid_build.report.layout.components import connected_components
from fluid_build.report.layout.drawing import Box, Drawing, Point, Region
from fluid_build.report.layout.graph import Graph, Node
from fluid_build.report.layout.heights import BOX_GAP, place_vertically
from fluid_build.report.layout.loops import loops_of, with_room
from fluid_build.report.layout.nets import nets_of
from fluid_build.report.layout.ordering import order_slots
from fluid_build.report.layout.packing import ASPECT, fitting_scale, pack
from fluid_build.report.layout.routing import Router
from fluid_build.report.layout.slots import make_slots

MARGIN = 24.0
_PART_GAP = 64.0
_GRID_GAP = 24.0
_TYPICAL_CHANNEL = 80.0


def layout(graph: Graph) -> Drawing:
    """Return the drawing of a graph; the same graph always has the same drawing."""
    graph, room = with_room(graph)
    parts = connected_components(graph)
    linked = [_connected(part) for part in parts if part.links]
    linked.sort(key=lambda drawing: -len(drawing.boxes))
    single = [part.nodes[0] for part in parts if not part.links]
    if single:
        linked.append(_grid(single))
    corners = pack([(each.width, each.height) for each in linked], _PART_GAP)
    return _without_room(_joined(linked, corners), room)


def _connected(graph: Graph) -> Drawing:
    """Return the drawing of a connected graph: the best of those with columns of some heights."""
    nets = nets_of(graph)
    heights = [node.height + BOX_GAP for node in graph.nodes]
    total = sum(heights)
    width = sum(node.width for node in graph.nodes) / len(graph.nodes) + _TYPICAL_CHANNEL
    ideal = sqrt(total * width / ASPECT)
    drawings = []
    for factor in (0.8, 1.0, 1.3) if len(graph.nodes) < 200 else (1.0,):
        limit = max(ideal * factor, *heights)
        columns = assign_columns(heights, nets, limit)
        drawings.append(_in_columns(graph, columns))
    return max(drawings, key=lambda drawing: fitting_scale(drawing.width, drawing.height))


def _in_columns(graph: Graph, column_of: list[int]) -> Drawing:
    nets = nets_of(graph)
    slots = make_slots([node.height for node in graph.nodes], nets, column_of)
    slots.columns = order_slots(slots)
    tops = place_vertically(slots, slots.columns, 0.0)
    widths = [node.width for node in graph.nodes]
    widths += [0.0] * (len(slots.heights) - len(widths))
    routed = Router(slots, nets, loops_of(graph), column_of, tops, widths).route()
    boxes = {
        node.id: Box(routed.lefts[column], top, node.width, node.height)
        for node, column, top in zip(graph.nodes, column_of, tops, strict=False)
    }
    corners = [point for route in routed.routes.values() for point in route]
    height = max([box.bottom for box in boxes.values()] + [point.y for point in corners])
    return Drawing(routed.width, height, boxes, routed.routes)


def _without_room(drawing: Drawing, room: dict[str, float]) -> Drawing:
    """Return the drawing with the boxes as large as they were given."""
    boxes = {
        id_: Box(box.x, box.y + room[id_], box.width, box.height - room[id_])
        for id_, box in drawing.boxes.items()
    }
    return replace(drawing, boxes=boxes)


def _grid(nodes: Sequence[Node]) -> Drawing:
    """Return boxes without links in rows and columns of about a screen's shape."""
    width = max(node.width for node in nodes) + _GRID_GAP
    height = sum(node.height + _GRID_GAP for node in nodes) / len(nodes)
    across = max(1, ceil(sqrt(len(nodes) * height / width * ASPECT)))
    boxes: dict[str, Box] = {}
    top = 0.0
    for start in range(0, len(nodes), across):
        row = nodes[start : start + across]
        for place, node in enumerate(row):
            boxes[node.id] = Box(place * width, top, node.width, node.height)
        top += max(node.height for node in row) + _GRID_GAP
    right = max(box.right for box in boxes.values())
    return Drawing(right, top - _GRID_GAP, boxes, {})


def _joined(parts: Sequence[Drawing], corners: Sequence[Point]) -> Drawing:
    boxes: dict[str, Box] = {}
    routes: dict[str, tuple[Point, ...]] = {}
    regions = []
    width = height = 0.0
    for part, corner in zip(parts, corners, strict=True):
        x, y = corner.x + MARGIN, corner.y + MARGIN
        for id_, box in part.boxes.items():
            boxes[id_] = Box(box.x + x, box.y + y, box.width, box.height)
        for id_, route in part.routes.items():
            routes[id_] = tuple(Point(point.x + x, point.y + y) for point in route)
        regions.append(Region("", Box(x, y, part.width, part.height), tuple(part.boxes)))
        width, height = max(width, x + part.width), max(height, y + part.height)
    return Drawing(width + MARGIN, height + MARGIN, boxes, routes, tuple(regions))
