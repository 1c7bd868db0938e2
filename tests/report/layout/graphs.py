"""Graphs for the tests of the layout: random ones, and those of known shapes."""

import random

from hypothesis import strategies as st

from fluid_build.report.layout.graph import Graph, Link, Node

WIDTH, HEAD, ROW = 200.0, 28.0, 20.0


@st.composite
def graphs(draw: st.DrawFn, most: int = 14) -> Graph:
    """Draw boxes of all sizes with links anywhere on them, cycles and loops included."""
    sizes = draw(
        st.lists(st.tuples(st.integers(1, 400), st.integers(1, 30)), min_size=0, max_size=most)
    )
    nodes = tuple(
        Node(f"n{place}", float(width), HEAD + ROW * rows)
        for place, (width, rows) in enumerate(sizes)
    )
    if not nodes:
        return Graph((), ())
    box = st.integers(0, len(nodes) - 1)
    share = st.sampled_from((0.0, 0.1, 0.5, 0.55, 0.9, 1.0))
    ends = draw(st.lists(st.tuples(box, share, box, share), max_size=2 * most))
    links = tuple(
        Link(
            f"l{place}",
            nodes[child].id,
            nodes[parent].id,
            nodes[child].height * child_share,
            nodes[parent].height * parent_share,
        )
        for place, (child, child_share, parent, parent_share) in enumerate(ends)
    )
    return Graph(nodes, links)


def graph_of(boxes: int, pairs: list[tuple[int, int]]) -> Graph:
    """Return boxes with one row for their key and one for each parent, as tables have."""
    rows = [1] * boxes
    links = []
    for place, (child, parent) in enumerate(pairs):
        own = HEAD + ROW * (rows[child] + 0.5)
        rows[child] += 1
        links.append(Link(f"l{place}", f"n{child}", f"n{parent}", own, HEAD + ROW / 2))
    nodes = tuple(Node(f"n{box}", WIDTH, HEAD + ROW * rows[box]) for box in range(boxes))
    return Graph(nodes, tuple(links))


def random_graph(seed: int, boxes: int, links: int) -> Graph:
    """Return clusters of boxes with a few links between them, and some loops and cycles."""
    generator = random.Random(seed)
    pairs = []
    for _ in range(links):
        child = generator.randrange(boxes)
        near = generator.random() < 0.9
        parent = child - generator.randrange(12) if near else generator.randrange(boxes)
        pairs.append((child, max(parent, 0)))
    return graph_of(boxes, pairs)
