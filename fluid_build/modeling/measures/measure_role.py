"""How a measure is aggregated, and how far it adds up."""

from typing import Literal

from fluid_build.modeling.element import ModelPart

Additivity = Literal["additive", "semi-additive", "non-additive"]
Aggregation = Literal["sum", "avg", "count", "count_distinct", "min", "max", "median"]


class MeasureRole(ModelPart):
    """How to aggregate a measure, and why."""

    aggregation: Aggregation
    additivity: Additivity
    reason: str
