"""When and in which order the product's tasks run."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fluid_build.contract.fluid.common import (
    Count,
    FreeForm,
    Identifier,
    Integer,
    IsoDuration,
    Maybe,
    Number,
    OpenModel,
    OrchestrationEngine,
    PositiveCount,
    Problem,
    TextPattern,
    expects,
    problems,
    requires,
)

TaskType = Literal[
    "provider_action",
    "fluid_validate",
    "fluid_plan",
    "fluid_apply",
    "fluid_execute",
    "fluid_verify",
    "fluid_dq_check",
    "bash",
    "python",
    "branch_python",
    "sensor",
    "email",
    "http",
    "snowflake_query",
    "bigquery_query",
    "bigquery_job",
    "glue_job",
    "databricks_job",
    "custom",
]
TaskProvider = Literal[
    "aws",
    "gcp",
    "azure",
    "snowflake",
    "databricks",
    "kafka",
    "kubernetes",
    "local",
    "custom",
]
ProviderAction = Annotated[
    str,
    TextPattern(
        r"^[a-z0-9_]+\.[a-z0-9_]+$",
        "a service and its action, lower case, with one point between, such as `s3.ensure_bucket`",
    ),
]


class ProducedDataset(OpenModel):
    """What a task writes."""

    expose_id: Identifier
    dataset: Maybe[str] = None
    update_strategy: Maybe[Literal["replace", "append", "merge", "upsert"]] = None


class ProductDependency(OpenModel):
    """Another product that a task waits for."""

    product_id: Identifier
    expose_id: Identifier
    version_constraint: Maybe[str] = None
    await_freshness: Maybe[IsoDuration] = None


class XcomPush(OpenModel):
    """A value that a task hands on."""

    key: Maybe[str] = None
    value: Any = None
    serializer: Maybe[Literal["json", "pickle", "cloudpickle", "custom"]] = None


class XcomPull(OpenModel):
    """A value that a task takes from another."""

    key: Maybe[str] = None
    task_id: Annotated[Maybe[str], Field(alias="task_id")] = None
    dag_id: Annotated[Maybe[str], Field(alias="dag_id")] = None
    map_indexes: Annotated[Maybe[list[Any]], Field(alias="map_indexes")] = None


class Xcom(OpenModel):
    """What tasks say to each other."""

    push: Maybe[list[XcomPush]] = None
    pull: Maybe[list[XcomPull]] = None


class TaskAccess(OpenModel):
    """Who may run a task, and who must agree."""

    required_roles: Maybe[list[str]] = None
    approval_required: Maybe[bool] = None
    approvers: Maybe[list[str]] = None


class ComputeCost(OpenModel):
    """What computing costs."""

    units: Maybe[Number] = None
    price_per_unit: Maybe[Number] = None
    currency: Maybe[str] = None


class StorageCost(OpenModel):
    """What storing costs."""

    units: Maybe[Number] = None
    price_per_unit: Maybe[Number] = None


class TaskBudget(OpenModel):
    """How much may be spent, and what happens then."""

    monthly: Maybe[Number] = None
    stop_on_exceed: Maybe[bool] = None
    alert_on_exceed: Maybe[bool] = None


class CostEstimate(OpenModel):
    """What a task is expected to cost."""

    compute: Maybe[ComputeCost] = None
    storage: Maybe[StorageCost] = None
    total: Maybe[Number] = None
    track_actual: Maybe[bool] = None
    alert_threshold: Maybe[Number] = None
    budget: Maybe[TaskBudget] = None


class AirflowTask(OpenModel):
    """One task of a DAG.

    The schema's conditions on ``params`` hold where the task *may* be of a kind: a task that says
    neither its ``type`` nor an ``operator`` must satisfy them all.
    """

    task_id: Identifier
    type: Maybe[TaskType] = None
    operator: Maybe[str] = None
    provider: Maybe[TaskProvider] = None
    action: Maybe[ProviderAction] = None
    build_step_ref: Maybe[str] = None
    dependencies: Maybe[list[str]] = None
    params: Maybe[FreeForm] = None
    produces: Maybe[list[ProducedDataset]] = None
    data_product_dependencies: Maybe[list[ProductDependency]] = None
    overrides: Maybe[FreeForm] = None
    doc: Maybe[str] = None
    doc_md: Maybe[str] = None
    ui_color: Maybe[str] = None
    ui_fgcolor: Maybe[str] = None
    xcom: Maybe[Xcom] = None
    access_control: Maybe[TaskAccess] = None
    cost_estimate: Maybe[CostEstimate] = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        found = [*self._missing_for_provider(), *self._missing_params()]
        if found:
            raise problems(*found)
        return self

    def _missing_for_provider(self) -> list[Problem]:
        if self.type != "provider_action":
            return []
        why = "a task of type `provider_action`"
        given = {"provider": self.provider, "action": self.action, "params": self.params}
        return [requires(key, of=why) for key, value in given.items() if value is None]

    def _missing_params(self) -> list[Problem]:
        if self.params is None:
            return []
        found: list[Problem] = []
        if self._may_be("fluid_execute", "FluidExecute"):
            of = self._told_as("fluid_execute")
            if "contract_path" not in self.params:
                found.append(requires("contract_path", under=("params",), of=of))
            for key in ("contract_path", "build_id"):
                if key in self.params and not isinstance(self.params[key], str):
                    found.append(expects("text", under=("params", key), value=self.params[key]))
        for kind, mark, keys in (
            ("bash", "Bash", ("bash_command", "command")),
            ("python", "Python", ("python_callable", "callable")),
        ):
            if self._may_be(kind, mark) and not any(key in self.params for key in keys):
                found.append(requires(*keys, under=("params",), of=self._told_as(kind)))
        return found

    def _may_be(self, kind: str, mark: str) -> bool:
        return self.type in (None, kind) or self.operator is None or mark in self.operator

    def _told_as(self, kind: str) -> str:
        if self.type == kind or (self.type and self.operator):
            return f"the task, being a {kind} task,"
        unsaid = "type" if self.type is None else "operator"
        return f"the task does not say its `{unsaid}`, so it may be a {kind} task, which"


class AirflowSensor(OpenModel):
    """A task that waits for something outside."""

    task_id: str
    sensor_type: Literal[
        "FileSensor",
        "ExternalTaskSensor",
        "TimeSensor",
        "HttpSensor",
        "S3KeySensor",
        "GCSObjectSensor",
        "custom",
    ]
    params: Maybe[FreeForm] = None
    pok_interval: Maybe[PositiveCount] = None
    timeout: Maybe[PositiveCount] = None
    mode: Maybe[Literal["poke", "reschedule"]] = None
    dependencies: Maybe[list[str]] = None


class DagConfig(OpenModel):
    """The settings of a DAG."""

    description: Maybe[str] = None
    schedule: Maybe[str] = None
    start_date: Maybe[str] = None
    end_date: Maybe[str] = None
    catchup: Maybe[bool] = None
    max_active_runs: Maybe[PositiveCount] = None
    dag_run_timeout: Maybe[IsoDuration] = None
    default_args: Maybe[FreeForm] = None
    tags: Maybe[list[str]] = None
    on_success_callback: Maybe[str] = None
    on_failure_callback: Maybe[str] = None
    sla_callback: Maybe[str] = None


class ErrorAction(OpenModel):
    """What is done about an error."""

    action: Maybe[Literal["notify", "create_incident", "log", "custom"]] = None
    channel: Maybe[str] = None
    severity: Maybe[Literal["low", "medium", "high", "critical"]] = None
    when: Maybe[Literal["always", "maxAttemptsExceeded", "nonRetryableError"]] = None


class ErrorHandling(OpenModel):
    """Which errors are tried again, and how."""

    strategy: Maybe[Literal["fixed", "exponential_backoff", "linear_backoff"]] = None
    retryable_errors: Maybe[list[str]] = None
    non_retryable_errors: Maybe[list[str]] = None
    on_error: Maybe[list[ErrorAction]] = None


class TaskDefaults(OpenModel):
    """What holds for every task that does not say otherwise."""

    retries: Maybe[Count] = None
    retry_delay: Maybe[IsoDuration] = None
    execution_timeout: Maybe[IsoDuration] = None
    pool: Maybe[str] = None
    queue: Maybe[str] = None
    priority: Maybe[Integer] = None
    trigger_rule: Maybe[
        Literal[
            "all_success",
            "all_failed",
            "all_done",
            "one_success",
            "one_failed",
            "none_failed",
            "none_skipped",
        ]
    ] = None
    error_handling: Maybe[ErrorHandling] = None


class TaskGroup(OpenModel):
    """Tasks that belong together."""

    group_id: str
    description: Maybe[str] = None
    tasks: Maybe[list[AirflowTask]] = None


class AirflowOrchestration(OpenModel):
    """A DAG: its settings, tasks and sensors."""

    dag_id: Identifier
    dag_config: Maybe[DagConfig] = None
    task_defaults: Maybe[TaskDefaults] = None
    tasks: Maybe[Annotated[list[AirflowTask], Field(min_length=1)]] = None
    sensors: Maybe[list[AirflowSensor]] = None
    task_groups: Maybe[list[TaskGroup]] = None


class Orchestration(OpenModel):
    """The engine that runs the product, and its settings."""

    engine: OrchestrationEngine
    mode: Maybe[Literal["generated", "manual", "hybrid"]] = None
    generate_on_change: Maybe[bool] = None
    airflow: Maybe[AirflowOrchestration] = None
    dagster: Maybe[FreeForm] = None
    prefect: Maybe[FreeForm] = None
