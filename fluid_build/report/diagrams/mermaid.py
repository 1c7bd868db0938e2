"""Diagrams in Mermaid, with the rows that are part of keys and references only.

Syntax: https://mermaid.js.org/syntax/entityRelationshipDiagram.html. Names are a stranger's text:
what could end a label is replaced. Renderers refuse a diagram of more than 500 edges or 50,000
characters, so names and rows are bounded.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from fluid_build.modeling.identifiers import identifier, identifiers
from fluid_build.report.diagrams.diagram import Count, Diagram, DiagramBox, DiagramEdge, Row
from fluid_build.text import clip

MOST_ROWS = 16
"""Rows of a box. A box with more keys and references is longer than a screen."""
_LONGEST_NAME = 60
_LONGEST_LABEL = 40
_LONGEST_TYPE = 20
_CHILD_ENDS: Mapping[Count, str] = {
    "one": "||",
    "zero-or-one": "|o",
    "many": "}|",
    "zero-or-many": "}o",
}
_PARENT_ENDS: Mapping[Count, str] = {
    "one": "||",
    "zero-or-one": "o|",
    "many": "|{",
    "zero-or-many": "o{",
}
_MARKS = ("PK", "FK", "UK")
"""The marks that Mermaid knows, which can't be names; a business key is a comment."""
_SAFE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_UNSAFE = re.compile(r"[^\w .,:()/+-]")


def mermaid(diagram: Diagram) -> str:
    """Return a diagram as the text of an entity-relationship diagram."""
    ids = {id_: f"t_{name}" for id_, name in identifiers(box.id for box in diagram.boxes).items()}
    ends: dict[str, set[str]] = defaultdict(set)
    for edge in diagram.edges:
        ends[edge.child].update(edge.child_rows)
        ends[edge.parent].update(edge.parent_rows)
    # Children left, parents right: most boxes of a layer are alike, and a page is taller than wide.
    lines = ["erDiagram", "    direction LR"]
    for box in diagram.boxes:
        lines += _box_lines(box, ids[box.id], ends[box.id])
    lines += [_edge_line(edge, ids) for edge in diagram.edges]
    return "\n".join(lines)


def _box_lines(box: DiagramBox, id_: str, ends: Collection[str]) -> Iterator[str]:
    """Yield a box with its own keys and the rows that edges end at."""
    rows = [row for row in box.rows if row.name in ends or {"PK", "BK", "UK"} & {*row.marks}]
    opening = f'    {id_}["{_label(box.name, _LONGEST_NAME)}"]'
    if not rows:
        yield opening
        return
    names = identifiers(row.name for row in rows)
    yield f"{opening} {{"
    yield from (_row_line(row, names[row.name]) for row in rows[:MOST_ROWS])
    yield "    }"


def _row_line(row: Row, plain_name: str) -> str:
    is_safe = _SAFE_NAME.fullmatch(row.name) and row.name.upper() not in _MARKS
    comments = () if is_safe else (_label(row.name, _LONGEST_LABEL),)
    if "BK" in row.marks:
        comments = (*comments, "business key")
    parts = (
        identifier(row.type.partition("(")[0])[:_LONGEST_TYPE],
        row.name if is_safe else f"c_{plain_name}",
        ", ".join(mark for mark in row.marks if mark in _MARKS),
        f'"{", ".join(comments)}"' if comments else "",
    )
    return f"        {' '.join(filter(None, parts))}"


def _edge_line(edge: DiagramEdge, ids: Mapping[str, str]) -> str:
    line = f"{_CHILD_ENDS[edge.child_count]}--{_PARENT_ENDS[edge.parent_count]}"
    label = _label(edge.label or ", ".join(edge.child_rows), _LONGEST_LABEL)
    return f'    {ids[edge.child]} {line} {ids[edge.parent]} : "{label}"'


def _label(name: str, longest: int) -> str:
    """Return a name as it may be written between quotation marks in a diagram."""
    safe = _UNSAFE.sub("_", " ".join(name.split())) or "_"
    return clip(safe, longest)
