"""How Snowflake's columns are asked for, and the Arrow types that its batches are given.

The connector chooses the width of a number and the unit of a time for each batch by its values, so
every batch is cast to what the column declares. A cast that would change a value fails, and the
table is read again with text in place of the types that surprise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.sources.servers.snowflake.catalog import SnowflakeColumn
from fluid_build.sources.servers.staging import ColumnRequest, NeverAttached
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.timestamps import Moment

if TYPE_CHECKING:
    import pyarrow as pa
    from snowflake.connector.cursor import ResultMetadata

_NESTED = ("VARIANT", "OBJECT", "ARRAY", "MAP")
_PLAIN = ("NUMBER", "TEXT", "FLOAT", "BOOLEAN", "DATE", "BINARY")
# Their values may have nanoseconds, which the common types of DuckDB lack.
_MOMENTS: Mapping[str, tuple[Moment, str]] = {
    "TIME": ("time", "HH24:MI:SS.FF9"),
    "TIMESTAMP_NTZ": ("timestamp", "YYYY-MM-DD HH24:MI:SS.FF9"),
    "TIMESTAMP_LTZ": ("timestamp with offset", "YYYY-MM-DD HH24:MI:SS.FF9TZH:TZM"),
    "TIMESTAMP_TZ": ("timestamp with offset", "YYYY-MM-DD HH24:MI:SS.FF9TZH:TZM"),
}
_FITS_BIGINT = 18


@dataclass(frozen=True, slots=True)
class SnowflakeDialect(NeverAttached):
    """How Snowflake's columns are asked for."""

    def request(self, column: SnowflakeColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name = quote(column.name)
        if column.data_type == "NUMBER" and not column.scale and column.precision > _FITS_BIGINT:
            return ColumnRequest(name, "whole")
        if column.data_type in _PLAIN:
            return ColumnRequest(name)
        if column.data_type in _MOMENTS:
            moment, form = _MOMENTS[column.data_type]
            # Arrow would have the moment of each value, and lose the offset it was written with.
            if careful or column.data_type == "TIMESTAMP_TZ":
                return ColumnRequest(f"TO_VARCHAR({name}, '{form}')", moment)
            return ColumnRequest(name)
        if column.data_type.startswith(_NESTED):
            return ColumnRequest(f"TO_JSON({name})", "as is" if careful else "json")
        if column.data_type == "GEOGRAPHY":
            return ColumnRequest(f"ST_ASWKT({name})")
        if column.data_type == "GEOMETRY":
            return ColumnRequest(f"ST_ASEWKT({name})")
        return ColumnRequest(f"TO_VARCHAR({name})")


def arrow_schema(columns: "list[ResultMetadata]") -> "pa.Schema":
    """Return the types of a result's columns, the same for each of its batches."""
    import pyarrow as pa

    return pa.schema([(column.name, _arrow_type(column)) for column in columns])


def _arrow_type(column: "ResultMetadata") -> "pa.DataType":
    import pyarrow as pa
    from snowflake.connector.constants import FIELD_ID_TO_NAME

    name = FIELD_ID_TO_NAME[column.type_code]
    if name == "FIXED":
        precision, scale = column.precision or 38, column.scale or 0
        is_small = not scale and precision <= _FITS_BIGINT
        return pa.int64() if is_small else pa.decimal128(precision, scale)
    types = {
        "REAL": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "DATE": pa.date32(),
        "BINARY": pa.binary(),
        "TIME": pa.time64("us"),
        "TIMESTAMP": pa.timestamp("us"),
        "TIMESTAMP_NTZ": pa.timestamp("us"),
        "TIMESTAMP_LTZ": pa.timestamp("us", "UTC"),
        "TIMESTAMP_TZ": pa.timestamp("us", "UTC"),
    }
    return types.get(name, pa.string())
