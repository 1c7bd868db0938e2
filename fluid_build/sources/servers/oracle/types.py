"""How Oracle's columns are asked for.

What the client may carry over inexactly is turned into text on the server, without regard to the
session's language: numbers, times finer than microseconds, moments with an offset.
"""

from fluid_build.sources.servers.oracle.catalog import CatalogColumn
from fluid_build.sources.servers.staging import ColumnRequest, NeverAttached
from fluid_build.sources.sql import quote

_TEXT = ("CHAR", "VARCHAR2", "NCHAR", "NVARCHAR2", "CLOB", "NCLOB", "LONG")
_BYTES = ("RAW", "BLOB", "LONG RAW")
_MOST_WHOLE_DIGITS = 18
"""Digits of a whole number that 64 bits always hold."""
_MAX_DIGITS = 38
# The year is written with its sign, and blank where there is none: 4712 BC isn't 4712.
_DATE = "FXSYYYY-MM-DD HH24:MI:SS"


class OracleDialect(NeverAttached):
    """How Oracle's columns are asked for."""

    def request(self, column: CatalogColumn, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        name, base = quote(column.name), column.base
        if base in ("NUMBER", "FLOAT"):
            return _number(name, column)
        if base in ("BINARY_FLOAT", "BINARY_DOUBLE", "BOOLEAN"):
            return ColumnRequest(f"TO_CHAR({name})" if careful else name)
        if base == "DATE":
            return ColumnRequest(f"LTRIM(TO_CHAR({name}, '{_DATE}'))", "timestamp")
        if base == "TIMESTAMP":
            return ColumnRequest(f"LTRIM(TO_CHAR({name}, '{_DATE}.FF9'))", "timestamp")
        if base == "TIMESTAMP WITH TIME ZONE":
            return ColumnRequest(
                f"LTRIM(TO_CHAR({name}, '{_DATE}.FF9TZH:TZM'))", "timestamp with offset"
            )
        if base == "TIMESTAMP WITH LOCAL TIME ZONE":
            moment = f"LTRIM(TO_CHAR(SYS_EXTRACT_UTC({name}), '{_DATE}.FF9'))"
            # Without a moment there is no offset either.
            return ColumnRequest(
                f"CASE WHEN {name} IS NOT NULL THEN {moment} || '+00:00' END",
                "timestamp with offset",
            )
        if base == "JSON":
            text = f"JSON_SERIALIZE({name} RETURNING CLOB)"
            return ColumnRequest(text, "as is" if careful else "json")
        if base == "XMLTYPE":
            return ColumnRequest(f"XMLSERIALIZE(CONTENT {name} AS CLOB)")
        if base == "SDO_GEOMETRY":
            return ColumnRequest(f"SDO_UTIL.TO_WKTGEOMETRY({name})")
        if base in ("ROWID", "UROWID"):
            return ColumnRequest(f"ROWIDTOCHAR({name})")
        if base == "VECTOR":
            return ColumnRequest(f"VECTOR_SERIALIZE({name} RETURNING CLOB)")
        if base in (*_TEXT, *_BYTES):
            return ColumnRequest(name)
        return ColumnRequest(f"TO_CHAR({name})")


def _number(name: str, column: CatalogColumn) -> ColumnRequest:
    """Ask for a number: a whole one that 64 bits hold as it is, any other as its digits.

    TM9 writes all digits of a number, up to 64 characters; larger ones have an exponent, and are
    settled as text.
    """
    text = f"TO_CHAR({name}, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"
    precision, scale = column.precision, column.scale
    if column.base == "FLOAT" or precision is None or scale is None:
        return ColumnRequest(text, "decimal")
    if scale == 0 and precision <= _MOST_WHOLE_DIGITS:
        return ColumnRequest(name)
    fits = 0 <= scale <= precision <= _MAX_DIGITS
    return ColumnRequest(text, "decimal", f"DECIMAL({precision},{scale})" if fits else None)
