"""The contract itself: one data product, what it offers and how it is made."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from fluid_build.contract.fluid.binding import Binding
from fluid_build.contract.fluid.common import (
    ClosedModel,
    FreeForm,
    Identifier,
    Integer,
    Labels,
    Maybe,
    NonEmptyText,
    OpenModel,
    Tags,
)
from fluid_build.contract.fluid.expose import Expose
from fluid_build.contract.fluid.sections import BUILDS, SECTIONS, pattern_of

_ENVIRONMENT = SECTIONS["environment"].with_keys(
    {"exposes": SECTIONS["environment-expose"].with_keys({"binding": Binding}).list_type}
)
"""What is different in one environment (development, staging, production …)."""

Build = Annotated[
    Annotated[FreeForm, BUILDS["hybrid-reference"], Tag("hybrid-reference")]
    | Annotated[FreeForm, BUILDS["embedded-logic"], Tag("embedded-logic")]
    | Annotated[FreeForm, BUILDS["multi-stage"], Tag("multi-stage")]
    | Annotated[FreeForm, BUILDS["unpatterned"], Tag("unpatterned")],
    Discriminator(pattern_of),
]


class Generator(OpenModel):
    """The tool that wrote the contract."""

    tool: Maybe[str] = None
    version: Maybe[str] = None
    command: Maybe[str] = None


class Provenance(OpenModel):
    """How the contract came to be."""

    schema_version: Annotated[Maybe[Integer], Field(alias="schema_version")] = None
    kind: Maybe[str] = None
    generated_at: Annotated[Maybe[str], Field(alias="generated_at")] = None
    generated_by: Annotated[Maybe[Generator], Field(alias="generated_by")] = None


class ProductOwner(ClosedModel):
    """Who answers for the product."""

    team: Maybe[str] = None
    email: Maybe[str] = None
    slack: Maybe[str] = None
    oncall: Maybe[str] = None


class BusinessContext(ClosedModel):
    """Where the product belongs in the business."""

    domain: Maybe[str] = None
    subdomain: Maybe[str] = None
    business_capability: Maybe[str] = None
    value_stream: Maybe[str] = None


class Metadata(ClosedModel):
    """The product's layer, owner and place in the business."""

    provenance: Maybe[Provenance] = None
    layer: Maybe[str] = None
    owner: ProductOwner
    created_at: Maybe[str] = None
    business_context: Maybe[BusinessContext] = None
    tags: Maybe[Tags] = None


class FluidContract(ClosedModel):
    """A FLUID 0.7.2 contract."""

    fluid_version: Literal["0.7.2"]
    kind: Literal["DataProduct", "MLPipeline"]
    id: Identifier
    name: NonEmptyText
    description: Maybe[str] = None
    domain: Maybe[str] = None
    tags: Maybe[Tags] = None
    labels: Maybe[Labels] = None
    metadata: Metadata
    exposes: Annotated[list[Expose], Field(min_length=1)]
    consumes: Maybe[list[Annotated[FreeForm, SECTIONS["consume"]]]] = None
    builds: Maybe[list[Build]] = None
    build: Maybe[Build] = None
    lineage: Maybe[Annotated[FreeForm, SECTIONS["lineage"]]] = None
    schema_evolution: Maybe[Annotated[FreeForm, SECTIONS["schema-evolution"]]] = None
    machine_learning: Maybe[Annotated[FreeForm, SECTIONS["machine-learning"]]] = None
    environments: Maybe[dict[str, Annotated[FreeForm, _ENVIRONMENT]]] = None
    lifecycle: Maybe[Annotated[FreeForm, SECTIONS["lifecycle"]]] = None
    docs: Maybe[Annotated[FreeForm, SECTIONS["docs"]]] = None
    sovereignty: Maybe[Annotated[FreeForm, SECTIONS["sovereignty"]]] = None
    access_policy: Maybe[Annotated[FreeForm, SECTIONS["access-policy"]]] = None
    orchestration: Maybe[Annotated[FreeForm, SECTIONS["orchestration"]]] = None
