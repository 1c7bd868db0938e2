"""The areas of a large diagram: boxes that belong together, side by side like a map's counties.

A connected diagram of hundreds of boxes can't be read as one layered drawing: its trunks would wind
through all of it. Boxes of one group, or else boxes with many links to each other, become an area
of some columns and one row of a grid; trunks between areas run between the rows.
"""

from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import sqrt

from fluid_build.report.layout.columns import assign_columns
from fluid_build.report.layout.graph import Graph, Link, Node
from fluid_build.report.layout.nets import Net, nets_of
from fluid_build.report.layout.packing import fitting_scale

# An area is about as large as a diagram that can be read at once.
_MOST_BOXES = 40
# Boxes of less than this share a column of an area with others: columns are about as high as an
# area of this shape is.
_ASPECT = 1.4
_TYPICAL_CHANNEL = 90.0
# How much of the pull of an area is left when another follows it.
_FORGETTING = 0.5


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of a graph by the numbers of their boxes, and where each is in the grid."""

    boxes: list[list[int]]
    across: list[int]
    row: list[int]
    column_of: list[int]
    area_of: list[int]
    place_across: list[int]

    def band(self, net: Net, column: int) -> int:
        """Return the band in which a trunk passes a column: odd for rows, even between them."""
        across, home = self.place_across[column], self.area_of[net.parent]
        if across == self.across[home]:
            return 2 * self.row[home] + 1
        rows = [self.row[self.area_of[child]] for child in net.children]
        for child, row in zip(net.children, rows, strict=True):
            if self.across[self.area_of[child]] == across:
                return 2 * row + 1
        return 2 * self.row[home] + (2 if sum(rows) >= self.row[home] * len(rows) else 0)


def find_areas(graph: Graph, gap: float) -> Areas:
    """Return the areas of a connected graph in a grid of about a screen's shape."""
    number = {node.id: place for place, node in enumerate(graph.nodes)}
    weights: dict[tuple[int, int], int] = defaultdict(int)
    for link in graph.links:
        pair = sorted((number[link.child], number[link.parent]))
        weights[pair[0], pair[1]] += 1
    areas = _sorted_areas(_merged(_by_group(graph), weights), weights)
    area_of = [0] * len(graph.nodes)
    for area, boxes in enumerate(areas):
        for box in boxes:
            area_of[box] = area
    inner: list[list[Link]] = [[] for _ in areas]
    for link in graph.links:
        area = area_of[number[link.child]]
        if area == area_of[number[link.parent]]:
            inner[area].append(link)
    local = [
        _local_columns([graph.nodes[box] for box in boxes], links, gap)
        for boxes, links in zip(areas, inner, strict=True)
    ]
    sizes = [_size(graph, boxes, columns, gap) for boxes, columns in zip(areas, local, strict=True)]
    across, row = _grid(sizes)
    column_of = [0] * len(graph.nodes)
    place_across: list[int] = []
    for place in range(max(across) + 1):
        first = len(place_across)
        members = [area for area, at in enumerate(across) if at == place]
        for area in members:
            for box, column in zip(areas[area], local[area], strict=True):
                column_of[box] = first + column
        place_across += [place] * (max(max(local[area]) for area in members) + 1)
    return Areas(areas, across, row, column_of, area_of, place_across)


def _by_group(graph: Graph) -> list[int]:
    """Return the group of each box as a number; boxes without one have none: -1."""
    names = list(dict.fromkeys(node.group for node in graph.nodes if node.group))
    if len(names) < 2:
        return [-1] * len(graph.nodes)
    return [names.index(node.group) if node.group else -1 for node in graph.nodes]


def _merged(groups: list[int], weights: dict[tuple[int, int], int]) -> list[list[int]]:
    """Return boxes in areas: those with the most links in relation to their sizes join first.

    Boxes of different groups never join.
    """
    areas: dict[int, list[int]] = {box: [box] for box in range(len(groups))}
    near: dict[int, dict[int, int]] = {box: {} for box in areas}
    for (first, second), weight in weights.items():
        if first != second and groups[first] == groups[second]:
            near[first][second] = near[second][first] = weight
    queue = [_offer(areas, near, first, second) for first in near for second in near[first]]
    heapify(queue)
    while queue:
        offer = heappop(queue)
        _, first, second = offer
        if not (first in areas and second in near[first]):
            continue
        if offer != _offer(areas, near, first, second):
            continue
        if len(areas[first]) + len(areas[second]) > _MOST_BOXES:
            continue
        areas[first] += areas.pop(second)
        for other, weight in near.pop(second).items():
            del near[other][second]
            if other != first:
                near[first][other] = near[other][first] = near[first].get(other, 0) + weight
        for other in near[first]:
            heappush(queue, _offer(areas, near, first, other))
            heappush(queue, _offer(areas, near, other, first))
    return list(areas.values())


def _offer(
    areas: dict[int, list[int]], near: dict[int, dict[int, int]], first: int, second: int
) -> tuple[float, int, int]:
    """Return two areas that may join, those that are linked most first."""
    size = len(areas[first]) * len(areas[second])
    return (-near[first][second] / sqrt(size), first, second)


def _sorted_areas(areas: list[list[int]], weights: dict[tuple[int, int], int]) -> list[list[int]]:
    """Return the areas so that those with many links between them are near each other."""
    area_of = {box: area for area, boxes in enumerate(areas) for box in boxes}
    near: list[dict[int, int]] = [defaultdict(int) for _ in areas]
    for (first, second), weight in weights.items():
        near[area_of[first]][area_of[second]] += weight
        near[area_of[second]][area_of[first]] += weight
    waiting = list(range(len(areas)))
    pull = [0.0] * len(areas)
    order: list[int] = []
    while waiting:
        # The first is one at the edge of all; each next is the one most linked to the last ones.
        if order:
            area = max(waiting, key=lambda area: (pull[area], -area))
        else:
            area = min(waiting, key=lambda area: (len(near[area]), area))
        waiting.remove(area)
        order.append(area)
        pull = [value * _FORGETTING for value in pull]
        for other, weight in near[area].items():
            pull[other] += weight
    return [sorted(areas[area]) for area in order]


def _local_columns(nodes: list[Node], links: list[Link], gap: float) -> list[int]:
    """Return the columns of an area's boxes, from 0; the links are those between them."""
    heights = [node.height + gap for node in nodes]
    width = sum(node.width for node in nodes) / len(nodes) + _TYPICAL_CHANNEL
    limit = max(sqrt(sum(heights) * width / _ASPECT), *heights)
    return assign_columns(heights, nets_of(Graph(tuple(nodes), tuple(links))), limit)


def _size(graph: Graph, boxes: list[int], columns: list[int], gap: float) -> tuple[float, float]:
    heights: dict[int, float] = defaultdict(float)
    for box, column in zip(boxes, columns, strict=True):
        heights[column] += graph.nodes[box].height + gap
    width = max(graph.nodes[box].width for box in boxes) + _TYPICAL_CHANNEL
    return width * len(heights), max(heights.values())


def _grid(sizes: list[tuple[float, float]]) -> tuple[list[int], list[int]]:
    """Return the places of areas from left to right and from top to bottom, down and up by turns.

    So areas that follow each other are neighbours.
    """
    rows = max(range(1, len(sizes) + 1), key=lambda rows: _grid_scale(sizes, rows))
    places = [divmod(place, rows) for place in range(len(sizes))]
    return [turn for turn, _ in places], [_row(turn, at, rows) for turn, at in places]


def _grid_scale(sizes: list[tuple[float, float]], rows: int) -> float:
    """Return how large a grid with so many rows can be shown."""
    parts = [sizes[start : start + rows] for start in range(0, len(sizes), rows)]
    heights = [0.0] * rows
    for turn, part in enumerate(parts):
        own = [height for _, height in part][:: -1 if turn % 2 else 1]
        first = _row(turn, len(part) - 1, rows) if turn % 2 else 0
        heights[first : first + len(own)] = map(max, heights[first:], own)
    return fitting_scale(sum(max(part)[0] for part in parts), sum(heights))


def _row(turn: int, at: int, rows: int) -> int:
    """Return the row of the area that is number ``at`` of its turn, down or up."""
    return at if turn % 2 == 0 else rows - 1 - at
