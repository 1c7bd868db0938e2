"""Links that are drawn as one tree: those to the same point of a parent, from the same side."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fluid_build.report.layout.graph import Graph, Link

# Which links run against the others: those to reverse so that no cycle is left.


def break_cycles(boxes: int, arcs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the arcs, from parent to child, with those turned round that close a cycle.

    The order that decides is that of Eades, Lin and Smyth (1993): boxes without parents come
    first, boxes without children last, and in a cycle the box with the most children per parent.
    """
    place = _order(boxes, sorted({arc for arc in arcs if arc[0] != arc[1]}))
    return [arc if place[arc[0]] <= place[arc[1]] else (arc[1], arc[0]) for arc in arcs]


def _order(boxes: int, arcs: list[tuple[int, int]]) -> list[int]:
    """Return the place of each box in an order that few arcs run against."""
    children: dict[int, list[int]] = defaultdict(list)
    parents: dict[int, list[int]] = defaultdict(list)
    for parent, child in arcs:
        children[parent].append(child)
        parents[child].append(parent)
    child_counts = Counter({box: len(children[box]) for box in range(boxes)})
    parent_counts = Counter({box: len(parents[box]) for box in range(boxes)})
    waiting = dict.fromkeys(range(boxes))
    sources = [box for box in waiting if not parent_counts[box]]
    sinks = [box for box in waiting if parent_counts[box] and not child_counts[box]]
    first: list[int] = []
    last: list[int] = []
    while waiting:
        if sources:
            box = sources.pop()
        elif sinks:
            box = sinks.pop()
        else:
            box = max(waiting, key=lambda box: (child_counts[box] - parent_counts[box], -box))
        if box not in waiting:
            continue
        del waiting[box]
        (last if not child_counts[box] and parent_counts[box] else first).append(box)
        for child in children[box]:
            parent_counts[child] -= 1
            if not parent_counts[child]:
                sources.append(child)
        for parent in parents[box]:
            child_counts[parent] -= 1
            if not child_counts[parent]:
                sinks.append(parent)
    place = [0] * boxes
    for number, box in enumerate([*first, *reversed(last)]):
        place[box] = number
    return place


@dataclass(frozen=True, slots=True)
class Net:
    """Links to one point of one box.

    ``is_forward`` says that the parent is left of its children, so that the tree leaves it at its
    right side. Links against the direction of the drawing are the others.
    """

    parent: int
    offset: float
    is_forward: bool
    links: list[Link] = field(default_factory=list)
    children: list[int] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, float, bool]:
        """Return the point of the parent and its side: what all links of a net have in common."""
        return self.parent, self.offset, self.is_forward

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Return the pairs of boxes that must be drawn from left to right."""
        pairs = [(self.parent, child) for child in self.children]
        return pairs if self.is_forward else [(child, parent) for parent, child in pairs]


def nets_of(graph: Graph, column_of: Sequence[int] | None = None) -> list[Net]:
    """Return the nets of a graph, without the links from a box to itself.

    Where the boxes are in columns already, those decide about directions, and links within a column
    are left out too.
    """
    number = {node.id: place for place, node in enumerate(graph.nodes)}
    if column_of is None:
        links = [link for link in graph.links if link.child != link.parent]
        arcs = [(number[link.parent], number[link.child]) for link in links]
        turned = break_cycles(len(number), arcs)
        forward = [arc == after for arc, after in zip(arcs, turned, strict=True)]
    else:
        columns = {id_: column_of[place] for id_, place in number.items()}
        links = [link for link in graph.links if columns[link.child] != columns[link.parent]]
        arcs = [(number[link.parent], number[link.child]) for link in links]
        forward = [column_of[parent] < column_of[child] for parent, child in arcs]
    nets: dict[tuple[int, float, bool], Net] = {}
    for link, (parent, child), is_forward in zip(links, arcs, forward, strict=True):
        key = (parent, link.parent_offset, is_forward)
        net = nets.setdefault(key, Net(*key))
        net.links.append(link)
        net.children.append(child)
    return list(nets.values())


def single_nets(nets: Sequence[Net]) -> list[Net]:
    """Return a net for each link."""
    return [
        replace(net, links=[link], children=[child])
        for net in nets
        for link, child in zip(net.links, net.children, strict=True)
    ]
