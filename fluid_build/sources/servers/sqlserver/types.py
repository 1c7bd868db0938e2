"""How SQL Server's columns are asked for.

What the client may carry over inexactly is turned into text on the server: numbers with decimals,
times finer than microseconds, moments with an offset.
"""

from fluid_build.sources.servers.sqlserver.catalog import CatalogColumn
from fluid_build.sources.servers.staging import ColumnRequest, NeverAttached

_AS_IT_IS = (
    "bigint", "int", "smallint", "tinyint", "bit", "real", "float", "date",
    "char", "varchar", "nchar", "nvarchar", "binary", "varbinary",
)  # fmt: skip
_OBJECTS = ("geography", "geometry", "hierarchyid")
_LARGEST = "nvarchar(max)"
# Style 121 is the ODBC canonical form: yyyy-mm-dd hh:mi:ss.mmm and as many digits as there are.
_CANONICAL = 121


class SqlServerDialect(NeverAttached):
    """How SQL Server's columns are asked for."""

    def request(self, column: CatalogColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name, base = self.quote(column.name), column.base
        if base in ("decimal", "numeric"):
            declared = f"DECIMAL({column.precision},{column.scale})"
            return ColumnRequest(f"CONVERT(varchar(50), {name})", "decimal", declared)
        if base in ("money", "smallmoney"):
            # A plain conversion of money to text rounds to two digits.
            digits = 19 if base == "money" else 10
            text = f"CONVERT(varchar(50), CAST({name} AS decimal({digits}, 4)))"
            return ColumnRequest(text, "decimal", f"DECIMAL({digits},4)")
        if base in ("datetime", "smalldatetime", "datetime2"):
            return ColumnRequest(f"CONVERT(varchar(27), {name}, {_CANONICAL})", "timestamp")
        if base == "datetimeoffset":
            local = f"CONVERT(varchar(27), CAST({name} AS datetime2(7)), {_CANONICAL})"
            offset = f"RIGHT(CONVERT(varchar(34), {name}, {_CANONICAL}), 6)"
            return ColumnRequest(f"{local} + {offset}", "timestamp with offset")
        if base == "time":
            return ColumnRequest(f"CONVERT(varchar(16), {name}, {_CANONICAL})", "time")
        if base == "uniqueidentifier":
            return ColumnRequest(f"CONVERT(char(36), {name})", "uuid")
        if base in ("timestamp", "rowversion"):
            return ColumnRequest(f"CAST({name} AS varbinary(8))")
        if base == "image":
            return ColumnRequest(f"CAST({name} AS varbinary(max))")
        if base in _OBJECTS:
            return ColumnRequest(f"{name}.ToString()")
        if base == "json":
            text = f"CAST({name} AS {_LARGEST})"
            return ColumnRequest(text, "as is" if careful else "json")
        if base in _AS_IT_IS and not careful:
            return ColumnRequest(name)
        if base in ("binary", "varbinary"):
            return ColumnRequest(f"CAST({name} AS varbinary(max))")
        return ColumnRequest(f"CAST({name} AS {_LARGEST})")

    def quote(self, name: str) -> str:
        """Quote a name for the server."""
        return f"[{name.replace(']', ']]')}]"
