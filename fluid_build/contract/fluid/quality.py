"""What is promised of the data's quality and of the service, and how it is watched."""

from typing import Annotated, Literal

from pydantic import Field

from fluid_build.contract.fluid.common import (
    AlertSeverity,
    ClosedModel,
    IsoDuration,
    Maybe,
    Number,
    OpenModel,
    Percent,
    Share,
    TaggedModel,
    TextPattern,
)

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
Availability = Annotated[
    str,
    TextPattern(
        r"^(100(\.0+)?|\d{2}(\.\d+)?)%$",
        "a percentage of two digits before the point, such as `99.9%`, or `100%`",
    ),
]


class DqRule(TaggedModel):
    """A rule that the data is held against."""

    id: str
    type: DqRuleType
    selector: Maybe[str] = None
    threshold: Maybe[Number] = None
    operator: Maybe[Literal[">=", ">", "<=", "<", "==", "!="]] = None
    window: Maybe[IsoDuration] = None
    severity: DqSeverity
    description: Maybe[str] = None


class DqMonitoring(ClosedModel):
    """Whether, how often and by whom the rules are watched."""

    enabled: Maybe[bool] = None
    window: Maybe[IsoDuration] = None
    owner: Maybe[str] = None


class DqSpec(TaggedModel):
    """The quality rules of what is exposed."""

    rules: Maybe[list[DqRule]] = None
    monitoring: Maybe[DqMonitoring] = None


class QualityExpression(OpenModel):
    """A quality rule written as an expression."""

    rule: str
    expression: str
    severity: Literal["error", "warning", "info"]


class ExposeQoS(TaggedModel):
    """The level of service that consumers may count on."""

    availability: Maybe[Availability] = None
    freshness_slo: Annotated[Maybe[IsoDuration], Field(alias="freshnessSLO")] = None
    data_loss_slo: Annotated[Maybe[str], Field(alias="dataLossSLO")] = None
    latency_p95: Annotated[Maybe[IsoDuration], Field(alias="latencyP95")] = None
    completeness_target: Maybe[Share] = None
    error_budget: Maybe[Share] = None


class ObservedMetric(ClosedModel):
    """A metric, and where it is measured."""

    name: str
    source: str
    sli: Maybe[str] = None


class BreachAction(TaggedModel):
    """Who is told, and how, when a promise is broken."""

    type: Literal["slack", "email", "webhook", "pagerduty", "custom"]
    channel: Maybe[str] = None
    target: Maybe[str] = None
    url: Maybe[str] = None
    severity: Maybe[AlertSeverity] = None


class FreshnessSli(TaggedModel):
    """How old the data may be."""

    enabled: Maybe[bool] = None
    threshold: Maybe[IsoDuration] = None
    severity: Maybe[AlertSeverity] = None


class CompletenessSli(TaggedModel):
    """What share of the data must be there."""

    enabled: Maybe[bool] = None
    threshold: Maybe[Share] = None
    severity: Maybe[AlertSeverity] = None


class LatencySli(TaggedModel):
    """How fast an answer must come, at a percentile."""

    enabled: Maybe[bool] = None
    threshold: Maybe[IsoDuration] = None
    percentile: Maybe[Percent] = None
    severity: Maybe[AlertSeverity] = None


class DefaultSlis(TaggedModel):
    """The indicators that are watched without being asked for."""

    enabled: Maybe[bool] = None
    freshness: Maybe[FreshnessSli] = None
    completeness: Maybe[CompletenessSli] = None
    latency: Maybe[LatencySli] = None


class Observability(TaggedModel):
    """What is measured, and what happens on a breach."""

    metrics: Maybe[list[ObservedMetric]] = None
    on_breach: Maybe[list[BreachAction]] = None
    default_slis: Annotated[Maybe[DefaultSlis], Field(alias="defaultSLIs")] = None
