"""How a column of MySQL or MariaDB is asked for, so that DuckDB gets every value exactly.

The scanner reads a decimal of more than 38 digits as DOUBLE, text of a binary collation as BLOB,
and stops at a date without a day. It reads a zero date as NULL, which is counted on the server.
"""

from collections.abc import Sequence

from fluid_build.sources.servers.mysql.catalog import CatalogColumn
from fluid_build.sources.servers.staging import ColumnRequest, Doubt

_MAX_DIGITS = 38
_NUMBERS = (
    "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "float", "double", "year",
)  # fmt: skip
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_DATES = ("date", "datetime", "timestamp")
# MariaDB calls the last of them geometrycollection, whose bytes the scanner takes for text.
_PLAIN_SHAPES = (
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
    "geomcollection",
)  # fmt: skip
_ZERO_DATE = "'0000-00-00%'"


class MySQLDialect:
    """How MySQL's columns are asked for."""

    def request(self, column: CatalogColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name = self.quote(column.name)
        text = f"CAST({name} AS CHAR)"
        match column.base:
            case "tinyint" if column.declared_type == "tinyint(1)" and not column.is_key:
                return ColumnRequest(name, "boolean or number")
            case "decimal":
                return _decimal_request(column, name)
            case "date" | "datetime" | "timestamp":
                return _date_request(column, name, careful=careful)
            case "time":
                return ColumnRequest(name, "time or duration")
            case "json":
                return ColumnRequest(text, "as is" if careful else "json")
            case "uuid":
                return ColumnRequest(text, "uuid")
            case "inet4" | "inet6":
                return ColumnRequest(text)
            case "bit" if column.declared_type != "bit(1)":
                return ColumnRequest(f"CAST({name} AS UNSIGNED)")
            case base if base in _TEXTS:
                # The scanner takes text of a binary collation for bytes.
                return ColumnRequest(
                    f"CONVERT({name} USING utf8mb4)" if column.is_binary_text else name
                )
        return ColumnRequest(name)

    def attaches(self, names: Sequence[str], *, hidden: Sequence[str]) -> bool:  # noqa: ARG002
        """Say whether DuckDB can read a table of an attached database at all.

        Its scanner doesn't double the backticks of a name.
        """
        return not any("`" in name for name in names)

    def reads_plainly(
        self, column: CatalogColumn, column_request: ColumnRequest, type_: str
    ) -> bool:
        """Say whether DuckDB reads a column of an attached database as it was read by the request.

        ``type_`` is the type that the request's values were given.
        """
        base = column.base
        if base == "decimal":
            return column.precision <= _MAX_DIGITS
        if base in _DATES:
            return type_ != "VARCHAR" and column_request.settle == "as is"
        if base == "bit":
            return column.declared_type == "bit(1)"
        return base in (*_NUMBERS, *_TEXTS, *_BYTES, *_PLAIN_SHAPES, "time", "uuid") or (
            base == "json" and type_ == "JSON"
        )

    def quote(self, name: str) -> str:
        """Quote a name for the server."""
        return "`" + name.replace("`", "``") + "`"


def _decimal_request(column: CatalogColumn, name: str) -> ColumnRequest:
    if column.precision > _MAX_DIGITS:
        return ColumnRequest(f"CAST({name} AS CHAR)", "decimal")
    declared = f"DECIMAL({column.precision},{column.scale})"
    if column.scale and not column.is_unsigned:
        return ColumnRequest(name, cast=declared)
    # From the width of the others the scanner concludes one digit too few.
    return ColumnRequest(f"CAST({name} AS CHAR)", cast=declared)


def _date_request(column: CatalogColumn, name: str, *, careful: bool) -> ColumnRequest:
    text = f"CAST({name} AS CHAR)"
    lost = Doubt(f"{text} LIKE {_ZERO_DATE}", "zero dates (0000-00-00)")
    if column.base == "timestamp":
        # It's a moment, and every connection asks for it in UTC.
        return ColumnRequest(name, cast="TIMESTAMP WITH TIME ZONE", lost=lost)
    if careful:
        return ColumnRequest(f"CASE WHEN {text} NOT LIKE {_ZERO_DATE} THEN {text} END", lost=lost)
    # The scanner fails at a date without a day, which would end the transaction.
    whole = f"MONTH({name}) > 0 AND DAYOFMONTH({name}) > 0"
    unfit = Doubt(
        f"{text} NOT LIKE {_ZERO_DATE} AND NOT ({whole})", "without month or day (2024-00-00)"
    )
    return ColumnRequest(f"CASE WHEN {whole} THEN {name} END", lost=lost, unfit=unfit)
