"""The types of a logical model: names that the FLUID contract knows, made from DuckDB's.

DuckDB: https://duckdb.org/docs/stable/sql/data_types/overview. Precision and scale stay. An integer
wider than every SQL integer becomes a decimal that holds it. A nested type is only named ``array``,
``struct`` or ``map``; the profile has its full spelling.
"""

import re
from typing import Literal

from fluid_build.profiling.profile import ColumnProfile, is_code

Family = Literal[
    "text", "integer", "decimal", "float", "boolean", "date", "time", "timestamp", "nested", "other"
]

_NAMES: dict[str, str] = {
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INTEGER": "integer",
    "BIGINT": "bigint",
    "HUGEINT": "decimal(39,0)",
    "UTINYINT": "smallint",
    "USMALLINT": "integer",
    "UINTEGER": "bigint",
    "UBIGINT": "decimal(20,0)",
    "UHUGEINT": "decimal(39,0)",
    "BIGNUM": "bignumeric",
    "VARINT": "bignumeric",
    "FLOAT": "real",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "BLOB": "binary",
    "BIT": "bit",
    "UUID": "uuid",
    "JSON": "json",
    "VARIANT": "variant",
    "GEOMETRY": "geometry",
    "DATE": "date",
    "TIME": "time",
    "TIME_NS": "time",
    "TIME WITH TIME ZONE": "time",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "INTERVAL": "interval",
}
_NUMBERS = frozenset(
    """
    TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT
    DOUBLE DECIMAL
    """.split()
)
_NESTED = {"STRUCT": "struct", "MAP": "map", "UNION": "variant", "ENUM": "enum"}
_NAMES_IN: dict[Family, str] = {
    "boolean": "boolean",
    "integer": "tinyint smallint integer bigint",
    "decimal": "decimal bignumeric",
    "float": "real double",
    "text": "string varchar char enum uuid",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp timestamptz",
    "nested": "array struct map json variant",
}
_FAMILIES: dict[str, Family] = {
    name: family for family, names in _NAMES_IN.items() for name in names.split()
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_LIST = re.compile(r"\[\d*\]$")
_LIMITED_TEXT = re.compile(
    r"\s*(?P<fixed>n?char|character|bpchar)?"
    r"(?P<varying>n?varchar2?|(?:n?char|character) varying)?"
    r"\s*\(\s*(?P<length>[1-9]\d{0,8})\b[^)]*\)\s*",
    re.IGNORECASE,
)


def is_number(type_: str) -> bool:
    """Return whether values of a DuckDB type are numbers, whatever their width."""
    return type_.partition("(")[0] in _NUMBERS


def is_float(type_: str) -> bool:
    """Return whether a DuckDB type has equal values that differ: 0.0 and -0.0, and the NaNs."""
    return type_ in {"FLOAT", "DOUBLE"}


def type_name(duckdb_type: str) -> str:
    """Return the contract's name of a DuckDB type, ``string`` for an unknown one."""
    name = _NAMES.get(duckdb_type)
    if name is not None:
        return name
    if _LIST.search(duckdb_type):
        return "array"
    decimal = _DECIMAL.fullmatch(duckdb_type)
    if decimal is not None:
        return f"decimal({decimal[1]},{decimal[2]})"
    # The type of a date in text has the format that it's written in: "DATE (%d.%m.%Y)".
    bare, _, _ = duckdb_type.partition("(")
    return _NESTED.get(bare) or _NAMES.get(bare.rstrip(), "string")


def column_type(column: ColumnProfile) -> str:
    """Return the type that a column's values really have, with the declared length.

    A code that is stored as text stays text: the next value may start with a zero.
    """
    measured = None if is_code(column) and column.type == "VARCHAR" else column.measured_type
    name = type_name(measured or column.type)
    return _limited_text_type(column) or name if name == "string" else name


def family(name: str) -> Family:
    """Return the family of a type that ``type_name`` returned."""
    return _FAMILIES.get(name.partition("(")[0], "other")


def _limited_text_type(column: ColumnProfile) -> str | None:
    """Return ``varchar(n)`` or ``char(n)`` where a length is declared and no value is longer."""
    declared = _LIMITED_TEXT.fullmatch(column.declared_type)
    if declared is None or (declared["fixed"] is None) == (declared["varying"] is None):
        return None
    length = int(declared["length"])
    if column.max_length is not None and column.max_length > length:
        return None
    return f"{'varchar' if declared['varying'] else 'char'}({length})"
