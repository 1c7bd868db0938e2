"""What is to be laid out: boxes of a known size, and the edges between points on their sides."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A box. ``width`` and ``height`` are in pixels; boxes of one ``group`` belong together."""

    id: str
    width: float
    height: float
    group: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge from a child to its parent, both by the ids of their boxes.

    ``child_offset`` and ``parent_offset`` say how far below the top of its box the edge ends, in
    pixels; it ends at the left or the right side, as the layout chooses. The two may be the same
    box.
    """

    id: str
    child: str
    parent: str
    child_offset: float
    parent_offset: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Boxes and edges. Their order is part of the input: the same graph has the same drawing."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
