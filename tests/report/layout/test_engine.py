import subprocess
import sys
from dataclasses import replace

from hypothesis import given, settings

from fluid_build.report.layout.engine import layout
from fluid_build.report.layout.graph import Graph, Link, Node
from fluid_build.report.layout.measures import violations
from tests.report.layout.graphs import graph_of, graphs


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_no_route_passes_through_a_box_or_along_another_route(graph: Graph) -> None:
    assert violations(layout(graph), graph) == []


@settings(max_examples=20, deadline=None)
@given(graphs())
def test_the_same_graph_has_the_same_drawing(graph: Graph) -> None:
    assert layout(graph) == layout(replace(graph))


def test_no_boxes_are_an_empty_drawing() -> None:
    drawing = layout(Graph((), ()))

    assert not drawing.boxes
    assert not drawing.routes


def test_one_box_is_a_drawing_of_its_size() -> None:
    drawing = layout(Graph((Node("a", 200, 48),), ()))

    assert drawing.width < 300
    assert drawing.height < 150


def test_parents_are_left_of_children() -> None:
    graph = graph_of(4, [(1, 0), (2, 1), (3, 0), (3, 2)])

    boxes = layout(graph).boxes

    assert all(boxes[link.parent].right < boxes[link.child].x for link in graph.links)


def test_a_link_to_the_same_point_goes_round_the_box() -> None:
    graph = Graph((Node("a", 200, 48),), (Link("l", "a", "a", 14, 14),))

    drawing = layout(graph)

    assert violations(drawing, graph) == []
    route = drawing.routes["l"]
    assert route[0].x == drawing.boxes["a"].right
    assert route[-1].x == drawing.boxes["a"].x


def test_forty_children_of_one_parent_fit_a_screen() -> None:
    graph = graph_of(41, [(child, 0) for child in range(1, 41)])

    drawing = layout(graph)

    assert violations(drawing, graph) == []
    assert 1.2 < drawing.width / drawing.height < 2.5


def test_the_drawing_doesnt_depend_on_the_seed_of_hashes() -> None:
    code = (
        "from tests.report.layout.graphs import graph_of\n"
        "from fluid_build.report.layout.engine import layout\n"
        "print(layout(graph_of(30, [(n, n * 7 % 11) for n in range(1, 30)])))"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(results) == 1
