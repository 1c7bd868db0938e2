"""What is promised about the quality of the data."""

from typing import Annotated, Literal

from fluid_build.contract.fluid.common import (
    FreeForm,
    IsoDuration,
    Maybe,
    Number,
    OpenModel,
    TaggedModel,
)
from fluid_build.contract.fluid.sections import SECTIONS

DqRuleType = Literal[
    "freshness",
    "completeness",
    "uniqueness",
    "valid_values",
    "accuracy",
    "schema",
    "anomaly_detection",
    "drift_detection",
]
DqSeverity = Literal["info", "warn", "error", "critical"]


class DqRule(TaggedModel):
    """A rule that the data is checked against."""

    id: str
    type: DqRuleType
    selector: Maybe[str] = None
    threshold: Maybe[Number] = None
    operator: Maybe[Literal[">=", ">", "<=", "<", "==", "!="]] = None
    window: Maybe[IsoDuration] = None
    severity: DqSeverity
    description: Maybe[str] = None


class DqSpec(TaggedModel):
    """The quality rules of what is exposed."""

    rules: Maybe[list[DqRule]] = None
    monitoring: Maybe[Annotated[FreeForm, SECTIONS["dq-monitoring"]]] = None


class QualityExpression(OpenModel):
    """A quality rule written as an expression."""

    rule: str
    expression: str
    severity: Literal["error", "warning", "info"]
