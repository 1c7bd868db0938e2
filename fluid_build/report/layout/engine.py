"""The layout of a diagram: every connected part in columns, then the parts next to each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, pow, sqrt

from fluid_build.report.layout.areas import find_areas
from fluid_build.report.layout.columns import assign_columns
from fluid_build.report.layout.drawing import Box, Drawing, Point, Region
from fluid_build.report.layout.graph import Graph, Link, Node
from fluid_build.report.layout.heights import BOX_GAP, packed_height, place_vertically
from fluid_build.report.layout.loops import loops_of, with_room
from fluid_build.report.layout.nets import Net, nets_of, single_nets
from fluid_build.report.layout.ordering import order_slots
from fluid_build.report.layout.packing import ASPECT, fitting_scale, pack
from fluid_build.report.layout.routing import Router, expected_width
from fluid_build.report.layout.slots import Slots, make_slots, merge_trunks

# The connected parts of a graph.


def connected_components(graph: Graph) -> list[Graph]:
    """Return the parts between which no link runs, in the order of their first nodes."""
    neighbours: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for link in graph.links:
        neighbours[link.child].append(link.parent)
        neighbours[link.parent].append(link.child)
    part_of: dict[str, int] = {}
    count = 0
    for node in graph.nodes:
        if node.id not in part_of:
            _mark(node.id, count, neighbours, part_of)
            count += 1
    nodes: list[list[Node]] = [[] for _ in range(count)]
    links: list[list[Link]] = [[] for _ in range(count)]
    for node in graph.nodes:
        nodes[part_of[node.id]].append(node)
    for link in graph.links:
        links[part_of[link.child]].append(link)
    return [Graph(tuple(n), tuple(k)) for n, k in zip(nodes, links, strict=True)]


def _mark(
    start: str, number: int, neighbours: dict[str, list[str]], part_of: dict[str, int]
) -> None:
    part_of[start] = number
    waiting = [start]
    while waiting:
        for near in neighbours[waiting.pop()]:
            if near not in part_of:
                part_of[near] = number
                waiting.append(near)


MARGIN = 24.0
_PART_GAP = 64.0
_GRID_GAP = 24.0
_TYPICAL_CHANNEL = 80.0
# The heights of columns that are tried, as shares of the height at which boxes without lines would
# have the shape of a screen. A graph of more boxes is drawn in areas.
_SMALL = 80
# Groups are worth an area each only where there are many boxes.
_SMALL_WITH_GROUPS = 40
_LIMITS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5)
_ORDERED = 2
# Twice as many crossings are as bad as a drawing that is shown 0.6 times as large; a few crossings
# more or less don't matter.
_CROSSINGS_EXPONENT = 0.75
_FEW_CROSSINGS = 20


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
    """Return the drawing of a connected graph: the best of some with columns of other heights."""
    groups = {node.group for node in graph.nodes}
    if len(graph.nodes) > (_SMALL if len(groups) == 1 else _SMALL_WITH_GROUPS):
        return _in_areas(graph)
    nets = nets_of(graph)
    heights = [node.height + BOX_GAP for node in graph.nodes]
    width = sum(node.width for node in graph.nodes) / len(graph.nodes) + _TYPICAL_CHANNEL
    ideal = sqrt(sum(heights) * width / ASPECT)
    choices = dict.fromkeys(
        tuple(assign_columns(heights, nets, max(ideal * factor, *heights))) for factor in _LIMITS
    )
    sizes = [node.height for node in graph.nodes]
    plans = [_Plan(nets, make_slots(sizes, nets, each)) for each in choices]
    plans.sort(key=lambda plan: -_expected_scale(graph, plan))
    single = single_nets(nets)
    quality = partial(_quality, graph)
    best = max((plan.ordered() for plan in plans[:_ORDERED]), key=quality)
    parted = _Plan(single, make_slots(sizes, single, best.slots.column_of)).ordered()
    return _draw(graph, max(best, parted, key=quality))


def _in_areas(graph: Graph) -> Drawing:
    """Return the drawing of a large connected graph: boxes that belong together in an area."""
    areas = find_areas(graph, BOX_GAP)
    nets = nets_of(graph, areas.column_of)
    slots = make_slots([node.height for node in graph.nodes], nets, areas.column_of, areas)
    drawing = _draw(graph, _Plan(nets, slots).ordered())
    regions = []
    for boxes in areas.boxes:
        nodes = [graph.nodes[box] for box in boxes]
        places = [drawing.boxes[node.id] for node in nodes]
        left, top = min(place.x for place in places), min(place.y for place in places)
        right, bottom = max(place.right for place in places), max(place.bottom for place in places)
        names = {node.group for node in nodes}
        name = names.pop() if len(names) == 1 else ""
        frame = Box(left, top, right - left, bottom - top)
        regions.append(Region(name, frame, tuple(node.id for node in nodes)))
    return replace(drawing, regions=tuple(regions))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Boxes in columns, and which links may share trunks; ``crossings`` once it's in order."""

    nets: Sequence[Net]
    slots: Slots
    crossings: int = 0

    def ordered(self) -> "_Plan":
        """Return the plan with the slots of each column in order."""
        ordered = order_slots(self.slots)
        return _Plan(self.nets, merge_trunks(ordered.slots, self.nets), ordered.crossings)


def _quality(graph: Graph, plan: _Plan) -> float:
    """Return how good a plan is: large when shown, with few crossings."""
    return _expected_scale(graph, plan) / pow(_FEW_CROSSINGS + plan.crossings, _CROSSINGS_EXPONENT)


def _expected_scale(graph: Graph, plan: _Plan) -> float:
    """Return about how large the drawing of some columns can be shown."""
    nets, slots = plan.nets, plan.slots
    height = max(packed_height(slots, column) for column in slots.columns)
    width = 0.0
    for column, channel in zip(slots.columns, slots.channels, strict=False):
        width += max((graph.nodes[slot].width for slot in column if slot < slots.boxes), default=0)
        width += expected_width(len({nets[line.net].key for line in channel}))
    return fitting_scale(width, height)


def _draw(graph: Graph, plan: _Plan) -> Drawing:
    nets, slots = plan.nets, plan.slots
    column_of = slots.column_of
    tops = place_vertically(slots)
    widths = [node.width for node in graph.nodes]
    widths += [0.0] * (len(slots.heights) - len(widths))
    routed = Router(slots, nets, loops_of(graph, column_of), column_of, tops, widths).route()
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
        whole = Region("", Box(0.0, 0.0, part.width, part.height), tuple(part.boxes))
        for region in part.regions or (whole,):
            frame = region.box
            regions.append(replace(region, box=frame._replace(x=frame.x + x, y=frame.y + y)))
        width, height = max(width, x + part.width), max(height, y + part.height)
    return Drawing(width + MARGIN, height + MARGIN, boxes, routes, tuple(regions))
