"""How a PostgreSQL column is asked for, so that DuckDB gets every value exactly.

The scanner reads a numeric without precision as DOUBLE, NaN in a numeric as 0, a timestamp beyond
DuckDB's as one of another age, and a domain, range or network address as text or not at all. What
it does not carry over exactly is turned into text on the server, and settled here afterwards.
"""

import re
from collections.abc import Sequence

from fluid_build.sources.servers.postgres.catalog import CatalogColumn
from fluid_build.sources.servers.staging import ColumnRequest, Doubt
from fluid_build.sources.sql import quote

_SCALARS = (
    "int2", "int4", "int8", "bool", "float4", "float8", "text", "varchar", "bpchar", "uuid",
    "date", "timestamp", "timestamptz", "time", "timetz", "interval", "bytea",
)  # fmt: skip
_ELEMENTS = (
    "int2", "int4", "int8", "bool", "float4", "float8", "text", "varchar", "uuid", "date",
    "timestamp", "timestamptz",
)  # fmt: skip
_MOMENTS = ("timestamp", "timestamptz")
_SURPRISING = (*_MOMENTS, "interval", "time", "timetz")
"""Their ranges are wider in PostgreSQL than in DuckDB: a time may be 24:00, for one."""
_LAST = "294247-01-10 04:00:54.775806"
"""The last timestamp of DuckDB's; the next microseconds are read as infinity, or wrap."""
_FIRST = "4714-11-24 (BC) 00:00:00"
"""The first one of PostgreSQL's: what is earlier in DuckDB has wrapped."""
_ENDLESS_YEARS = 178956970
"""Of what DuckDB reads an endless interval as, which PostgreSQL has since version 17."""
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
        if column.base == "inet":
            # A cast would add a mask to an address without one.
            return ColumnRequest(f"pg_catalog.inet_out({name})::text")
        element = column.base.removeprefix("_")
        if column.base in _SCALARS and not (careful and column.base in _SURPRISING):
            return ColumnRequest(f"{name}::pg_catalog.{column.base}", unfit=_unfit(column, name))
        if column.category == "A" and element in _ELEMENTS and not careful:
            return _array_request(element, name)
        return ColumnRequest(f"{name}::text")

    def attaches(self, names: Sequence[str], *, hidden: Sequence[str]) -> bool:  # noqa: ARG002
        """Say whether DuckDB can read a table of an attached database at all.

        It asks for where rows are, which nobody may who may read some columns only.
        """
        return not hidden

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


def _unfit(column: CatalogColumn, name: str) -> Doubt | None:
    if column.base in _MOMENTS:
        return Doubt(
            _is_too_late(column.base, name),
            "after the year 294246, where DuckDB's timestamps end",
            f"{{0}} < '{_FIRST}'::TIMESTAMP OR isinf({{0}})",
        )
    if column.base == "interval":
        return Doubt(
            f"NOT pg_catalog.isfinite({name}::pg_catalog.interval)",
            "without an end, which DuckDB's intervals always have",
            f"abs(datepart('year', {{0}})) = {_ENDLESS_YEARS}",
        )
    return None


def _is_too_late(base: str, value: str) -> str:
    moment = f"{value}::pg_catalog.timestamp"
    if base == "timestamptz":
        moment = f"pg_catalog.timezone('UTC', {value}::pg_catalog.timestamptz)"
    return f"({moment} > '{_LAST}' AND {moment} <> 'infinity')"


def _array_request(element: str, name: str) -> ColumnRequest:
    """Ask for NULL instead of an array that DuckDB has no list for.

    Its lists are of one dimension, and count from 1.
    """
    fits = f"coalesce(array_ndims({name}) = 1 AND array_lower({name}, 1) = 1, true)"
    if element in _MOMENTS:
        late = _is_too_late(element, "item")
        fits += f" AND NOT EXISTS (SELECT 1 FROM unnest({name}) AS items(item) WHERE {late})"
    return ColumnRequest(
        f"CASE WHEN {fits} THEN {name}::pg_catalog.{element}[] END",
        unfit=Doubt(
            f"{name} IS NOT NULL AND NOT ({fits})",
            "of several dimensions, with other bounds than from 1, or with timestamps after the"
            " year 294246"
            if element in _MOMENTS
            else "of several dimensions or with other bounds than from 1",
        ),
    )


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
