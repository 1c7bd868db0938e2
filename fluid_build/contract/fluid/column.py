"""A column of what is exposed."""

from typing import Annotated, Literal

from fluid_build.contract.fluid.common import (
    ClosedModel,
    Maybe,
    NonEmptyText,
    TaggedModel,
    TextPattern,
)

COLUMN_TYPES = tuple(
    """
    string text varchar varchar2 nvarchar char nchar character clob int integer int2 int4 int8
    int16 int32 int64 tinyint smallint mediumint bigint long longint serial bigserial float
    float4 float8 float32 float64 double real decimal dec numeric number bignumeric money
    boolean bool bit date time datetime datetime2 smalldatetime timestamp timestamptz
    timestamp_tz timestamp_ntz timestamp_ltz timestampntz interval year variant object array
    struct map record row json jsonb super binary varbinary bytes blob bytea raw geography
    geometry geom point uuid uniqueidentifier guid enum hll
    """.split()
)
_SPACED_TYPES = (r"double\s+precision", r"timestamp\s+with(out)?\s+time\s+zone")

ColumnType = Annotated[
    str,
    TextPattern(
        rf"(?i)^\s*({'|'.join((*COLUMN_TYPES, *_SPACED_TYPES))})"
        r"\s*(\([0-9A-Za-z_,\s'\"-]*\)\s*)?$",
        "a type such as `string`, `integer`, `decimal(10, 2)`, `date`, `timestamp` or `boolean`",
        COLUMN_TYPES,
    ),
]

Sensitivity = Literal[
    "none",
    "internal",
    "confidential",
    "restricted",
    "pii",
    "phi",
    "cleartext",
    "treated",
    "anonymized",
    "pseudonymized",
    "tokenized",
    "encrypted",
]


class ValidationRule(ClosedModel):
    """A rule that each value of the column must pass."""

    type: Maybe[Literal["range", "regex", "enum", "custom"]] = None
    constraint: Maybe[str] = None
    message: Maybe[str] = None


class ContractColumn(TaggedModel):
    """A column: its name and type, whether it must be filled, and what it means."""

    name: NonEmptyText
    type: ColumnType
    required: Maybe[bool] = None
    description: Maybe[str] = None
    sensitivity: Maybe[Sensitivity] = None
    semantic_type: Maybe[str] = None
    business_name: Maybe[str] = None
    business_definition: Maybe[str] = None
    validation_rules: Maybe[list[ValidationRule]] = None
