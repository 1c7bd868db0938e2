"""Where the data comes from and goes to."""

from typing import Literal

from fluid_build.contract.fluid.common import Identifier, IsoDuration, Maybe, Share, TaggedModel


class QosExpectations(TaggedModel):
    """The level of service that is needed of another product."""

    freshness_max: Maybe[IsoDuration] = None
    max_staleness: Maybe[IsoDuration] = None
    min_completeness: Maybe[Share] = None


class ConsumeRef(TaggedModel):
    """What this product reads from another one."""

    product_id: Identifier
    expose_id: Identifier
    version_constraint: Maybe[str] = None
    qos_expectations: Maybe[QosExpectations] = None
    required_policies: Maybe[list[str]] = None
    purpose: Maybe[str] = None


class FieldTransformation(TaggedModel):
    """How one field is made from another."""

    type: Maybe[Literal["direct_mapping", "aggregation", "calculation", "lookup"]] = None
    expression: Maybe[str] = None


class FieldMapping(TaggedModel):
    """A field here, and the field there that it comes from."""

    source_field: str
    target_field: str
    transformation: Maybe[FieldTransformation] = None


class Upstream(TaggedModel):
    """A product that this one is made from."""

    product_id: Identifier
    expose_id: Identifier
    field_mappings: Maybe[list[FieldMapping]] = None
    relationship: Maybe[Literal["direct_consumption", "lookup_enrichment", "aggregation"]] = None


class Downstream(TaggedModel):
    """Someone who reads this product."""

    consumer: Maybe[Identifier] = None
    impact: Maybe[Literal["critical", "high", "medium", "low"]] = None


class Lineage(TaggedModel):
    """Everything before and after this product."""

    granularity: Maybe[Literal["table_level", "field_level"]] = None
    upstream: Maybe[list[Upstream]] = None
    downstream: Maybe[list[Downstream]] = None
