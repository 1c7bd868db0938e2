"""The elements of a model as an expert expects them, and as they were built.

Columns are those of the source: ``Column`` has the table too, plain names are of the element's own
table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Layer = Literal["star", "vault"]
Kind = Literal["fact", "dimension", "bridge", "date", "hub", "link", "satellite", "reference"]
KINDS: Mapping[Layer, tuple[Kind, ...]] = {
    "star": ("fact", "dimension", "bridge", "date"),
    "vault": ("hub", "link", "satellite", "reference"),
}


class Column(NamedTuple):
    """A column of a source table."""

    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


def _label(table: str, columns: frozenset[Column]) -> str:
    """Return how a line about an element begins."""
    if columns:
        return f"{table} ({', '.join(sorted(column.name for column in columns))})"
    return table or "the calendar"


@dataclass(frozen=True)
class BuiltElement:
    """An element of a model that was built.

    ``kind`` is one of ``KINDS``, or ``keyless``, which no expert draws. ``columns`` are those that
    a derived dimension is made of: one that shares a table with a fact. ``type`` is that of a fact,
    link or satellite, ``grain`` the columns that identify a row of a fact or bridge, ``key`` a
    hub's business key. ``parents`` are the tables whose hubs a link connects or a satellite
    describes, once for each role.
    """

    table: str
    kind: str
    columns: frozenset[Column] = frozenset()
    type: str = ""
    grain: frozenset[str] = frozenset()
    date: Column | None = None
    measures: Mapping[Column, str] = field(default_factory=dict)
    key: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return _label(self.table, self.columns)


@dataclass(frozen=True)
class ExpectedMeasure:
    """A column that an expert measures; an ``optional`` one counts neither way."""

    column: Column
    additivities: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True)
class ExpectedElement:
    """An element that an expert draws, with the alternatives that experts legitimately differ on.

    ``kinds`` may have ``collapsed`` or ``left_out`` among them: then it's right, too, to build
    nothing of the table. The first alternative is the one that counts where none was built. An
    empty tuple of alternatives isn't scored.
    """

    table: str
    kinds: tuple[str, ...]
    why: str
    columns: frozenset[Column] = frozenset()
    types: tuple[str, ...] = ()
    grains: tuple[frozenset[str], ...] = ()
    dates: tuple[Column | None, ...] = ()
    measures: tuple[ExpectedMeasure, ...] = ()
    keys: tuple[frozenset[str], ...] = ()
    parents: tuple[tuple[str, ...], ...] = ()

    @property
    def label(self) -> str:
        return _label(self.table, self.columns)

    @property
    def may_be_absent(self) -> bool:
        return bool({"collapsed", "left_out"} & set(self.kinds))


@dataclass(frozen=True)
class ExpectedModel:
    """What experts draw for a database, and the literature that says so."""

    database: str
    literature: tuple[str, ...]
    star: tuple[ExpectedElement, ...]
    vault: tuple[ExpectedElement, ...]

    def layer(self, layer: Layer) -> tuple[ExpectedElement, ...]:
        return self.star if layer == "star" else self.vault
