"""Diagrams in Mermaid show keys and counts, and no name of a source becomes syntax."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.report.diagrams.diagram import Diagram, DiagramBox, DiagramEdge, Row
from fluid_build.report.diagrams.mermaid import mermaid
from fluid_build.report.diagrams.model_diagram import model_diagram
from fluid_build.report.diagrams.pieces import pieces
from fluid_build.report.diagrams.source_diagram import source_diagram
from fluid_build.report.view import source_view
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import NAMES, profiles

LINE = re.compile(
    r"erDiagram"
    r"|    direction LR"
    r'|    t_[a-z0-9_]+\["[^"]*"\]( \{)?'
    r"|    \}"
    r'|        [a-z]\w* [A-Za-z]\w*( (PK|FK|UK)(, (FK|UK))*)?( "[^"]*")?'
    r'|    t_\w+ (\|\||\|o|\}\||\}o)--(\|\||o\||\|\{|o\{) t_\w+ : "[^"]*"',
    re.ASCII,
)
ORDERS = Diagram(
    "shop",
    (
        DiagramBox(
            "orders",
            "orders",
            "table",
            (Row("id", "BIGINT", ("PK",)), Row("customer", "DECIMAL(9,0)", ("FK",)), Row("total")),
        ),
        DiagramBox(
            "Kunden",
            "Kunden & Co.",
            "table",
            (Row("PK", "VARCHAR", ("PK",)), Row("größe", "VARCHAR", ("BK",))),
        ),
    ),
    (
        DiagramEdge(
            "e1", "orders", ("customer",), "Kunden", ("PK",), "many", "zero-or-one", label="buyer"
        ),
    ),
)


def foreign_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if not LINE.fullmatch(line)]


def test_a_diagram_has_keys_and_counts_only() -> None:
    assert mermaid(ORDERS) == (
        "erDiagram\n"
        "    direction LR\n"
        '    t_orders["orders"] {\n'
        "        bigint id PK\n"
        "        decimal customer FK\n"
        "    }\n"
        '    t_kunden["Kunden _ Co."] {\n'
        '        varchar c_pk PK "PK"\n'
        '        varchar c_grosse "größe, business key"\n'
        "    }\n"
        '    t_orders }|--o| t_kunden : "buyer"'
    )


def test_references_that_are_drawn_elsewhere_have_no_row() -> None:
    assert "customer" not in mermaid(replace(ORDERS, edges=()))


def test_an_edge_without_a_role_is_called_by_its_columns() -> None:
    unnamed = replace(ORDERS, edges=(replace(ORDERS.edges[0], label=""),))
    assert mermaid(unnamed).endswith(': "customer"')


@given(profiles())
def test_no_name_of_a_source_becomes_syntax(measured: Profile) -> None:
    model = build_model(measured)
    for diagram in (
        source_diagram(source_view(measured)),
        model_diagram(model, transform_plan(model)),
    ):
        for piece in pieces(diagram):
            assert foreign_lines(mermaid(piece.diagram)) == []


@given(st.lists(NAMES, min_size=15, max_size=15, unique=True), NAMES, st.text(max_size=90))
def test_the_largest_piece_is_small_enough_to_render(
    names: list[str], suffix: str, type_: str
) -> None:
    """Mermaid refuses a text of more than 50,000 characters."""
    columns = [f"{number} {'long' * 20} {suffix}" for number in range(20)]
    rows = tuple(Row(name, type_, ("PK", "FK", "BK", "UK")) for name in columns)
    wide = tuple(DiagramBox(name, f"{name}{'x' * 90}", "table", rows) for name in names)
    edges = tuple(
        DiagramEdge(f"e{number}", names[number % 15], tuple(columns), names[0], tuple(columns))
        for number in range(30)
    )
    (piece,) = pieces(Diagram("wide", wide, edges))
    text = mermaid(piece.diagram)
    assert len(text) < 50_000
    assert foreign_lines(text) == []
