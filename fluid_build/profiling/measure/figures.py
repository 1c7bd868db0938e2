"""The figures of columns and tables while they are measured."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Literal, TypeAlias
from uuid import UUID

from fluid_build.profiling.profile import HistogramBin, Quantiles
from fluid_build.sources.base import Column, Table

Kind = Literal[
    "integer", "decimal", "float", "text", "boolean", "temporal", "uuid", "binary", "nested"
]
Value: TypeAlias = (
    int | float | str | bool | bytes | Decimal | date | datetime | time | UUID | object | None
)

_INTEGERS = re.compile(r"^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$|^BIGNUM$")
_TEMPORAL = re.compile(r"^(DATE|TIME|TIMESTAMP)")
_READABLE_TYPES = frozenset({"INTERVAL", "BIT"})
"""Types measured like nested and binary ones, but whose values hide nothing inside."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The mean, quantiles and histogram of a column, as text.

    ``sample`` is the number of rows that were read, None for all. ``measured_type`` is the type as
    which values were read, None for the column's own.
    """

    mean: str
    quantiles: Quantiles
    histogram: tuple[HistogramBin, ...]
    sample: int | None = None
    measured_type: str | None = None

    def values(self) -> Iterator[str]:
        """Yield the values that quantiles and histogram name."""
        q = self.quantiles
        yield from (q.p05, q.p25, q.p50, q.p75, q.p95)
        yield from (self.histogram[0].low, *(each.high for each in self.histogram))


@dataclass(slots=True)
class ColumnStats:
    """The figures of one column.

    ``low`` and ``high`` are Python values of the column's own type; dates and times are text.
    ``values`` are up to a hundred values as text with their counts, most frequent first, over
    ``sample_rows`` rows. ``codes`` numbers the sample's values row by row if the column may be
    part of a composite key. ``documents`` are some values of a nested column, as JSON.
    ``bounds`` are the least and greatest whole number, also of text that holds whole numbers.
    """

    column: Column
    kind: Kind
    rows: int = 0
    nulls: int = 0
    distinct: int = 0
    distinct_exact: bool = True
    low: Value = None
    high: Value = None
    min_length: int | None = None
    max_length: int | None = None
    avg_length: float | None = None
    values: list[tuple[str, int]] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    sample_rows: int = 0
    codes: list[int] = field(default_factory=list)
    is_integral: bool = False
    measured_type: str | None = None
    reversible: bool = False
    bounds: tuple[int, int] | None = None
    distribution: Distribution | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The column's name in the source."""
        return self.column.name

    @property
    def present(self) -> int:
        """Rows that are not null."""
        return self.rows - self.nulls

    @property
    def may_show_values(self) -> bool:
        """Whether single values may be shown if the column isn't personal."""
        return not hides_values(self.column.type)

    @property
    def is_unique(self) -> bool:
        """Whether no value repeats, known exactly; nulls aside."""
        return self.distinct_exact and self.present > 0 and self.distinct == self.present

    @property
    def is_key(self) -> bool:
        """Whether the column alone identifies a row."""
        return self.is_unique and self.nulls == 0

    def set_bounds(self, low: Value, high: Value) -> None:
        """Set the least and greatest value, also as whole numbers if all values are whole."""
        self.low, self.high = low, high
        if (
            self.is_integral
            and isinstance(low, int | float | Decimal)
            and isinstance(high, int | float | Decimal)
        ):
            self.bounds = (int(low), int(high))


@dataclass(slots=True)
class TableStats:
    """The figures of one table; ``is_complete`` says that the sample holds every row."""

    table: Table
    rows: int
    columns: list[ColumnStats]
    is_complete: bool

    def column(self, name: str) -> ColumnStats:
        """Return the figures of the column of that name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def hides_values(type_name: str) -> bool:
    """Return whether values of a DuckDB type are never shown.

    Nested and binary values aren't: nothing checks what is inside of them one by one.
    """
    return kind_of(type_name) in {"nested", "binary"} and type_name not in _READABLE_TYPES


def kind_of(type_name: str) -> Kind:
    """Return the kind of values that a DuckDB type holds."""
    name = type_name.upper()
    if name.endswith("]") or name.startswith(("STRUCT", "MAP", "UNION", "VARIANT")):
        return "nested"
    if _INTEGERS.match(name):
        return "integer"
    if name.startswith("DECIMAL"):
        return "integer" if name.endswith(",0)") else "decimal"
    if name in {"FLOAT", "DOUBLE", "REAL"}:
        return "float"
    if name == "BOOLEAN":
        return "boolean"
    if _TEMPORAL.match(name):
        return "temporal"
    if name == "UUID":
        return "uuid"
    if name in {"BLOB", "BIT", "GEOMETRY"}:
        return "binary"
    if name in {"INTERVAL", "JSON"}:
        return "nested"
    return "text"
