"""Column types of a contract, whatever dialect spells them: what values they can hold.

The words are those of ``fluid.column.COLUMN_TYPES``. Where systems part about a word (``int8`` has
eight bytes in PostgreSQL and DuckDB, one in others), PostgreSQL's and DuckDB's meaning is taken.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ValueKind = Literal[
    "text",
    "enum",
    "integer",
    "decimal",
    "float",
    "boolean",
    "bit",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "interval",
    "uuid",
    "json",
    "struct",
    "map",
    "array",
    "binary",
    "geometry",
    "hll",
]


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a column can hold.

    ``bits`` is the width of whole and floating numbers, ``length`` the most characters of a text,
    ``precision`` and ``scale`` are a decimal's. None means that there is no bound.
    """

    kind: ValueKind
    bits: int | None = None
    length: int | None = None
    precision: int | None = None
    scale: int | None = None


_SPELLED = re.compile(r"\s*([a-z][a-z0-9_ ]*?)\s*(?:\(([^)]*)\))?\s*")
_WORDS: Mapping[ValueKind, str] = {
    "text": "string text varchar varchar2 nvarchar char nchar character clob",
    "enum": "enum",
    "decimal": "decimal dec numeric number bignumeric money",
    "boolean": "boolean bool",
    "bit": "bit",
    "date": "date",
    "time": "time",
    "timestamp": "datetime datetime2 smalldatetime timestamp timestamp_ntz timestampntz",
    "timestamptz": "timestamptz timestamp_tz timestamp_ltz",
    "interval": "interval",
    "uuid": "uuid uniqueidentifier guid",
    "json": "json jsonb variant super",
    "struct": "struct object record row",
    "map": "map",
    "array": "array",
    "binary": "binary varbinary bytes blob bytea raw",
    "geometry": "geography geometry geom point",
    "hll": "hll",
}
_KINDS: Mapping[str, ValueKind] = {
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    **{word: kind for kind, words in _WORDS.items() for word in words.split()},
}
_INTEGERS: Mapping[str, int] = {
    **dict.fromkeys(("tinyint",), 8),
    **dict.fromkeys(("smallint", "int2", "int16", "year"), 16),
    **dict.fromkeys(("int", "integer", "int4", "int32", "mediumint", "serial"), 32),
    **dict.fromkeys(("bigint", "int8", "int64", "long", "longint", "bigserial"), 64),
}
_FLOATS: Mapping[str, int] = {
    **dict.fromkeys(("real", "float4", "float32"), 32),
    **dict.fromkeys(("float", "float8", "float64", "double", "double precision"), 64),
}
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
_EXACT_IN_FLOAT = {32: 16, 64: 32}
_SINGLE_PRECISION = 24
_MONEY = ValueType("decimal", precision=19, scale=4)


def value_type(spelled: str) -> ValueType:
    """Return what a type can hold; ValueError for a word that FLUID doesn't know."""
    match = _SPELLED.fullmatch(" ".join(spelled.lower().split()))
    if match is None:
        raise ValueError(spelled)
    word = match[1]
    sizes = [int(part) for part in (match[2] or "").split(",") if part.strip().isdecimal()]
    if word in _INTEGERS:
        return ValueType("integer", bits=_INTEGERS[word])
    if word in _FLOATS:
        single = word == "float" and bool(sizes) and sizes[0] <= _SINGLE_PRECISION
        return ValueType("float", bits=32 if single else _FLOATS[word])
    if word not in _KINDS:
        raise ValueError(spelled)
    kind = _KINDS[word]
    if kind == "text":
        return ValueType("text", length=sizes[0] if sizes else None)
    if kind == "decimal" and sizes:
        return ValueType("decimal", precision=sizes[0], scale=sizes[1] if len(sizes) > 1 else 0)
    return _MONEY if word == "money" else ValueType(kind)


def holds_all(wide: ValueType, narrow: ValueType) -> bool:
    """Return whether every value of the one type is, without loss, a value of the other."""
    if wide.kind == narrow.kind:
        return _within(narrow.bits, wide.bits) and (
            _digits_fit(wide, narrow)
            if wide.kind == "decimal"
            else _within(narrow.length, wide.length)
        )
    match narrow.kind, wide.kind:
        case "integer", "decimal":
            digits = _DIGITS[narrow.bits or 64]
            return _digits_fit(wide, ValueType("decimal", precision=digits, scale=0))
        case "integer", "float":
            return (narrow.bits or 64) <= _EXACT_IN_FLOAT[wide.bits or 64]
        case "enum", "text":
            return wide.length is None
        case "date", "timestamp":
            return True
    return False


def _within(narrow: int | None, wide: int | None) -> bool:
    return wide is None or (narrow is not None and narrow <= wide)


def _digits_fit(wide: ValueType, narrow: ValueType) -> bool:
    if wide.precision is None:
        return True
    if narrow.precision is None:
        return False
    theirs, ours = narrow.scale or 0, wide.scale or 0
    return theirs <= ours and narrow.precision - theirs <= wide.precision - ours
