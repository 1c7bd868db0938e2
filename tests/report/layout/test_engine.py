import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings

from fluid_build.report.layout.engine import layout
from fluid_build.report.layout.graph import Graph, Link, Node
from fluid_build.report.layout.packing import fitting_scale
from tests.report.layout.graphs import graph_of, graphs, random_graph
from tests.report.layout.measures import violations


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


def test_eight_hubs_with_eight_children_each_are_compact() -> None:
    hubs = [(8 + hub * 8 + child, hub) for hub in range(8) for child in range(8)]
    graph = graph_of(72, [*hubs, *((hub * 8 + 8, hub - 1) for hub in range(1, 8))])

    drawing = layout(graph)

    assert violations(drawing, graph) == []
    assert fitting_scale(drawing.width, drawing.height) >= 0.35


@pytest.mark.parametrize("seed", range(6))
def test_a_large_diagram_of_any_shape_is_correct(seed: int) -> None:
    graph = random_graph(seed, boxes=150, links=240)

    assert violations(layout(graph), graph) == []


def test_boxes_of_a_group_are_in_regions_of_their_own() -> None:
    graph = random_graph(1, boxes=150, links=240)
    groups = [f"schema {place % 4}" for place in range(150)]
    nodes = tuple(
        replace(node, group=group) for node, group in zip(graph.nodes, groups, strict=True)
    )
    group_of = {node.id: node.group for node in nodes}

    regions = [each for each in layout(Graph(nodes, graph.links)).regions if each.name]

    assert {region.name for region in regions} == set(groups)
    assert all(group_of[id_] == region.name for region in regions for id_ in region.nodes)


def test_regions_dont_overlap() -> None:
    regions = layout(random_graph(2, boxes=200, links=300)).regions

    assert len(regions) > 4
    for first, second in combinations(regions, 2):
        across = first.box.x < second.box.right and second.box.x < first.box.right
        down = first.box.y < second.box.bottom and second.box.y < first.box.bottom
        assert not (across and down)


@pytest.mark.slow
def test_a_thousand_boxes_are_drawn_correctly() -> None:
    graph = random_graph(3, boxes=1000, links=1500)

    assert violations(layout(graph), graph) == []


def test_the_drawing_doesnt_depend_on_the_seed_of_hashes() -> None:
    code = (
        "from tests.report.layout.graphs import random_graph\n"
        "from fluid_build.report.layout.engine import layout\n"
        "print(layout(random_graph(5, boxes=40, links=60)), layout(random_graph(6, 150, 220)))"
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
