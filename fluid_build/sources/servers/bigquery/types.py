"""How BigQuery's columns are asked for, so that DuckDB gets every value exactly."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fluid_build.sources.servers.bigquery.catalog import (
    BigQueryColumn,
    BigQueryField,
    described_field,
)
from fluid_build.sources.servers.staging import ColumnRequest, NeverAttached

if TYPE_CHECKING:
    import pyarrow as pa
    from google.cloud.bigquery import SchemaField

_SCALARS = (
    "STRING", "BYTES", "INT64", "FLOAT64", "BOOL", "DATE", "DATETIME", "TIMESTAMP", "TIME",
    "NUMERIC",
)  # fmt: skip
_TEMPORAL = ("DATE", "DATETIME", "TIMESTAMP", "TIME")
_MAX_DIGITS = 38


class BigQueryDialect(NeverAttached):
    """How BigQuery's columns are asked for."""

    def request(self, column: BigQueryColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name, type_ = self.quote(column.name), column.field.type
        if column.field.is_repeated or type_ == "STRUCT":
            if _arrives_whole(column.field) and not careful:
                return ColumnRequest(name)
            return ColumnRequest(f"TO_JSON_STRING({name})", "as is" if careful else "json")
        if type_ == "JSON":
            return ColumnRequest(f"TO_JSON_STRING({name})", "as is" if careful else "json")
        if type_ == "BIGNUMERIC":
            return ColumnRequest(f"CAST({name} AS STRING)", "decimal", _decimal(column.field))
        if type_ == "GEOGRAPHY":
            return ColumnRequest(f"ST_ASTEXT({name})")
        if type_ in _SCALARS and not (careful and type_ in _TEMPORAL):
            return ColumnRequest(name)
        return ColumnRequest(f"CAST({name} AS STRING)")

    def quote(self, name: str) -> str:
        r"""Quote a name for the server, which takes ``\`` for an escape inside backticks."""
        escaped = name.replace("\\", "\\\\").replace("`", "\\`")
        return f"`{escaped}`"


def _arrives_whole(field: BigQueryField) -> bool:
    """Whether Arrow and DuckDB both have a type for everything inside of a nested column."""
    if field.type == "STRUCT":
        return bool(field.fields) and all(map(_arrives_whole, field.fields))
    return field.type in _SCALARS


def _decimal(field: BigQueryField) -> str | None:
    if field.precision and field.precision <= _MAX_DIGITS:
        return f"DECIMAL({field.precision},{field.scale})"
    return None


def arrow_schema(fields: "Sequence[SchemaField]") -> "pa.Schema":
    """Return the types of a result's columns as BigQuery sends them, rows or none."""
    import pyarrow as pa

    return pa.schema([(field.name, _arrow_type(described_field(field))) for field in fields])


def _arrow_type(field: BigQueryField) -> "pa.DataType":
    import pyarrow as pa

    if field.type == "STRUCT":
        type_ = pa.struct([(inner.name, _arrow_type(inner)) for inner in field.fields])
    else:
        type_ = {
            "BYTES": pa.binary(),
            "INT64": pa.int64(),
            "FLOAT64": pa.float64(),
            "BOOL": pa.bool_(),
            "DATE": pa.date32(),
            "DATETIME": pa.timestamp("us"),
            "TIMESTAMP": pa.timestamp("us", "UTC"),
            "TIME": pa.time64("us"),
            "NUMERIC": pa.decimal128(field.precision or 38, field.scale if field.precision else 9),
        }.get(field.type, pa.string())
    return pa.list_(type_) if field.is_repeated else type_
