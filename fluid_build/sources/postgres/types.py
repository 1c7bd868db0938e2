"""How a PostgreSQL column is asked for, so that DuckDB gets every value exactly.

The scanner reads a numeric without precision as DOUBLE, NaN in a numeric as 0, and a domain,
range or network address as text or not at all. What it does not carry over exactly is turned into
text on the server, and settled here afterwards.
"""

import re

from fluid_build.sources.postgres.catalog import CatalogColumn
from fluid_build.sources.server_staging import ColumnRequest
from fluid_build.sources.sql import quote

_SCALARS = (
    "int2", "int4", "int8", "bool", "float4", "float8", "text", "varchar", "bpchar", "uuid",
    "date", "timestamp", "timestamptz", "time", "timetz", "interval", "bytea",
)  # fmt: skip
_ELEMENTS = (
    "int2", "int4", "int8", "bool", "float4", "float8", "text", "varchar", "uuid", "date",
    "timestamp", "timestamptz",
)  # fmt: skip
# Their ranges are wider in PostgreSQL than in DuckDB: a time may be 24:00, for one.
_SURPRISING = ("interval", "time", "timetz")
_MAX_DIGITS = 38
_MODIFIER = re.compile(r"\(\d+(,\d+)?\)")
# As PostgreSQL spells them: a domain over one of them has a name of its own.
_PLAIN = (
    "smallint", "integer", "bigint", "boolean", "real", "double precision", "text",
    "character varying", "character", "uuid", "date", "timestamp without time zone",
    "timestamp with time zone", "time without time zone", "time with time zone", "interval",
    "bytea",
)  # fmt: skip


class PostgresDialect:
    """How PostgreSQL's columns are asked for."""

    def request(self, column: CatalogColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name = quote(column.name)
        if column.base == "numeric":
            return ColumnRequest(f"{name}::text", "decimal", declared_decimal(column))
        if column.base == "money":
            return ColumnRequest(f"{name}::pg_catalog.numeric::text", "decimal")
        if column.base in ("json", "jsonb"):
            return ColumnRequest(f"{name}::text", "as is" if careful else "json")
        if column.base in _SCALARS and not (careful and column.base in _SURPRISING):
            return ColumnRequest(f"{name}::pg_catalog.{column.base}")
        element = column.base.removeprefix("_")
        if column.category == "A" and element in _ELEMENTS and not careful:
            return ColumnRequest(f"{name}::pg_catalog.{element}[]")
        return ColumnRequest(f"{name}::text")

    def reads_plainly(
        self, column: CatalogColumn, column_request: ColumnRequest, type_: str
    ) -> bool:
        """Say whether DuckDB reads a column of an attached database as it was read by the request.

        A numeric is read by its declared precision; only a NaN in it would be bent, and then
        ``type_`` is another one.
        """
        words = _MODIFIER.sub("", column.declared_type)
        if words == "numeric":
            return type_ == declared_decimal(column)
        if words in ("json", "jsonb"):
            return column_request.settle == "json"
        return words.removesuffix("[]") in _PLAIN and not column_request.expression.endswith(
            "::text"
        )

    def quote(self, name: str) -> str:
        """Quote a name for the server."""
        return quote(name)


def declared_decimal(column: CatalogColumn) -> str | None:
    """DuckDB's type for a numeric(p,s); None without a precision or with one beyond DuckDB's.

    The modifier packs both (src/backend/utils/adt/numeric.c): ((precision << 16) | scale) + 4,
    the scale being an 11-bit signed number since version 15.
    """
    if column.base != "numeric" or column.modifier < 4:
        return None
    packed = column.modifier - 4
    precision, scale = packed >> 16, ((packed & 0x7FF) ^ 1024) - 1024
    if 0 <= scale <= precision <= _MAX_DIGITS:
        return f"DECIMAL({precision},{scale})"
    return None
