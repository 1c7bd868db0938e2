"""The FLUID 0.7.2 contract as Pydantic types, and as tables for what no code reads.

The types allow exactly what the official JSON schema allows, and property-based tests keep the two
verdicts equal. Sections that no code reads are one table, ``sections.yaml``.
"""

from fluid_build.contract.fluid.binding import Binding, BindingLocation
from fluid_build.contract.fluid.column import COLUMN_TYPES, ContractColumn, Sensitivity
from fluid_build.contract.fluid.contract import (
    BusinessContext,
    FluidContract,
    Generator,
    Metadata,
    ProductOwner,
    Provenance,
)
from fluid_build.contract.fluid.expose import Expose, ExposeContract
from fluid_build.contract.fluid.quality import DqRule, DqSpec
from fluid_build.contract.fluid.semantics import (
    DimensionParams,
    NonAdditiveDimension,
    SemanticDimension,
    SemanticEntity,
    SemanticMeasure,
    Semantics,
)

__all__ = [
    "COLUMN_TYPES",
    "Binding",
    "BindingLocation",
    "BusinessContext",
    "ContractColumn",
    "DimensionParams",
    "DqRule",
    "DqSpec",
    "Expose",
    "ExposeContract",
    "FluidContract",
    "Generator",
    "Metadata",
    "NonAdditiveDimension",
    "ProductOwner",
    "Provenance",
    "SemanticDimension",
    "SemanticEntity",
    "SemanticMeasure",
    "Semantics",
    "Sensitivity",
]
