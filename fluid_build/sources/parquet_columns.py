"""The columns of a Parquet file as the file declares them, and what DuckDB doesn't keep of them.

https://parquet.apache.org/docs/file-format/types/logicaltypes/
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.sources.arrow_schema import duration_units
from fluid_build.sources.uri import as_pattern

MOST_DIGITS = 38
"""DuckDB reads decimals of more digits as a DOUBLE of some other number: 0.01 as 167772.16."""
_NULL_TYPE = "NullType()"
_OLD_MOMENT = "INT96"
"""The type of moments in nanoseconds that older Spark, Hive and Impala write."""
_FINER_KINDS = ("TimeType(", "TimestampType(isAdjustedToUTC=1")
"""Types that DuckDB has in microseconds only; it reads timestamps without a zone to the
nanosecond."""
_NANOSECONDS = "NANOS=Nano"
_ARROW_SCHEMA = "ARROW:schema"
_CUT = "Its values are stored in nanoseconds; what is finer than a microsecond was cut."
_WIDE = f"Its decimals may have more than {MOST_DIGITS} digits; they're read as text."


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A top-level column of a file, as the file spells it.

    ``is_null`` says that it's of Parquet's Null type, ``holds_null`` that something in it is.
    ``wide_digits`` is the precision of decimals that DuckDB misreads, and ``is_nested`` whether the
    column is a list or an object. ``notes`` say what DuckDB reads differently.
    """

    name: str
    is_null: bool
    holds_null: bool
    is_nested: bool
    wide_digits: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Element:
    """A line of a file's schema; ``below`` counts those that are nested in it."""

    name: str
    below: int
    meaning: str
    type: str
    digits: int

    @property
    def is_cut(self) -> bool:
        if self.type == _OLD_MOMENT:
            return True
        return self.meaning.startswith(_FINER_KINDS) and _NANOSECONDS in self.meaning


def columns_of(connection: duckdb.DuckDBPyConnection, place: str) -> list[ParquetColumn]:
    """Return the top-level columns of a file, in order. Raises duckdb.Error."""
    return list(_top_level(_schema(connection, place), _durations(connection, place)))


def _schema(connection: duckdb.DuckDBPyConnection, place: str) -> list[_Element]:
    """Return a file's schema, depth first."""
    rows = connection.execute(
        "SELECT name, coalesce(num_children, 0), coalesce(CAST(logical_type AS VARCHAR), ''),"
        " coalesce(type, ''), coalesce(precision, 0) FROM parquet_schema(?)",
        [as_pattern(place)],
    ).fetchall()
    return [_Element(*row) for row in rows]


def _durations(connection: duckdb.DuckDBPyConnection, place: str) -> Mapping[str, str]:
    """Return the columns of durations, by the unit of their whole numbers.

    Parquet has no such type: Arrow and pandas write numbers, and their own schema beside them.
    """
    row = connection.execute(
        "SELECT value FROM parquet_kv_metadata(?) WHERE key = ?::BLOB",
        [as_pattern(place), _ARROW_SCHEMA],
    ).fetchone()
    if row is None:
        return {}
    try:
        return duration_units(base64.b64decode(row[0]))
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
            notes.append(_CUT)
        if unit := durations.get(column.name):
            notes.append(f"It holds durations, as whole numbers of {unit}.")
        if wide > MOST_DIGITS:
            notes.append(_WIDE)
        yield ParquetColumn(
            column.name,
            is_null=column.meaning == _NULL_TYPE,
            holds_null=any(element.meaning == _NULL_TYPE for element in elements[1:]),
            is_nested=len(elements) > 1,
            wide_digits=wide if wide > MOST_DIGITS else None,
            notes=tuple(notes),
        )
        at = end
