"""What can be counted about a drawing: crossings, and what a correct drawing never has."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from math import isclose

from fluid_build.report.layout.drawing import Box, Drawing, Point
from fluid_build.report.layout.graph import Graph, Link

# Two ends, and the number of the line.
Segment = tuple[Point, Point, int]
_TOUCH = 0.01


def crossings(drawing: Drawing) -> int:
    """Return how often two routes cross."""
    return polyline_crossings(list(drawing.routes.values()))


def polyline_crossings(lines: Sequence[Sequence[Point]]) -> int:
    """Return at how many points two lines cross, counted for each pair of lines.

    Lines that meet, or that run along each other, don't cross.
    """
    segments = [
        (first, second, number)
        for number, line in enumerate(lines)
        for first, second in pairwise(line)
    ]
    slanted = [each for each in segments if each[0].x != each[1].x and each[0].y != each[1].y]
    upright = [each for each in segments if each[0].x == each[1].x]
    level = [each for each in segments if each[0].y == each[1].y]
    count = _upright_crossings(upright, level)
    for place, (first, second, number) in enumerate(slanted):
        for start, end, other in chain(slanted[:place], upright, level):
            count += number != other and _cross(first, second, start, end)
    return count


def _upright_crossings(upright: Sequence[Segment], level: Sequence[Segment]) -> int:
    """Return how often upright segments cross level ones: a sweep from left to right.

    Segments that end at a place are gone before those that begin there come, so that segments
    which only touch don't count.
    """
    events: list[tuple[float, int, Segment]] = []
    for segment in level:
        left, right = sorted((segment[0].x, segment[1].x))
        events += [(right, 0, segment), (left, 2, segment)]
    events += [(segment[0].x, 1, segment) for segment in upright]
    open_lines: list[tuple[float, int]] = []
    count = 0
    for _, kind, (first, second, number) in sorted(events):
        if kind == 0:
            del open_lines[bisect_left(open_lines, (first.y, number))]
        elif kind == 2:
            insort(open_lines, (first.y, number))
        else:
            top, bottom = sorted((first.y, second.y))
            start = bisect_left(open_lines, (top + 1e-9, -1))
            end = bisect_left(open_lines, (bottom - 1e-9, -1))
            count += sum(other != number for _, other in open_lines[start:end])
    return count


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether two segments cross at a point inside both."""
    return _turn(a, b, c) * _turn(a, b, d) < 0 and _turn(c, d, a) * _turn(c, d, b) < 0


def _turn(a: Point, b: Point, c: Point) -> int:
    value = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
    return (value > 1e-9) - (value < -1e-9)


def violations(drawing: Drawing, graph: Graph) -> list[str]:
    """Return what is wrong with a drawing, in sentences; a correct drawing has none."""
    return [
        *_box_violations(drawing, graph),
        *_end_violations(drawing, graph),
        *_route_violations(drawing),
        *_overlap_violations(drawing, graph),
    ]


def _box_violations(drawing: Drawing, graph: Graph) -> Iterator[str]:
    if set(drawing.boxes) != {node.id for node in graph.nodes}:
        yield "The drawing doesn't have the boxes of the graph."
        return
    for node in graph.nodes:
        box = drawing.boxes[node.id]
        if (box.width, box.height) != (node.width, node.height):
            yield f"Box {node.id} has another size."
        if box.x < 0 or box.y < 0 or box.right > drawing.width or box.bottom > drawing.height:
            yield f"Box {node.id} is outside of the drawing."
    ordered = sorted(drawing.boxes.items(), key=lambda pair: pair[1].x)
    for place, (name, box) in enumerate(ordered):
        for other_name, other in ordered[place + 1 :]:
            if other.x >= box.right:
                break
            if box.y < other.bottom and other.y < box.bottom:
                yield f"Boxes {name} and {other_name} overlap."


def _end_violations(drawing: Drawing, graph: Graph) -> Iterator[str]:
    if set(drawing.routes) != {link.id for link in graph.links}:
        yield "The drawing doesn't have the routes of the graph."
        return
    for link in graph.links:
        route = drawing.routes[link.id]
        ends = (
            (route[0], route[1], drawing.boxes[link.child], link.child_offset),
            (route[-1], route[-2], drawing.boxes[link.parent], link.parent_offset),
        )
        for end, near, box, offset in ends:
            at_left = isclose(end.x, box.x) and near.x < end.x
            at_right = isclose(end.x, box.right) and near.x > end.x
            if not (at_left or at_right) or not isclose(end.y, box.y + offset, abs_tol=_TOUCH):
                yield f"Route {link.id} doesn't end at its row."


def _route_violations(drawing: Drawing) -> Iterator[str]:
    boxes = sorted(drawing.boxes.items(), key=lambda pair: pair[1].x)
    for id_, route in drawing.routes.items():
        directions = [(a.x == b.x, a.y == b.y) for a, b in pairwise(route)]
        if any(sum(direction) != 1 for direction in directions) or any(
            first == second for first, second in pairwise(directions)
        ):
            yield f"Route {id_} isn't horizontal and vertical by turns."
        for first, second in pairwise(route):
            left, right = sorted((first.x, second.x))
            top, bottom = sorted((first.y, second.y))
            if left < 0 or top < 0 or right > drawing.width or bottom > drawing.height:
                yield f"Route {id_} leaves the drawing."
            for name, box in boxes:
                if box.x >= right + _TOUCH:
                    break
                if _passes(left, top, right, bottom, box):
                    yield f"Route {id_} passes through box {name}."


def _passes(left: float, top: float, right: float, bottom: float, box: Box) -> bool:
    """Whether a segment is inside a box or runs along its border."""
    if left == right:
        return box.x <= left <= box.right and top < box.bottom and bottom > box.y
    return box.y <= top <= box.bottom and left < box.right and right > box.x


def _overlap_violations(drawing: Drawing, graph: Graph) -> Iterator[str]:
    """Yield the routes that run along each other and don't end at the same point.

    Routes to the same point of a parent share their trunk; routes from the same row of a child
    share its first part.
    """
    lines: dict[tuple[bool, float], list[tuple[float, float, str]]] = {}
    for id_, route in drawing.routes.items():
        for first, second in pairwise(route):
            upright = first.x == second.x
            low, high = sorted((first.y, second.y) if upright else (first.x, second.x))
            at = first.x if upright else first.y
            lines.setdefault((upright, round(at, 2)), []).append((low, high, id_))
    links = {link.id: link for link in graph.links}
    for parallel in lines.values():
        parallel.sort()
        for place, (_, high, id_) in enumerate(parallel):
            for low, _, other in parallel[place + 1 :]:
                if low >= high - _TOUCH:
                    break
                if id_ != other and not _share_an_end(links[id_], links[other], drawing):
                    yield f"Routes {id_} and {other} run along each other."


def _share_an_end(first: Link, second: Link, drawing: Drawing) -> bool:
    ends = {drawing.routes[first.id][0], drawing.routes[first.id][-1]}
    return bool(ends & {drawing.routes[second.id][0], drawing.routes[second.id][-1]})
