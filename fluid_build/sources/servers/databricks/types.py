"""How the columns of Databricks are asked for, so that DuckDB gets every value exactly."""

from fluid_build.sources.servers.databricks.catalog import DatabricksColumn, quoted
from fluid_build.sources.servers.staging import ColumnRequest, NeverAttached

_PLAIN = (
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "string",
    "varchar", "char", "binary", "date", "timestamp", "timestamp_ntz",
)  # fmt: skip
_TEMPORAL = ("date", "timestamp", "timestamp_ntz")
_JSON_OPTIONS = (
    "'ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX',"
    " 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'"
)
"""Without them, fields that are null are left out, and moments end with their milliseconds."""
_NESTED = ("array", "map", "struct")


class DatabricksDialect(NeverAttached):
    """How the columns of Databricks are asked for."""

    def request(self, column: DatabricksColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name = quoted(column.name)
        base = column.declared_type.lower().partition("(")[0].partition("<")[0].strip()
        if base in _PLAIN and not (careful and base in _TEMPORAL):
            return ColumnRequest(name)
        if base in _NESTED:
            expression = f"to_json({name}, map({_JSON_OPTIONS}))"
            return ColumnRequest(expression, "as is" if careful else "json")
        if base == "variant":
            return ColumnRequest(f"to_json({name})", "as is" if careful else "json")
        if base in ("geography", "geometry"):
            return ColumnRequest(f"st_asewkt({name})")
        return ColumnRequest(f"CAST({name} AS STRING)")

    def quote(self, name: str) -> str:
        """Quote a name for the server."""
        return quoted(name)
