"""The databases that a dbt project may be written for, and their names of our types."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from fluid_build.errors import unknown_name

Target = Literal["duckdb", "postgres", "snowflake", "bigquery", "databricks"]
TARGETS: tuple[Target, ...] = get_args(Target)
TARGET_LABELS: Mapping[Target, str] = {
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "databricks": "Databricks",
}
_ALIASES = {"postgresql": "postgres", "pg": "postgres", "bq": "bigquery", "spark": "databricks"}

_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_NESTED = re.compile(r".*\[\d*\]|(?:STRUCT|MAP|UNION)\b.*|VARIANT", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TypeName:
    """A target's name of a type, and what is lost by it where something is."""

    name: str
    loss: str = ""


@dataclass(frozen=True, slots=True)
class _Types:
    """The types of one target; ``losses`` says what it can't hold of a DuckDB type."""

    names: Mapping[str, str]
    nested: str
    text: str
    decimal: str
    losses: Mapping[str, str]


def check_target(target: str) -> Target:
    """Return the target of a name or alias; raise UsageError for an unknown one."""
    name = target.strip().lower()
    name = _ALIASES.get(name, name)
    if name in TARGETS:
        return cast("Target", name)
    raise unknown_name("target", target, sorted(TARGETS), aliases=_ALIASES)


def target_type(duckdb_type: str, target: Target) -> TypeName:
    """Return a target's type that holds what a DuckDB type holds, or as much of it as it can."""
    if target == "duckdb":
        return TypeName(duckdb_type)
    types = _TYPES[target]
    decimal = _DECIMAL.fullmatch(duckdb_type)
    if decimal is not None:
        return TypeName(_decimal(types.decimal, int(decimal[1]), int(decimal[2])))
    if _NESTED.fullmatch(duckdb_type):
        return TypeName(types.nested, f"nested values are kept as {types.nested}")
    if duckdb_type.startswith("ENUM"):
        return TypeName(types.text)
    plain = _SAME_AS.get(duckdb_type, duckdb_type)
    if plain in types.names:
        return TypeName(types.names[plain], types.losses.get(plain, ""))
    return TypeName(types.text, f"{duckdb_type} is kept as text")


def _decimal(name: str, precision: int, scale: int) -> str:
    if name == "NUMERIC" and (scale > 9 or precision - scale > 29):
        # https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#decimal_types
        return "BIGNUMERIC"
    return name if name == "NUMERIC" else f"{name}({precision}, {scale})"


_SAME_AS = {
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UHUGEINT": "HUGEINT",
    "VARINT": "BIGNUM",
    "TIME_NS": "TIME",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
    "TIMESTAMP_NS": "TIMESTAMP",
}
_WIDE = "a whole number of more than 38 digits does not fit"
_NO_ZONE = "the time zone of a time of day is lost"
_TYPES: Mapping[Target, _Types] = {
    "postgres": _Types(
        names={
            "BOOLEAN": "BOOLEAN",
            "TINYINT": "SMALLINT",
            "SMALLINT": "SMALLINT",
            "INTEGER": "INT",
            "BIGINT": "BIGINT",
            "UBIGINT": "DECIMAL(20, 0)",
            "HUGEINT": "DECIMAL(39, 0)",
            "BIGNUM": "DECIMAL",
            "FLOAT": "REAL",
            "DOUBLE": "DOUBLE PRECISION",
            "VARCHAR": "TEXT",
            "BLOB": "BYTEA",
            "UUID": "UUID",
            "JSON": "JSONB",
            "DATE": "DATE",
            "TIME": "TIME",
            "TIME WITH TIME ZONE": "TIMETZ",
            "TIMESTAMP": "TIMESTAMP",
            "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ",
            "INTERVAL": "INTERVAL",
        },
        nested="JSONB",
        text="TEXT",
        decimal="DECIMAL",
        losses={},
    ),
    "snowflake": _Types(
        names={
            "BOOLEAN": "BOOLEAN",
            "TINYINT": "TINYINT",
            "SMALLINT": "SMALLINT",
            "INTEGER": "INT",
            "BIGINT": "BIGINT",
            "UBIGINT": "DECIMAL(20, 0)",
            "HUGEINT": "DECIMAL(38, 0)",
            "BIGNUM": "DECIMAL(38, 0)",
            "FLOAT": "DOUBLE",
            "DOUBLE": "DOUBLE",
            "VARCHAR": "VARCHAR",
            "BLOB": "BINARY",
            "UUID": "VARCHAR",
            "JSON": "VARIANT",
            "DATE": "DATE",
            "TIME": "TIME",
            "TIME WITH TIME ZONE": "TIME",
            "TIMESTAMP": "TIMESTAMPNTZ",
            "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ",
        },
        nested="VARIANT",
        text="VARCHAR",
        decimal="DECIMAL",
        losses={"HUGEINT": _WIDE, "BIGNUM": _WIDE, "TIME WITH TIME ZONE": _NO_ZONE},
    ),
    "bigquery": _Types(
        names={
            "BOOLEAN": "BOOL",
            "TINYINT": "INT64",
            "SMALLINT": "INT64",
            "INTEGER": "INT64",
            "BIGINT": "INT64",
            "UBIGINT": "BIGNUMERIC",
            "HUGEINT": "BIGNUMERIC",
            "BIGNUM": "BIGNUMERIC",
            "FLOAT": "FLOAT64",
            "DOUBLE": "FLOAT64",
            "VARCHAR": "STRING",
            "BLOB": "BYTES",
            "UUID": "STRING",
            "JSON": "JSON",
            "DATE": "DATE",
            "TIME": "TIME",
            "TIME WITH TIME ZONE": "TIME",
            "TIMESTAMP": "DATETIME",
            "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
            "INTERVAL": "INTERVAL",
        },
        nested="JSON",
        text="STRING",
        decimal="NUMERIC",
        losses={
            "BIGNUM": _WIDE,
            "TIME WITH TIME ZONE": _NO_ZONE,
        },
    ),
    "databricks": _Types(
        names={
            "BOOLEAN": "BOOLEAN",
            "TINYINT": "TINYINT",
            "SMALLINT": "SMALLINT",
            "INTEGER": "INT",
            "BIGINT": "BIGINT",
            "UBIGINT": "DECIMAL(20, 0)",
            "HUGEINT": "DECIMAL(38, 0)",
            "BIGNUM": "DECIMAL(38, 0)",
            "FLOAT": "FLOAT",
            "DOUBLE": "DOUBLE",
            "VARCHAR": "STRING",
            "BLOB": "BINARY",
            "UUID": "STRING",
            "JSON": "STRING",
            "DATE": "DATE",
            "TIME": "STRING",
            "TIME WITH TIME ZONE": "STRING",
            "TIMESTAMP": "TIMESTAMP_NTZ",
            "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
        },
        nested="STRING",
        text="STRING",
        decimal="DECIMAL",
        losses={
            "HUGEINT": _WIDE,
            "BIGNUM": _WIDE,
            "TIME": "a time of day is kept as text",
            "TIME WITH TIME ZONE": "a time of day is kept as text",
        },
    ),
}
