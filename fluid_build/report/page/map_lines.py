"""The lines of a map: the path of an edge, and the crow's feet at its ends."""

from collections.abc import Sequence
from itertools import pairwise

from fluid_build.report.diagrams.diagram import Count
from fluid_build.report.layout.drawing import Point

_RADIUS = 6.0
_TOE = 5.0
_FOOT = 10.0
_BAR = 7.0
_RING = 3.0
_SYMBOL = 16.0


def line_path(route: Sequence[Point]) -> str:
    """Return the path of a route with slightly rounded corners.

    It consists of absolute M, L and Q commands; the control points are the corners of the route.
    """
    route = _without_repeats(route)
    path = [f"M{_pair(route[0])}"]
    for before, corner, after in zip(route, route[1:], route[2:], strict=False):
        radius = min(_RADIUS, _length(before, corner) / 2, _length(corner, after) / 2)
        start, end = _towards(corner, before, radius), _towards(corner, after, radius)
        path.append(f"L{_pair(start)}Q{_pair(corner)} {_pair(end)}")
    path.append(f"L{_pair(route[-1])}")
    return "".join(path)


def feet_path(route: Sequence[Point], child_count: Count, parent_count: Count) -> str:
    """Return the crow's feet at both ends of a route.

    ``child_count`` is at the child's end, because it says how many children a parent has.
    """
    route = _without_repeats(route)
    return _foot(route[0], route[1], child_count) + _foot(route[-1], route[-2], parent_count)


def count_symbol(count: Count) -> str:
    """Return the symbol for a count, at the end of a line from the right to the origin."""
    return _foot(Point(0, 0), Point(1, 0), count)


def label_place(route: Sequence[Point]) -> tuple[Point, float]:
    """Return the middle of the longest horizontal segment, and how long a label there may be.

    On such a segment a label is clear of boxes; at its ends are crow's feet and corners.
    """
    start, end = max(
        pairwise(route), key=lambda segment: (abs(segment[0].x - segment[1].x), segment[0])
    )
    room = abs(start.x - end.x) - 2 * _SYMBOL
    return Point((start.x + end.x) / 2, (start.y + end.y) / 2), room


def number(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    return f"{round(value, 1):g}" if abs(value) < 100_000 else f"{value:.0f}"


def _foot(end: Point, next_point: Point, count: Count) -> str:
    """Return the symbol for a count, at the end of a line that comes from ``next_point``."""
    along = 1.0 if next_point.x >= end.x else -1.0

    def place(distance: float, aside: float) -> str:
        return _pair(Point(end.x + along * distance, end.y + aside))

    toes = f"M{place(0, -_TOE)}L{place(_FOOT, 0)}M{place(0, _TOE)}L{place(_FOOT, 0)}"

    def bar(distance: float) -> str:
        return f"M{place(distance, -_TOE)}L{place(distance, _TOE)}"

    def ring(distance: float) -> str:
        start, middle = place(distance - _RING, 0), place(distance + _RING, 0)
        arc = f"A{_RING:g} {_RING:g} 0 1 1"
        return f"M{start}{arc} {middle}{arc} {start}z"

    symbols = {
        "one": bar(_BAR),
        "zero-or-one": bar(_BAR) + ring(_BAR + 2 + _RING),
        "many": toes + bar(_FOOT + 3),
        "zero-or-many": toes + ring(_FOOT + _RING),
    }
    return symbols[count]


def _without_repeats(route: Sequence[Point]) -> list[Point]:
    """Return the corners of a route: no point twice, and none in the middle of a straight line."""
    points: list[Point] = []
    for point in route:
        if points and point == points[-1]:
            continue
        if len(points) > 1 and _in_line(points[-2], points[-1], point):
            points.pop()
        points.append(point)
    return points


def _in_line(first: Point, middle: Point, last: Point) -> bool:
    return first.x == middle.x == last.x or first.y == middle.y == last.y


def _length(start: Point, end: Point) -> float:
    return abs(start.x - end.x) + abs(start.y - end.y)


def _towards(start: Point, end: Point, distance: float) -> Point:
    """Return the point at a distance from ``start`` on the way to ``end``."""
    length = _length(start, end)
    share = distance / length if length else 0.0
    return Point(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)


def _pair(point: Point) -> str:
    return f"{number(point.x)} {number(point.y)}"
