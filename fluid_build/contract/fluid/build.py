"""How the data is made: transformations, and when and where they run."""

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Tag, model_validator

from fluid_build.contract.fluid.common import (
    ClosedModel,
    FreeForm,
    Identifier,
    Labels,
    Maybe,
    OpenModel,
    PositiveCount,
    TaggedModel,
    TextPattern,
    problems,
    requires,
)
from fluid_build.contract.fluid.orchestration import Orchestration

ENGINES = ("dbt", "sql", "python", "spark", "glue", "custom")
Engine = Annotated[
    str,
    TextPattern(
        rf"^({'|'.join(ENGINES)})\Z|^dbt-[a-z0-9]+([_-][a-z0-9]+)*$",
        "`dbt`, `sql`, `python`, `spark`, `glue`, `custom`, or dbt with its adapter such as "
        "`dbt-duckdb`",
        ENGINES,
    ),
]
BuildPattern = Literal["hybrid-reference", "embedded-logic", "multi-stage"]


def _text_or_list(value: object) -> str | None:
    return "text" if isinstance(value, str) else "list" if isinstance(value, list) else None


OneOrMore = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[str], Tag("list")],
    Discriminator(_text_or_list),
]


class HybridReference(TaggedModel):
    """A model that is kept elsewhere (a dbt model) and named here."""

    model: str
    target: Maybe[str] = None
    select: Maybe[OneOrMore] = None
    models: Maybe[OneOrMore] = None
    vars: Maybe[FreeForm] = None
    materializations: Maybe[dict[str, Literal["table", "view", "incremental", "ephemeral"]]] = None


class EmbeddedLogic(TaggedModel):
    """The code itself."""

    sql: str
    language: Maybe[Literal["sql", "flink_sql", "pyspark", "scala", "python", "r"]] = None
    parameters: Maybe[FreeForm] = None


class RetryPolicy(OpenModel):
    """How often and how soon a failed run is tried again."""

    max_attempts: Maybe[PositiveCount] = None
    backoff_strategy: Maybe[Literal["fixed", "exponential", "linear"]] = None
    initial_delay: Maybe[str] = None
    max_delay: Maybe[str] = None


class Stage(TaggedModel):
    """One stage of several."""

    name: Maybe[str] = None
    pattern: Maybe[Literal["hybrid-reference", "embedded-logic"]] = None
    properties: Maybe[FreeForm] = None
    depends_on: Maybe[list[str]] = None
    outputs: Maybe[list[Identifier]] = None


class StageOrchestration(OpenModel):
    """How the stages run together."""

    parallelism: Maybe[PositiveCount] = None
    retry_policy: Maybe[RetryPolicy] = None


class MultiStage(TaggedModel):
    """Several stages, one after another."""

    stages: Maybe[list[Stage]] = None
    orchestration: Maybe[StageOrchestration] = None


class DatasetReference(OpenModel):
    """What another product exposes."""

    product_id: Identifier
    expose_id: Identifier
    version_constraint: Maybe[str] = None


def _text_or_reference(value: object) -> str | None:
    if isinstance(value, str):
        return "text"
    return "reference" if isinstance(value, dict | DatasetReference) else None


Dataset = Annotated[
    Annotated[str, Tag("text")] | Annotated[DatasetReference, Tag("reference")],
    Discriminator(_text_or_reference),
]


class Trigger(OpenModel):
    """What starts a run."""

    type: Maybe[
        Literal[
            "schedule",
            "event",
            "manual",
            "dependency",
            "dataset",
            "schedule_and_dataset",
            "timetable",
        ]
    ] = None
    schedule: Maybe[str] = None
    event: Maybe[str] = None
    condition: Maybe[str] = None
    datasets: Maybe[list[Dataset]] = None
    datasets_operator: Maybe[Literal["any", "all"]] = None
    cron: Maybe[str] = None
    timezone: Maybe[str] = None
    timetable: Maybe[FreeForm] = None


class Resources(OpenModel):
    """What a run may use up."""

    cpu: Maybe[str] = None
    memory: Maybe[str] = None
    disk: Maybe[str] = None


class Runtime(OpenModel):
    """Where a run happens."""

    resources: Maybe[Resources] = None
    timeout: Maybe[str] = None
    environment: Maybe[Labels] = None
    platform: Maybe[
        Literal[
            "gcp",
            "aws",
            "azure",
            "local",
            "kubernetes",
            "composer",
            "mwaa",
            "databricks",
            "snowflake",
        ]
    ] = None
    executor: Maybe[
        Literal["LocalExecutor", "CeleryExecutor", "KubernetesExecutor", "SequentialExecutor"]
    ] = None
    image: Maybe[str] = None
    service_account: Maybe[str] = None


class Notification(ClosedModel):
    """Who hears of a run's end."""

    type: Maybe[Literal["email", "slack", "webhook", "pagerduty"]] = None
    target: Maybe[str] = None
    condition: Maybe[Literal["success", "failure", "always"]] = None


class BuildExecution(ClosedModel):
    """When, where and how the build runs."""

    trigger: Maybe[Trigger] = None
    runtime: Maybe[Runtime] = None
    retries: Maybe[RetryPolicy] = None
    notifications: Maybe[list[Notification]] = None
    orchestration: Maybe[Orchestration] = None


class BuildDependency(ClosedModel):
    """A build that must have run before."""

    build_id: Maybe[Identifier] = None
    condition: Maybe[Literal["success", "completion", "always"]] = None


class Transformation(TaggedModel):
    """A named step of the build."""

    name: str
    model: Maybe[str] = None
    outputs: Maybe[list[Identifier]] = None


class _Build(TaggedModel):
    id: Maybe[Identifier] = None
    description: Maybe[str] = None
    pattern: Maybe[BuildPattern] = None
    engine: Maybe[Engine] = None
    repository: Maybe[str] = None
    execution: Maybe[BuildExecution] = None
    outputs: Maybe[list[Identifier]] = None
    dependencies: Maybe[list[BuildDependency]] = None
    transformations: Maybe[list[Transformation]] = None


class HybridReferenceBuild(_Build):
    """A build whose model is kept elsewhere."""

    pattern: Literal["hybrid-reference"]
    properties: Maybe[HybridReference] = None


class EmbeddedLogicBuild(_Build):
    """A build that carries its code."""

    pattern: Literal["embedded-logic"]
    properties: Maybe[EmbeddedLogic] = None


class MultiStageBuild(_Build):
    """A build in several stages."""

    pattern: Literal["multi-stage"]
    properties: Maybe[MultiStage] = None


class UnpatternedBuild(_Build):
    """A build that does not say its pattern, and so can have no properties.

    The schema applies the conditions of every pattern to such a build, and no properties can
    satisfy them all.
    """

    properties: Maybe[FreeForm] = None

    @model_validator(mode="after")
    def _says_its_pattern(self) -> Self:
        if self.properties is not None:
            raise problems(requires("pattern", of="a build with `properties`"))
        return self


_PATTERNED = ("hybrid-reference", "embedded-logic", "multi-stage")


def _pattern_of(value: object) -> str:
    pattern: object
    if isinstance(value, _Build):
        pattern = value.pattern
    else:
        pattern = value.get("pattern") if isinstance(value, dict) else None
    return pattern if isinstance(pattern, str) and pattern in _PATTERNED else "unpatterned"


Build = Annotated[
    Annotated[HybridReferenceBuild, Tag("hybrid-reference")]
    | Annotated[EmbeddedLogicBuild, Tag("embedded-logic")]
    | Annotated[MultiStageBuild, Tag("multi-stage")]
    | Annotated[UnpatternedBuild, Tag("unpatterned")],
    Discriminator(_pattern_of),
]
