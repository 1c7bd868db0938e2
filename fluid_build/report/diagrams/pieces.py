"""A diagram cut into pieces that a reader can follow, along its edges.

Every edge is in exactly one piece, with the boxes at both of its ends, so a box may be in several.
Edges that belong together stay together: all references of a fact, a link or a table, and the boxes
that only hang on it, such as satellites. These bundles are gathered around the boxes with the
most edges.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TypeVar

from fluid_build.report.diagrams.diagram import Diagram, DiagramBox, DiagramEdge

_T = TypeVar("_T")
MOST_BOXES = 15
"""What a reader can follow on a screen, and what Mermaid draws with legible names."""
MOST_EDGES = 20
"""With more, the lines of two facts that share their dimensions can't be told apart."""
_MOST_EDGES_OF_A_WHOLE = 30
"""To have all of a small model in one picture is worth a few crossings more."""
_CENTRES = {"fact", "hub"}
"""The kinds of boxes that models of their technique are explained around."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a diagram, and the names of the boxes that it was gathered around."""

    centres: tuple[str, ...]
    diagram: Diagram


@dataclass(slots=True)
class _Gathering:
    """Boxes and edges on their way to a piece, by their ids."""

    centres: list[str]
    boxes: set[str]
    edges: set[str]

    def has_room(self, boxes: Set[str], edges: Set[str]) -> bool:
        """Return whether the piece stays readable with these boxes and edges too."""
        return len(self.boxes | boxes) <= MOST_BOXES and len(self.edges | edges) <= MOST_EDGES


@dataclass(frozen=True, slots=True)
class _Bundle:
    """Edges that are drawn together, and the boxes at their ends, by their ids.

    ``number`` is its place among all bundles: sets have no order, and pieces must.
    """

    number: int
    boxes: frozenset[str]
    edges: frozenset[str]


def pieces(diagram: Diagram) -> tuple[Piece, ...]:
    """Return the pieces of a diagram, the most connected first; a small one is a single piece."""
    if len(diagram.boxes) <= MOST_BOXES and len(diagram.edges) <= _MOST_EDGES_OF_A_WHOLE:
        return (Piece((), diagram),) if diagram.boxes else ()
    boxes = {box.id: (place, box) for place, box in enumerate(diagram.boxes)}
    edges = {edge.id: (place, edge) for place, edge in enumerate(diagram.edges)}
    return tuple(
        Piece(
            tuple(boxes[id_][1].name for id_ in dict.fromkeys(gathering.centres)),
            Diagram(
                diagram.title, _in_order(gathering.boxes, boxes), _in_order(gathering.edges, edges)
            ),
        )
        for gathering in (*_merged(_gatherings(diagram)), *_singles(diagram))
    )


def _in_order(ids: Set[str], places: Mapping[str, tuple[int, _T]]) -> tuple[_T, ...]:
    """Return the parts of these ids in the order of the diagram."""
    in_order = sorted((places[id_] for id_ in ids), key=itemgetter(0))
    return tuple(part for _, part in in_order)


def _bundles(diagram: Diagram) -> tuple[_Bundle, ...]:
    """Return the edges of each box: its own references, and those of boxes that have no others."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for edge in diagram.edges:
        neighbours[edge.child].add(edge.parent)
        neighbours[edge.parent].add(edge.child)
    by_owner: dict[str, list[DiagramEdge]] = {box.id: [] for box in diagram.boxes}
    for edge in diagram.edges:
        hangs_on_parent = neighbours[edge.child] == {edge.parent}
        by_owner[edge.parent if hangs_on_parent else edge.child].append(edge)
    parts = chain.from_iterable(_bounded(owner, edges) for owner, edges in by_owner.items())
    return tuple(
        _Bundle(number, frozenset(_ends(edges)), frozenset(edge.id for edge in edges))
        for number, edges in enumerate(parts)
    )


def _bounded(owner: str, edges: Sequence[DiagramEdge]) -> Iterator[list[DiagramEdge]]:
    """Yield the edges of a box in parts that fit into a piece, those to one neighbour together."""
    by_neighbour: dict[str, list[DiagramEdge]] = defaultdict(list)
    for edge in edges:
        by_neighbour[edge.parent if edge.child == owner else edge.child].append(edge)
    part: list[DiagramEdge] = []
    for group in chain.from_iterable(_batches(each, MOST_EDGES) for each in by_neighbour.values()):
        longer = [*part, *group]
        if part and (len(longer) > MOST_EDGES or len(_ends(longer)) > MOST_BOXES):
            yield part
            longer = [*group]
        part = longer
    if part:
        yield part


def _ends(edges: Iterable[DiagramEdge]) -> set[str]:
    return {id_ for edge in edges for id_ in (edge.child, edge.parent)}


def _gatherings(diagram: Diagram) -> Iterator[_Gathering]:
    """Yield the bundles gathered around the box with the most edges left, and so on."""
    left: dict[str, set[_Bundle]] = {box.id: set() for box in diagram.boxes}
    for bundle in _bundles(diagram):
        for id_ in bundle.boxes:
            left[id_].add(bundle)
    ends = Counter(id_ for edge in diagram.edges for id_ in (edge.child, edge.parent))
    edges = {edge.id: edge for edge in diagram.edges}

    def rank(box: DiagramBox) -> tuple[bool, int]:
        return box.kind in _CENTRES, ends[box.id]

    boxes: Sequence[DiagramBox] = diagram.boxes
    while boxes := [box for box in boxes if ends[box.id]]:
        centre = max(boxes, key=rank).id
        gathering = _Gathering([centre], {centre}, set())
        while (best := _best_bundle(gathering, centre, left)) is not None:
            gathering.boxes |= best.boxes
            gathering.edges |= best.edges
            for id_ in best.boxes:
                left[id_].remove(best)
            for id_ in best.edges:
                ends.subtract((edges[id_].child, edges[id_].parent))
        yield gathering


def _best_bundle(
    gathering: _Gathering, centre: str, left: Mapping[str, Set[_Bundle]]
) -> _Bundle | None:
    """Return the bundle to add: one at the centre if possible, with the fewest new boxes."""
    near = {
        bundle
        for id_ in gathering.boxes
        for bundle in left[id_]
        if gathering.has_room(bundle.boxes, bundle.edges)
    }
    return min(
        near,
        key=lambda bundle: (
            centre not in bundle.boxes,
            len(bundle.boxes - gathering.boxes),
            bundle.number,
        ),
        default=None,
    )


def _singles(diagram: Diagram) -> Iterator[_Gathering]:
    """Yield the boxes without an edge, as many together as fit."""
    ends = _ends(diagram.edges)
    alone = [box.id for box in diagram.boxes if box.id not in ends]
    for ids in _batches(alone, MOST_BOXES):
        yield _Gathering([], {*ids}, set())


def _merged(gatherings: Iterable[_Gathering]) -> list[_Gathering]:
    """Return the pieces with small ones put together, related ones where there are any."""
    merged: list[_Gathering] = []
    for gathering in gatherings:
        roomy = [each for each in merged if each.has_room(gathering.boxes, gathering.edges)]
        if not roomy:
            merged.append(gathering)
            continue
        closest = max(roomy, key=lambda each: len(each.boxes & gathering.boxes))
        closest.centres += gathering.centres
        closest.boxes |= gathering.boxes
        closest.edges |= gathering.edges
    return merged


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
