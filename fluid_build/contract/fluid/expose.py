"""What the product offers: tables, views, files, streams …"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fluid_build.contract.fluid.binding import Binding
from fluid_build.contract.fluid.column import ContractColumn
from fluid_build.contract.fluid.common import (
    ClosedModel,
    FreeForm,
    Identifier,
    Labels,
    Maybe,
    SemVer,
    TaggedModel,
    Tags,
    TextPattern,
    problems,
    requires,
)
from fluid_build.contract.fluid.quality import DqRule, DqSpec, QualityExpression
from fluid_build.contract.fluid.sections import SECTIONS
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


class ExposeContract(TaggedModel):
    """The promise: columns or an OpenAPI document, and the quality of the data."""

    schema_signature: Maybe[SchemaSignature] = None
    columns: Annotated[Maybe[list[ContractColumn]], Field(alias="schema")] = None
    openapi_ref: Maybe[str] = None
    guarantees: Maybe[Annotated[FreeForm, SECTIONS["guarantees"]]] = None
    dq: Maybe[DqSpec] = None
    quality: Maybe[list[QualityExpression]] = None

    @model_validator(mode="after")
    def _says_what_is_exposed(self) -> Self:
        if self.columns is None and self.openapi_ref is None:
            raise problems(requires("schema", "openapiRef"))
        return self


class Expose(ClosedModel):
    """A table, view, file or stream that the product offers, with its promise and its place."""

    expose_id: Identifier
    title: Maybe[str] = None
    description: Maybe[str] = None
    version: Maybe[SemVer] = None
    kind: ExposeKind
    tags: Maybe[Tags] = None
    labels: Maybe[Labels] = None
    contract: ExposeContract
    qos: Maybe[Annotated[FreeForm, SECTIONS["qos"]]] = None
    policy: Maybe[Annotated[FreeForm, SECTIONS["expose-policy"]]] = None
    binding: Binding
    lifecycle: Maybe[Annotated[FreeForm, SECTIONS["lifecycle"]]] = None
    observability: Maybe[Annotated[FreeForm, SECTIONS["observability"]]] = None
    docs: Maybe[Annotated[FreeForm, SECTIONS["docs"]]] = None
    semantics: Maybe[Semantics] = None
    crawler: Maybe[Annotated[FreeForm, SECTIONS["crawler"]]] = None
    iceberg: Maybe[Annotated[FreeForm, SECTIONS["iceberg-upkeep"]]] = None

    @property
    def rules(self) -> list[DqRule]:
        """The quality rules that are promised."""
        return (self.contract.dq.rules or []) if self.contract.dq is not None else []
