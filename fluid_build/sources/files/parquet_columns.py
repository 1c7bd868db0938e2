"""The columns of a Parquet file as the file declares them, and what DuckDB doesn't keep of them.

https://parquet.apache.org/docs/file-format/types/logicaltypes/
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.sources.files.arrow_schema import duration_units
from fluid_build.sources.files.parquet_footers import Footer
from fluid_build.sources.text_values.nanoseconds import CUT, whole_durations

MOST_DIGITS = 38
"""DuckDB reads decimals of more digits as a DOUBLE of some other number: 0.01 as 167772.16."""
_NULL_TYPE = "NullType()"
_OLD_MOMENT = "INT96"
"""The type of moments in nanoseconds that older Spark, Hive and Impala write."""
_FINER_KINDS = ("TimeType(", "TimestampType(isAdjustedToUTC=1")
"""Types that DuckDB has in microseconds only; it reads timestamps without a zone to the
nanosecond."""
_NANOSECONDS = "NANOS=Nano"
_WIDE = f"Its decimals may have more than {MOST_DIGITS} digits; they're read as text."


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A top-level column of a file, as the file spells it.

    ``is_null`` says that it's of Parquet's Null type, ``holds_null`` that something in it is.
    ``wide_digits`` is the precision of decimals that DuckDB misreads, and ``is_nested`` whether the
    column is a list or an object. ``leaves`` are the values in it, by their path, and DuckDB's type
    of each; ``duration`` is the unit of its durations. ``notes`` say what DuckDB reads differently.
    """

    name: str
    is_null: bool
    holds_null: bool
    is_nested: bool
    wide_digits: int | None
    leaves: tuple[tuple[tuple[str, ...], str], ...]
    duration: str | None
    notes: tuple[str, ...]

    @property
    def type(self) -> str:
        """DuckDB's type of a column that isn't nested; text where its decimals are too wide."""
        return "VARCHAR" if self.wide_digits else self.leaves[0][1]


@dataclass(frozen=True, slots=True)
class _Element:
    """A line of a file's schema; ``below`` counts those that are nested in it."""

    name: str
    below: int
    meaning: str
    type: str
    digits: int
    is_repeated: bool
    read_as: str

    @property
    def is_cut(self) -> bool:
        if self.type == _OLD_MOMENT:
            return True
        return self.meaning.startswith(_FINER_KINDS) and _NANOSECONDS in self.meaning


def columns_of(footer: Footer) -> list[ParquetColumn]:
    """Return the top-level columns of a file, in order."""
    schema = [_Element(*row) for row in footer.schema]
    return list(_top_level(schema, _durations(footer.arrow_schema)))


def _durations(arrow_schema: bytes | None) -> Mapping[str, str]:
    """Return the columns of durations, by the unit of their whole numbers.

    Parquet has no such type: Arrow and pandas write numbers, and their own schema beside them.
    """
    if arrow_schema is None:
        return {}
    try:
        return duration_units(base64.b64decode(arrow_schema))
    except binascii.Error:
        return {}


def _top_level(schema: Sequence[_Element], durations: Mapping[str, str]) -> Iterator[ParquetColumn]:
    at = 1
    while at < len(schema):
        column, below = schema[at], schema[at].below
        end = at + 1
        while below and end < len(schema):
            below += schema[end].below - 1
            end += 1
        elements = schema[at:end]
        wide = max(element.digits for element in elements)
        notes = []
        if any(element.is_cut for element in elements):
            notes.append(CUT)
        unit = durations.get(column.name)
        if unit:
            notes.append(whole_durations(unit))
        if wide > MOST_DIGITS:
            notes.append(_WIDE)
        yield ParquetColumn(
            column.name,
            is_null=column.meaning == _NULL_TYPE,
            holds_null=any(element.meaning == _NULL_TYPE for element in elements[1:]),
            is_nested=len(elements) > 1,
            wide_digits=wide if wide > MOST_DIGITS else None,
            leaves=tuple(_leaves(elements)),
            duration=unit,
            notes=tuple(notes),
        )
        at = end


def _leaves(elements: Sequence[_Element]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and type of each value in a column, whose own element is the first.

    Writers name the items of lists and maps as they like, so that these are numbered.
    """
    open_: list[list[int]] = []  # For each group: how many children are to come, and have come.
    path: list[str] = []
    above: list[_Element] = []
    for element in elements:
        if open_:
            left, seen = open_[-1]
            open_[-1] = [left - 1, seen + 1]
            is_item = element.is_repeated or above[-1].is_repeated
            path.append(f"{seen}" if is_item else element.name.lower())
        if element.below:
            open_.append([element.below, 0])
            above.append(element)
            continue
        yield tuple(path), element.read_as
        del path[-1:]
        while open_ and not open_[-1][0]:
            open_.pop()
            above.pop()
            del path[-1:]
