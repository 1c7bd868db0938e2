"""Links that are drawn as one tree: those to the same point of a parent, from the same side."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fluid_build.report.layout.directions import break_cycles
from fluid_build.report.layout.graph import Graph, Link


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


def nets_of(graph: Graph) -> list[Net]:
    """Return the nets of a graph without the links from a box to itself."""
    number = {node.id: place for place, node in enumerate(graph.nodes)}
    links = [link for link in graph.links if link.child != link.parent]
    arcs = [(number[link.parent], number[link.child]) for link in links]
    nets: dict[tuple[int, float, bool], Net] = {}
    for link, arc, turned in zip(links, arcs, break_cycles(len(number), arcs), strict=True):
        parent, child = arc
        key = (parent, link.parent_offset, arc == turned)
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
