"""One thing that the product offers: a table, view, file, stream …"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fluid_build.contract.fluid.binding import Binding, IcebergFileFormat
from fluid_build.contract.fluid.column import ContractColumn
from fluid_build.contract.fluid.common import (
    ClosedModel,
    Identifier,
    Integer,
    Labels,
    Maybe,
    OpenModel,
    SemVer,
    TaggedModel,
    Tags,
    TextPattern,
    problems,
    requires,
)
from fluid_build.contract.fluid.lifecycle import Docs, Lifecycle
from fluid_build.contract.fluid.policy import ExposePolicy
from fluid_build.contract.fluid.quality import DqSpec, ExposeQoS, Observability, QualityExpression
from fluid_build.contract.fluid.semantics import Semantics

ExposeKind = Literal[
    "table",
    "view",
    "api",
    "file",
    "stream",
    "topic",
    "feature_store",
    "model",
    "vector",
    "graph",
    "time_series",
    "other",
]
SchemaSignature = Annotated[
    str, TextPattern(r"^sha256:[0-9a-fA-F]{64}$", "`sha256:` and 64 hexadecimal digits")
]


class Guarantees(ClosedModel):
    """What a consumer may rely on when the schema changes."""

    compatibility: Maybe[Literal["none", "patch", "minor", "backward", "forward", "strict"]] = None
    evolution: Maybe[
        list[
            Literal[
                "additive_columns",
                "additive_fields",
                "additive_endpoints",
                "nullable_to_required_disallowed",
                "field_removal_with_notice",
                "type_widening_allowed",
            ]
        ]
    ] = None


class ExposeContract(TaggedModel):
    """The promise: columns or an OpenAPI document, and the quality of the data."""

    schema_signature: Maybe[SchemaSignature] = None
    columns: Annotated[Maybe[list[ContractColumn]], Field(alias="schema")] = None
    openapi_ref: Maybe[str] = None
    guarantees: Maybe[Guarantees] = None
    dq: Maybe[DqSpec] = None
    quality: Maybe[list[QualityExpression]] = None

    @model_validator(mode="after")
    def _says_what_is_exposed(self) -> Self:
        if self.columns is None and self.openapi_ref is None:
            raise problems(requires("schema", "openapiRef"))
        return self


class SchemaChangePolicy(OpenModel):
    """What a crawler does when it finds another schema."""

    update_behavior: Maybe[Literal["UPDATE_IN_DATABASE", "LOG"]] = None
    delete_behavior: Maybe[Literal["LOG", "DELETE_FROM_DATABASE", "DEPRECATE_IN_DATABASE"]] = None


class Crawler(OpenModel):
    """The crawler that keeps a catalogue up to date."""

    name: Maybe[str] = None
    role: Maybe[str] = None
    schedule: Maybe[str] = None
    classifiers: Maybe[list[str]] = None
    schema_change_policy: Maybe[SchemaChangePolicy] = None


class SnapshotRetention(OpenModel):
    """How many snapshots of an Iceberg table are kept."""

    max_snapshot_age_ms: Maybe[Integer] = None
    min_snapshots_to_keep: Maybe[Integer] = None


class Compaction(OpenModel):
    """Whether small files of an Iceberg table are joined."""

    enabled: Maybe[bool] = None
    target_file_size_mb: Maybe[Integer] = None


class IcebergUpkeep(OpenModel):
    """How an Iceberg table is written and kept in order."""

    write_format: Maybe[IcebergFileFormat] = None
    snapshot_retention: Maybe[SnapshotRetention] = None
    compaction: Maybe[Compaction] = None


class Expose(ClosedModel):
    """One thing that the product offers, with its promise and its place."""

    expose_id: Identifier
    title: Maybe[str] = None
    description: Maybe[str] = None
    version: Maybe[SemVer] = None
    kind: ExposeKind
    tags: Maybe[Tags] = None
    labels: Maybe[Labels] = None
    contract: ExposeContract
    qos: Maybe[ExposeQoS] = None
    policy: Maybe[ExposePolicy] = None
    binding: Binding
    lifecycle: Maybe[Lifecycle] = None
    observability: Maybe[Observability] = None
    docs: Maybe[Docs] = None
    semantics: Maybe[Semantics] = None
    crawler: Maybe[Crawler] = None
    iceberg: Maybe[IcebergUpkeep] = None
