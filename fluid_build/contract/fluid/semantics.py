"""What the columns mean to a business question: entities, measures, dimensions, metrics."""

from typing import Literal

from fluid_build.contract.fluid.common import ClosedModel, Maybe, TaggedModel

EntityType = Literal["primary", "foreign", "unique", "natural"]
Aggregation = Literal["sum", "avg", "count", "count_distinct", "min", "max", "median", "percentile"]
TimeGranularity = Literal["day", "week", "month", "quarter", "year", "hour", "minute"]


class SemanticEntity(ClosedModel):
    """A key: what a row is, or what it refers to."""

    name: str
    type: EntityType
    expr: Maybe[str] = None
    description: Maybe[str] = None


class NonAdditiveDimension(ClosedModel):
    """The dimension over which a measure may not be summed."""

    name: Maybe[str] = None
    window_choice: Maybe[Literal["min", "max"]] = None


class SemanticMeasure(ClosedModel):
    """Something that can be aggregated."""

    name: str
    description: Maybe[str] = None
    agg: Aggregation
    expr: Maybe[str] = None
    agg_time_dimension: Maybe[str] = None
    non_additive_dimension: Maybe[NonAdditiveDimension] = None
    create_metric: Maybe[bool] = None


class DimensionParams(ClosedModel):
    """The grain of a time dimension."""

    time_granularity: Maybe[TimeGranularity] = None


class SemanticDimension(ClosedModel):
    """Something to group and filter by."""

    name: str
    type: Literal["categorical", "time"]
    expr: Maybe[str] = None
    description: Maybe[str] = None
    type_params: Maybe[DimensionParams] = None


class SemanticMetric(ClosedModel):
    """A figure with a name, made of measures or of other metrics."""

    name: str
    description: Maybe[str] = None
    type: Literal["simple", "derived", "ratio"]
    measure: Maybe[str] = None
    filter: Maybe[str] = None
    input_metrics: Maybe[list[str]] = None
    expr: Maybe[str] = None
    numerator: Maybe[str] = None
    denominator: Maybe[str] = None
    owner: Maybe[str] = None


class Semantics(TaggedModel):
    """The semantic model of what is exposed."""

    name: Maybe[str] = None
    description: Maybe[str] = None
    default_agg_time_dimension: Maybe[str] = None
    entities: Maybe[list[SemanticEntity]] = None
    measures: Maybe[list[SemanticMeasure]] = None
    dimensions: Maybe[list[SemanticDimension]] = None
    metrics: Maybe[list[SemanticMetric]] = None
