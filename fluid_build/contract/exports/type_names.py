"""A column's type in FLUID's words, and in those of the other formats.

A FLUID type is a name that databases use, with arguments: ``decimal(10, 2)``, ``varchar(40)``.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.contract.fluid.column import ContractColumn

_SPELLED = re.compile(r"\s*([A-Za-z][\w\s]*?)\s*(?:\(([^)]*)\)\s*)?", re.ASCII)

_ODCS = {
    "integer": "int integer int2 int4 int8 int16 int32 int64 tinyint smallint mediumint bigint "
    "long longint serial bigserial year",
    "number": "float float4 float8 float32 float64 double real decimal dec numeric number "
    "bignumeric money double_precision",
    "boolean": "boolean bool",
    "date": "date",
    "time": "time",
    "timestamp": "datetime datetime2 smalldatetime timestamp timestamptz timestamp_tz "
    "timestamp_ntz timestamp_ltz timestampntz timestamp_with_time_zone "
    "timestamp_without_time_zone",
    "array": "array",
    "object": "variant object struct map record row json jsonb super",
}
_DCS = {
    "int": "int integer int4 int32 int2 int16 tinyint smallint mediumint serial year",
    "long": "int8 int64 bigint long longint bigserial",
    "float": "float4 float32 real",
    "double": "float float8 float64 double double_precision",
    "decimal": "decimal dec numeric number bignumeric money",
    "boolean": "boolean bool",
    "date": "date",
    "time": "time",
    "timestamp_ntz": "datetime datetime2 smalldatetime timestamp_ntz timestampntz "
    "timestamp_without_time_zone",
    "timestamp_tz": "timestamptz timestamp_tz timestamp_ltz timestamp_with_time_zone",
    "timestamp": "timestamp",
    "array": "array",
    "map": "map",
    "struct": "struct row",
    "record": "record",
    "object": "object",
    "variant": "variant super",
    "json": "json jsonb",
    "bytes": "binary varbinary bytes blob bytea raw",
}
_FLUID = {
    "string": "string",
    "date": "date",
    "timestamp": "timestamp",
    "time": "time",
    "number": "decimal",
    "integer": "bigint",
    "object": "struct",
    "array": "array",
    "boolean": "boolean",
    "map": "map",
    "vector": "array",
}
# Neither text nor anything else that the format knows: said to be text, a check of the type fails.
_NO_ODCS_TYPE = frozenset(
    "interval bit variant bignumeric binary varbinary bytes blob bytea raw".split()
)
# DCS needs a map's types of keys and values, which FLUID doesn't have.
_NO_DCS_TYPE = frozenset("interval bit bignumeric map".split())
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_BOUNDED = ("integer", "number", "date", "time", "timestamp")
_EXACT = frozenset("decimal dec numeric number bignumeric".split())
_BY_NAME = {name: word for word, names in _ODCS.items() for name in names.split()}
_DCS_BY_NAME = {name: word for word, names in _DCS.items() for name in names.split()}
_OF_LENGTH = frozenset("varchar varchar2 nvarchar char nchar character string".split())


Rule = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class SpelledType:
    """A type taken apart; ``name`` is in lower case with ``_`` for blanks."""

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def length(self) -> int | None:
        """The longest text that fits, where the type says it."""
        return self._number(0) if self.name in _OF_LENGTH else None

    @property
    def precision(self) -> int | None:
        """How many digits an exact number has, where the type says it."""
        return self._number(0) if self.name in _EXACT else None

    @property
    def scale(self) -> int | None:
        """How many of the digits are after the point, where the type says it."""
        return self._number(1) if self.name in _EXACT else None

    def _number(self, index: int) -> int | None:
        words = self.arguments[index : index + 1]
        return int(words[0]) if words and re.fullmatch(r"[0-9]{1,9}", words[0]) else None


def spelled(type_: str) -> SpelledType:
    """Return a FLUID type taken apart."""
    match = _SPELLED.fullmatch(type_)
    if match is None:
        return SpelledType(type_.strip().lower())
    name = "_".join(match[1].lower().split())
    arguments = tuple(word.strip() for word in match[2].split(",")) if match[2] else ()
    return SpelledType(name, arguments)


def odcs_type(type_: SpelledType) -> str | None:
    """Return the closest ``logicalType`` of ODCS 3.1; None where it has none for the values."""
    return None if type_.name in _NO_ODCS_TYPE else _BY_NAME.get(type_.name, "string")


def dcs_type(type_: SpelledType) -> str | None:
    """Return the closest type of the Data Contract Specification; None where there is none."""
    return None if type_.name in _NO_DCS_TYPE else _DCS_BY_NAME.get(type_.name, "string")


def type_options(type_: SpelledType, rules: Sequence[Rule]) -> dict[str, object]:
    """Return the ``logicalTypeOptions`` of ODCS: length and pattern of a text, or bounds.

    ``rules`` are a column's validation rules, each by its type and constraint. Bounds are the
    constraint of a ``range`` rule that is a JSON mapping of them.
    """
    logical = odcs_type(type_)
    options: dict[str, object] = {}
    if logical == "string":
        patterns = [constraint for kind, constraint in rules if kind == "regex"]
        options_of_text = {"maxLength": type_.length, "pattern": patterns[0] if patterns else None}
        return {key: value for key, value in options_of_text.items() if value is not None}
    for kind, constraint in rules:
        if kind == "range" and not options:
            options = bounds(logical, constraint or "")
    return options


def rules_of(column: ContractColumn) -> list[Rule]:
    """Return the validation rules of a column, each by its type and constraint."""
    return [(rule.type, rule.constraint) for rule in column.validation_rules or ()]


def bounds(logical: str | None, constraint: str) -> dict[str, object]:
    """Return the bounds in a constraint, none where they aren't bounds of the type."""
    known = BOUNDS if logical in _BOUNDED else ()
    try:
        value = json.loads(constraint)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or not value:
        return {}
    return value if all(k in known and _is_bound(logical, v) for k, v in value.items()) else {}


def _is_bound(logical: str | None, value: object) -> bool:
    if logical not in ("integer", "number"):
        return isinstance(value, str)
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def fluid_type(
    logical: str | None, *, length: int | None, precision: int | None, scale: int | None
) -> str:
    """Return the FLUID type of a ``logicalType``; text where none is given."""
    name = _FLUID.get(logical or "string", "string")
    if name == "string" and length is not None:
        return f"varchar({length})"
    if name == "decimal" and precision is not None:
        return f"decimal({precision},{scale or 0})"
    return "double" if name == "decimal" else name
