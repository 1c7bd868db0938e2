"""Large diagrams are cut into pieces that a reader can follow, and nothing is lost."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.report.diagrams.diagram import BoxKind, Diagram, DiagramBox, DiagramEdge
from fluid_build.report.diagrams.pieces import MOST_BOXES, Piece, pieces


def boxes(kind: BoxKind, *names: str) -> tuple[DiagramBox, ...]:
    return tuple(DiagramBox(name, name, kind) for name in names)


def edges(*ends: tuple[str, str]) -> tuple[DiagramEdge, ...]:
    return tuple(
        DiagramEdge(f"e{number}", child, (), parent, ())
        for number, (child, parent) in enumerate(ends)
    )


@st.composite
def diagrams(draw: st.DrawFn) -> Diagram:
    """Diagrams of up to sixty boxes: sparse and dense, with loops and boxes on their own."""
    names = [f"b{number}" for number in range(draw(st.integers(0, 60)))]
    kinds = st.sampled_from(("hub", "link", "satellite", "fact", "dimension", "table"))
    ends = st.tuples(*[st.sampled_from(names)] * 2) if names else st.nothing()
    return Diagram(
        "any",
        tuple(DiagramBox(name, name, draw(kinds)) for name in names),
        edges(*draw(st.lists(ends, max_size=150))) if names else (),
    )


def box_names(piece: Piece) -> set[str]:
    return {box.name for box in piece.diagram.boxes}


@given(diagrams())
def test_each_edge_is_in_one_piece_with_both_of_its_ends(diagram: Diagram) -> None:
    parts = pieces(diagram)
    drawn = [edge.id for part in parts for edge in part.diagram.edges]
    assert sorted(drawn) == sorted(edge.id for edge in diagram.edges)
    for part in parts:
        ends = {id_ for edge in part.diagram.edges for id_ in (edge.child, edge.parent)}
        assert ends <= box_names(part)


@given(diagrams())
def test_each_box_is_in_a_piece_and_no_piece_has_too_many(diagram: Diagram) -> None:
    parts = pieces(diagram)
    assert set(chain.from_iterable(map(box_names, parts))) == {box.name for box in diagram.boxes}
    for part in parts:
        assert 0 < len(part.diagram.boxes) <= MOST_BOXES
        assert len(part.diagram.edges) <= 30
        assert set(part.centres) <= box_names(part)
        assert len(set(part.centres)) == len(part.centres)


@given(diagrams())
def test_the_same_diagram_has_the_same_pieces(diagram: Diagram) -> None:
    """Even where its boxes have other ids, by which sets would be walked in another order."""
    renamed = Diagram(
        diagram.title,
        tuple(DiagramBox(f"x{box.id}", box.name, box.kind) for box in diagram.boxes),
        tuple(
            DiagramEdge(f"x{edge.id}", f"x{edge.child}", (), f"x{edge.parent}", ())
            for edge in diagram.edges
        ),
    )
    assert [[box.name for box in part.diagram.boxes] for part in pieces(diagram)] == [
        [box.name for box in part.diagram.boxes] for part in pieces(renamed)
    ]


def test_a_small_diagram_is_one_piece_without_a_centre() -> None:
    small = Diagram("small", boxes("table", "a", "b", "alone"), edges(("a", "b")))
    assert pieces(small) == (Piece((), small),)


def test_two_stars_are_drawn_one_by_one_and_share_their_dimensions() -> None:
    own = {fact: [f"{fact}_{number}" for number in range(9)] for fact in ("sales", "stock")}
    references = [(fact, name) for fact, names in own.items() for name in (*names, "date")]
    diagram = Diagram(
        "stars",
        (*boxes("fact", *own), *boxes("dimension", "date", *chain(*own.values()))),
        edges(*references),
    )
    parts = pieces(diagram)
    assert [part.centres for part in parts] == [("sales",), ("stock",)]
    assert [box_names(part) for part in parts] == [
        {fact, "date", *names} for fact, names in own.items()
    ]


def test_a_link_stays_with_its_hubs_and_its_satellite() -> None:
    hubs = [f"hub_{number}" for number in range(12)]
    links = [f"link_{number}" for number in range(11)]
    satellites = [f"sat_{number}" for number in range(11)]
    diagram = Diagram(
        "vault",
        (*boxes("hub", *hubs), *boxes("link", *links), *boxes("satellite", *satellites)),
        edges(
            *zip(links, hubs, strict=False),
            *zip(links, hubs[1:], strict=True),
            *zip(satellites, links, strict=True),
        ),
    )
    parts = pieces(diagram)
    assert len(parts) > 1
    for number, link in enumerate(links):
        together = {link, hubs[number], hubs[number + 1], satellites[number]}
        assert any(together <= box_names(part) for part in parts)


def test_boxes_without_an_edge_are_together() -> None:
    names = [f"t{number}" for number in range(20)]
    diagram = Diagram("lone", boxes("table", "a", "b", *names), edges(("a", "b")))
    first, *others = pieces(diagram)
    assert (first.centres, box_names(first)) == (("a",), {"a", "b"})
    assert [(part.centres, len(part.diagram.boxes)) for part in others] == [((), 15), ((), 5)]


def test_small_pieces_are_put_together() -> None:
    pairs = [(f"child{number}", f"parent{number}") for number in range(14)]
    diagram = Diagram("pairs", boxes("table", *chain(*pairs)), edges(*pairs))
    assert [len(part.diagram.boxes) for part in pieces(diagram)] == [14, 14]
