"""Links within a column, mostly from a box to itself: at its right side, or round the whole box.

A link between two rows goes out at the right side and back in. A link whose two ends are the same
point can't, so it goes from the right side over the top of the box to the left side. The box gets
room above it for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fluid_build.report.layout.graph import Graph, Link

_LANE = 10.0


@dataclass(frozen=True, slots=True)
class Loop:
    """A link from a box to itself, or to another box of its column.

    ``lane`` is how far below the top of its slot a link passes over its box.
    """

    box: int
    parent: int
    link: Link
    lane: float | None = None


def with_room(graph: Graph) -> tuple[Graph, dict[str, float]]:
    """Return the graph with room above boxes for the loops round them, and the room of each box."""
    points: dict[str, set[float]] = {}
    for link in graph.links:
        if link.child == link.parent and link.child_offset == link.parent_offset:
            points.setdefault(link.child, set()).add(link.child_offset)
    room = {node.id: _LANE * len(points.get(node.id, ())) for node in graph.nodes}
    if not points:
        return graph, room
    nodes = (replace(node, height=node.height + room[node.id]) for node in graph.nodes)
    links = (
        replace(
            link,
            child_offset=link.child_offset + room[link.child],
            parent_offset=link.parent_offset + room[link.parent],
        )
        for link in graph.links
    )
    return Graph(tuple(nodes), tuple(links)), room


def loops_of(graph: Graph, column_of: Sequence[int]) -> Sequence[Loop]:
    """Return the links within a column, each round a box with a lane of its own."""
    number = {node.id: place for place, node in enumerate(graph.nodes)}
    lanes: dict[str, dict[float, float]] = {}
    loops = []
    for link in graph.links:
        child, parent = number[link.child], number[link.parent]
        if column_of[child] != column_of[parent]:
            continue
        lane = None
        if child == parent and link.child_offset == link.parent_offset:
            used = lanes.setdefault(link.child, {})
            lane = used.setdefault(link.child_offset, _LANE * len(used))
        loops.append(Loop(child, parent, link, lane))
    return loops
