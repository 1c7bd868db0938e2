from dataclasses import replace

import pytest

from fluid_build.report.layout.drawing import Box, Drawing, Point
from fluid_build.report.layout.graph import Graph, Link, Node
from tests.report.layout.measures import crossings, polyline_crossings, violations

GRAPH = Graph(
    (Node("a", 100, 50), Node("b", 100, 50), Node("c", 100, 50)),
    (Link("ba", "b", "a", 20, 20), Link("ca", "c", "a", 20, 40)),
)
DRAWING = Drawing(
    400,
    200,
    {"a": Box(0, 0, 100, 50), "b": Box(200, 0, 100, 50), "c": Box(200, 100, 100, 50)},
    {
        "ba": (Point(200, 20), Point(100, 20)),
        "ca": (Point(200, 120), Point(150, 120), Point(150, 40), Point(100, 40)),
    },
)


def test_a_correct_drawing_has_no_violations() -> None:
    assert violations(DRAWING, GRAPH) == []


@pytest.mark.parametrize(
    ("boxes", "routes", "message"),
    [
        ({"c": Box(250, 40, 100, 50)}, {}, "Boxes b and c overlap."),
        ({"c": Box(200, 170, 100, 50)}, {}, "Box c is outside of the drawing."),
        ({"c": Box(200, 100, 90, 50)}, {}, "Box c has another size."),
        ({}, {"ba": (Point(200, 30), Point(100, 30))}, "Route ba doesn't end at its row."),
        ({"c": Box(110, 10, 100, 50)}, {}, "Route ba passes through box c."),
        (
            {},
            {"ba": (Point(200, 20), Point(150, 20), Point(150, 10), Point(100, 20))},
            "Route ba isn't horizontal and vertical by turns.",
        ),
        (
            {},
            {
                "ba": (
                    Point(200, 20),
                    Point(150, 20),
                    Point(150, 60),
                    Point(120, 60),
                    Point(120, 20),
                    Point(100, 20),
                )
            },
            "Routes ba and ca run along each other.",
        ),
    ],
)
def test_each_fault_is_a_violation(
    boxes: dict[str, Box], routes: dict[str, tuple[Point, ...]], message: str
) -> None:
    drawing = replace(
        DRAWING, boxes={**DRAWING.boxes, **boxes}, routes={**DRAWING.routes, **routes}
    )

    assert message in violations(drawing, GRAPH)


def test_routes_that_cross_are_counted() -> None:
    routes = {
        "level": (Point(0, 50), Point(100, 50)),
        "upright": (Point(40, 0), Point(40, 100)),
        "twice": (Point(60, 0), Point(60, 80), Point(80, 80), Point(80, 20)),
    }

    assert crossings(Drawing(100, 100, {}, routes)) == 3


def test_routes_that_only_touch_dont_cross() -> None:
    level = [Point(0, 50), Point(100, 50)]
    ends_there = [Point(40, 0), Point(40, 50)]
    same = [Point(20, 50), Point(80, 50)]

    assert polyline_crossings([level, ends_there, same]) == 0


def test_slanted_lines_are_counted_too() -> None:
    assert polyline_crossings([[Point(0, 0), Point(10, 10)], [Point(0, 10), Point(10, 0)]]) == 1
