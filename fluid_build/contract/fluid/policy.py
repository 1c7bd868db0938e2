"""Who may do what with the data: people, services, agents, and across which borders."""

from typing import Annotated, Literal

from fluid_build.contract.fluid.common import (
    ClosedModel,
    Count,
    Distinct,
    FreeForm,
    Maybe,
    OpenModel,
    PositiveCount,
    TaggedModel,
    TextPattern,
)

ModelName = Annotated[
    str,
    TextPattern(
        r"^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$",
        "a model's name of lower-case letters, digits, `-`, `_` and `.`, beginning and ending "
        "with a letter or digit",
    ),
]
AgentUseCase = Literal[
    "inference",
    "reasoning",
    "analysis",
    "summarization",
    "classification",
    "embedding",
    "search",
    "qa",
    "code_generation",
    "fine_tuning",
    "training",
    "rag",
]
Jurisdiction = Literal[
    "EU", "US", "UK", "CA", "AU", "JP", "CN", "IN", "BR", "Global", "Multi-Region"
]
TransferMechanism = Literal["SCCs", "BCRs", "Adequacy", "DPF", "Consent", "Derogation"]
RegulatoryFramework = Literal[
    "GDPR", "CCPA", "CPRA", "HIPAA", "PIPEDA", "LGPD", "PDPA", "POPIA", "DPA", "APPI"
]
Permission = Literal[
    "read",
    "select",
    "query",
    "write",
    "insert",
    "update",
    "delete",
    "create",
    "admin",
    "manage",
]


class ColumnRestriction(TaggedModel):
    """Columns that one principal may or may not see."""

    principal: Maybe[str] = None
    columns: Maybe[list[str]] = None
    access: Maybe[Literal["allow", "deny"]] = None


class Authorization(TaggedModel):
    """Who may read and write."""

    readers: Maybe[list[str]] = None
    writers: Maybe[list[str]] = None
    column_restrictions: Maybe[list[ColumnRestriction]] = None


class Masking(TaggedModel):
    """How the values of one column are hidden."""

    column: str
    strategy: Literal["mask", "hash", "tokenize", "encrypt", "k_anonymity"]
    params: Maybe[FreeForm] = None


class RowLevelPolicy(TaggedModel):
    """The condition that a row must meet to be seen."""

    expression: str


class Privacy(TaggedModel):
    """What is hidden, and from whom."""

    masking: Maybe[list[Masking]] = None
    row_level_policy: Maybe[RowLevelPolicy] = None


class AgentRetention(OpenModel):
    """How long an agent may keep what it read."""

    max_retention_days: Maybe[Count] = None
    require_deletion: Maybe[bool] = None


class AgentPolicy(TaggedModel):
    """Which models may read the data, for what, and how much of it."""

    allowed_models: Maybe[Annotated[list[ModelName], Distinct]] = None
    denied_models: Maybe[Annotated[list[str], Distinct]] = None
    max_tokens_per_request: Maybe[PositiveCount] = None
    max_tokens_per_day: Maybe[PositiveCount] = None
    allowed_use_cases: Maybe[Annotated[list[AgentUseCase], Distinct]] = None
    denied_use_cases: Maybe[Annotated[list[AgentUseCase], Distinct]] = None
    can_reason: Maybe[bool] = None
    can_store: Maybe[bool] = None
    retention_policy: Maybe[AgentRetention] = None
    audit_required: Maybe[bool] = None
    purpose_limitation: Maybe[str] = None


class ExposePolicy(TaggedModel):
    """Access, privacy and classification of what is exposed."""

    authn: Maybe[Literal["oidc", "oauth2", "api_key", "none", "custom", "iam", "jwt"]] = None
    authz: Maybe[Authorization] = None
    privacy: Maybe[Privacy] = None
    classification: Maybe[Literal["Public", "Internal", "Confidential", "Restricted"]] = None
    agent_policy: Maybe[AgentPolicy] = None


class Sovereignty(TaggedModel):
    """Under whose law the data stands, and where it may be."""

    jurisdiction: Maybe[Jurisdiction] = None
    allowed_regions: Maybe[Annotated[list[str], Distinct]] = None
    denied_regions: Maybe[Annotated[list[str], Distinct]] = None
    data_residency: Maybe[bool] = None
    cross_border_transfer: Maybe[bool] = None
    transfer_mechanisms: Maybe[Annotated[list[TransferMechanism], Distinct]] = None
    regulatory_framework: Maybe[Annotated[list[RegulatoryFramework], Distinct]] = None
    enforcement_mode: Maybe[Literal["strict", "advisory", "audit"]] = None
    validation_required: Maybe[bool] = None


class AccessGrant(ClosedModel):
    """What one principal may do, with which resources."""

    principal: str
    permissions: Maybe[Annotated[list[Permission], Distinct]] = None
    resources: Maybe[list[str]] = None
    conditions: Maybe[FreeForm] = None


class AccessPolicy(ClosedModel):
    """The grants of the whole product."""

    grants: Maybe[list[AccessGrant]] = None
