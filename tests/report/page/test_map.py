"""The map as data and markup: what a browser isn't needed for."""

import gzip
import re
from base64 import b64decode
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.forging import Forged, forge
from fluid_build.report.diagrams.diagram import Diagram, DiagramBox, DiagramEdge, Mark, Row
from fluid_build.report.layout.drawing import Point
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.map import map_data
from fluid_build.report.page.map_boxes import (
    REMARK_SIZE,
    ROW_SIZE,
    TITLE_SIZE,
    BoxShape,
    box_shapes,
    map_graph,
)
from fluid_build.report.page.map_lines import feet_path, label_place, line_path
from fluid_build.report.page.page import report_page
from fluid_build.report.page.text_widths import clipped, single_line, text_width, words
from fluid_build.report.view import source_view
from fluid_build.sources import open_source
from tests.report.page.test_page import HOSTILE, page_of


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> Forged:
    """A vault of customers, and of orders of which three have an unknown customer."""
    path = tmp_path_factory.mktemp("shop") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE customers AS SELECT i AS customer_id, 'Shop ' || i AS name"
            " FROM range(1, 41) t(i)"
        )
        connection.execute(
            "CREATE TABLE orders AS SELECT i AS order_id, if(i < 4, 99, 1 + i % 40) AS customer_id,"
            " i * 1.5 AS amount"
            " FROM range(1, 201) t(i)"
        )
    with open_source(str(path)) as source:
        return forge(source, technique="data_vault_2")


NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
MARKS = st.sampled_from([(), ("PK",), ("FK",), ("PK", "FK")])


@st.composite
def boxes(draw: st.DrawFn) -> DiagramBox:
    """Boxes with all sorts of names; the names of their rows differ."""
    names = draw(st.lists(NAMES, max_size=6, unique=True))
    rows = tuple(Row(name, draw(NAMES), draw(MARKS)) for name in names)
    return DiagramBox("box", draw(NAMES), draw(st.sampled_from(["table", "hub"])), rows)


def shape_of(box: DiagramBox, *, with_all_columns: bool = True) -> BoxShape:
    return box_shapes(Diagram("", (box,)), with_all_columns=with_all_columns)["box"]


def row(name: str, *marks: Mark) -> Row:
    return Row(name, "INTEGER", marks)


def content_of(forged: Forged) -> PageContent:
    view = source_view(forged.profile, forged.model, forged.plan, forged.proof)
    return PageContent(view, BuiltContent(forged.model, forged.plan, ""))


def packed_text(page: str, id_: str) -> str:
    match = re.search(rf'<script type="text/plain" id="{id_}">([^<]*)</script>', page)
    assert match is not None
    return gzip.decompress(b64decode(match[1])).decode()


@given(boxes())
def test_no_text_is_wider_than_its_box(box: DiagramBox) -> None:
    """Titles, remarks, columns with their types, and the title for afar stay inside the frame."""
    shape = shape_of(box)
    assert 10 + text_width(shape.title, TITLE_SIZE, bold=True) <= shape.width
    assert 10 + text_width(shape.remark, REMARK_SIZE) <= shape.width
    for each in shape.rows:
        name_width = text_width(each.name, ROW_SIZE, bold=True)
        type_width = text_width(each.type, REMARK_SIZE)
        assert shape.name_x + name_width + type_width + 10 <= shape.width
    for line in shape.far_title:
        assert text_width(line.text, shape.far_size, bold=True) <= shape.width
        assert line.y - shape.far_size / 2 >= 0
        assert line.y + shape.far_size / 2 <= shape.height


@given(boxes())
def test_rows_are_below_each_other_inside_their_box(box: DiagramBox) -> None:
    shape = shape_of(box, with_all_columns=False)
    places = [each.y for each in shape.rows] + ([shape.more_y] if shape.more else [])
    assert all(after - before >= ROW_SIZE for before, after in pairwise(places))
    assert all(shape.head_height < y < shape.height for y in places)


@given(NAMES, st.floats(20, 300))
def test_clipped_text_is_as_wide_as_allowed_at_most(text: str, width: float) -> None:
    assert text_width(clipped(text, width, 12), 12) <= width


@given(NAMES)
def test_the_pieces_of_a_name_are_the_name(name: str) -> None:
    assert "".join(words(name, ("customer", name[:5]))) == name


def test_names_break_at_capitals_underscores_and_the_names_of_other_tables() -> None:
    assert list(words("SalesOrder_header")) == ["Sales", "Order_", "header"]
    assert list(words("customeraddress", {"customer"})) == ["customer", "address"]
    assert list(words("postaladdress", {"address"})) == ["postal", "address"]
    assert list(words("shipments", {"ship"})) == ["shipments"]


def test_line_breaks_in_a_name_are_spaces() -> None:
    assert single_line("a\nb\u2028c\x00 d") == "a b c d"


def test_a_box_shows_keys_and_says_how_many_columns_it_leaves_out() -> None:
    box = DiagramBox("box", "orders", "table", (row("id", "PK"), row("note"), row("day")))
    shape = shape_of(box, with_all_columns=False)
    assert [each.name for each in shape.rows] == ["id"]
    assert shape.more == "+ 2 columns"
    assert not shape_of(box).more


def test_an_edge_ends_at_its_columns_and_beside_those_that_are_left_out() -> None:
    child = DiagramBox("c", "lines", "table", (row("id", "PK"), row("order_id", "FK"), row("day")))
    parent = DiagramBox("p", "orders", "table", (row("id", "PK"),))
    edges = (
        DiagramEdge("1", "c", ("order_id",), "p", ("id",)),
        DiagramEdge("2", "c", ("day",), "p", ("id",)),
    )
    shapes = box_shapes(Diagram("", (child, parent), edges), with_all_columns=False)
    first, second = map_graph(shapes, edges).links
    assert first.child_offset == shapes["c"].rows[1].y
    assert first.parent_offset == shapes["p"].rows[0].y
    assert second.child_offset == shapes["c"].more_y


def test_edges_between_whole_boxes_leave_the_child_at_places_of_their_own() -> None:
    diagram_boxes = tuple(DiagramBox(id_, id_, "entity") for id_ in "abc")
    edges = (DiagramEdge("1", "a", (), "b", ()), DiagramEdge("2", "a", (), "c", ()))
    shapes = box_shapes(Diagram("", diagram_boxes, edges), with_all_columns=False)
    offsets = [link.child_offset for link in map_graph(shapes, edges).links]
    assert len(set(offsets)) == 2
    assert all(0 < offset < shapes["a"].height for offset in offsets)


def test_the_path_of_a_line_turns_at_the_corners_of_its_route() -> None:
    route = (Point(0, 0), Point(40, 0), Point(40, 30), Point(40, 30), Point(90, 30))
    assert line_path(route) == "M0 0L34 0Q40 0 40 6L40 24Q40 30 46 30L90 30"


def test_crow_s_feet_are_at_both_ends_and_outside_of_the_boxes() -> None:
    """Whichever side an edge leaves from, its symbols lie between the two boxes."""
    for route in ((Point(0, 0), Point(90, 0)), (Point(90, 0), Point(0, 0))):
        path = feet_path(route, "zero-or-many", "one")
        xs = [float(x) for x in re.findall(r"[ML](-?[\d.]+) ", path)]
        assert min(xs) >= 0
        assert max(xs) <= 90
        assert {0.0, 90.0} & set(xs)


def test_a_label_is_in_the_middle_of_the_longest_horizontal_segment() -> None:
    route = (Point(0, 0), Point(20, 0), Point(20, 50), Point(120, 50))
    place, room = label_place(route)
    assert place == Point(70, 50)
    assert 0 < room < 100


def test_names_from_the_data_are_escaped_in_the_map() -> None:
    page = page_of(HOSTILE)
    assert 'data-id="&lt;script&gt;alert(1)&lt;/script&gt;"' in page
    for id_ in ("map-conceptual", "map-facts"):
        assert HOSTILE not in packed_text(page, id_)


def test_the_map_of_a_profile_has_the_source_and_its_entities() -> None:
    page = page_of("orders")
    assert re.findall(r'name="map-layer" autocomplete="off" value="(\w+)"', page) == [
        "source",
        "conceptual",
    ]
    assert 'data-layer="source"' in page
    assert 'data-layer="conceptual"' in packed_text(page, "map-conceptual")


def test_every_box_and_edge_of_each_layer_is_drawn(forged: Forged) -> None:
    """What the script knows of is what is drawn, in both drawings of a layer."""
    data = map_data(content_of(forged))
    assert [layer.id for layer in data.layers] == ["source", "conceptual", "model"]
    for layer in data.layers:
        assert layer.full is not None
        facts = data.facts[layer.id]
        for drawing in (layer.drawing, layer.full):
            assert {box.shape.box.id for box in drawing.boxes} == {box[0] for box in facts["boxes"]}
            assert {line.edge.id for line in drawing.lines} == {edge[0] for edge in facts["edges"]}


def test_a_broken_reference_is_marked_and_labelled_with_its_orphans(forged: Forged) -> None:
    page = report_page(content_of(forged))
    line = re.search(r'<g class="line broken">.*?</g>', page)
    assert line is not None
    assert 'data-child="orders" data-parent="customers"' in line[0]
    assert re.search(r">3( orphans)?</text>", line[0])


def test_each_drawing_is_in_the_page_once(forged: Forged) -> None:
    """The source as SVG, and the others packed: a reader's browser needs them later or never."""
    page = report_page(content_of(forged))
    assert re.findall(r'<svg class="map-drawing" data-layer="(\w+)"', page) == ["source"]
    for id_ in ("map-source-full", "map-conceptual", "map-conceptual-full", "map-model"):
        assert packed_text(page, id_).strip().startswith('<svg class="map-drawing"')


def test_the_tab_key_leads_to_a_single_box_of_a_drawing(forged: Forged) -> None:
    model = packed_text(report_page(content_of(forged)), "map-model")
    stops = re.findall(r'role="button" tabindex="(-?\d)"', model)
    assert stops.count("0") == 1
    assert set(stops) == {"0", "-1"}
