"""The contract itself: one data product, what it offers and how it is made."""

from typing import Annotated, Literal

from pydantic import Field

from fluid_build.contract.fluid.build import Build
from fluid_build.contract.fluid.common import (
    ClosedModel,
    Identifier,
    Integer,
    Labels,
    Maybe,
    NonEmptyText,
    OpenModel,
    Tags,
)
from fluid_build.contract.fluid.environment import EnvironmentConfig
from fluid_build.contract.fluid.expose import Expose
from fluid_build.contract.fluid.lifecycle import Docs, Lifecycle, SchemaEvolution
from fluid_build.contract.fluid.lineage import ConsumeRef, Lineage
from fluid_build.contract.fluid.machine_learning import MachineLearning
from fluid_build.contract.fluid.orchestration import Orchestration
from fluid_build.contract.fluid.policy import AccessPolicy, Sovereignty

FLUID_VERSION = "0.7.2"


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
    consumes: Maybe[list[ConsumeRef]] = None
    builds: Maybe[list[Build]] = None
    build: Maybe[Build] = None
    lineage: Maybe[Lineage] = None
    schema_evolution: Maybe[SchemaEvolution] = None
    machine_learning: Maybe[MachineLearning] = None
    environments: Maybe[dict[str, EnvironmentConfig]] = None
    lifecycle: Maybe[Lifecycle] = None
    docs: Maybe[Docs] = None
    sovereignty: Maybe[Sovereignty] = None
    access_policy: Maybe[AccessPolicy] = None
    orchestration: Maybe[Orchestration] = None
