"""A diagram before it is drawn: boxes with rows, and edges between rows.

The map of the page and the diagrams of ``MODEL.md`` draw the same ones.
"""

from dataclasses import dataclass
from typing import Literal

BoxKind = Literal[
    "table",
    "entity",
    "hub",
    "link",
    "satellite",
    "reference",
    "fact",
    "dimension",
    "bridge",
    "business",
]
Mark = Literal["PK", "FK", "BK", "UK"]
Count = Literal["one", "zero-or-one", "many", "zero-or-many"]
EdgeState = Literal["sound", "broken", "implied", "question"]


@dataclass(frozen=True, slots=True)
class Row:
    """A column in a box.

    ``marks`` say what it's part of: a primary, foreign, business or other unique key.
    """

    name: str
    type: str = ""
    marks: tuple[Mark, ...] = ()

    @property
    def is_key(self) -> bool:
        """Whether the column is part of a key or a reference: drawn always, and first."""
        return bool(self.marks)


@dataclass(frozen=True, slots=True)
class DiagramBox:
    """A table, an entity or a relation of the model.

    ``id`` is unique in the diagram, ``name`` what readers see. ``rows`` are all columns, keys and
    references first. ``group`` is its schema or source, "" where there is only one. ``tables`` are
    the source tables that it's about, ``remark`` a short figure such as "1,204 rows".
    """

    id: str
    name: str
    kind: BoxKind
    rows: tuple[Row, ...] = ()
    group: str = ""
    tables: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class DiagramEdge:
    """A reference from rows of a child to rows of its parent, both by the names of the rows.

    Without rows, it's between the boxes as a whole: in the conceptual layer, columns that only
    refer aren't drawn. ``label`` is what readers call it, such as a role; "" where the rows say
    enough.

    ``child_count`` says how many children a parent has, ``parent_count`` how many parents a child
    has. ``broken`` means that some rows have no parent: ``orphans`` of them. A ``question`` is a
    reference that isn't believed. ``text`` says the same in one sentence.
    """

    id: str
    child: str
    child_rows: tuple[str, ...]
    parent: str
    parent_rows: tuple[str, ...]
    child_count: Count = "zero-or-many"
    parent_count: Count = "one"
    state: EdgeState = "sound"
    orphans: int = 0
    label: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes, and the edges between them; ``title`` says what they show."""

    title: str
    boxes: tuple[DiagramBox, ...]
    edges: tuple[DiagramEdge, ...] = ()
