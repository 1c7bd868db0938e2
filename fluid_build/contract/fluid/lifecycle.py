"""How what is exposed lives and changes, and where it is described."""

from typing import Literal

from fluid_build.contract.fluid.common import Count, IsoDuration, Maybe, TaggedModel

LifecycleState = Literal["preview", "active", "deprecated", "retired"]


class DeprecationPolicy(TaggedModel):
    """How its end is announced."""

    notice_period: Maybe[IsoDuration] = None
    contact: Maybe[str] = None
    replacement: Maybe[str] = None


class Lifecycle(TaggedModel):
    """The stage of its life, and how long its data is kept."""

    state: Maybe[LifecycleState] = None
    retention: Maybe[IsoDuration] = None
    deprecation_policy: Maybe[DeprecationPolicy] = None


class Docs(TaggedModel):
    """Links for readers."""

    homepage: Maybe[str] = None
    runbook: Maybe[str] = None
    dictionary: Maybe[str] = None
    change_log: Maybe[str] = None


class ChangePolicy(TaggedModel):
    """Who agrees to a change, and how long before."""

    change_window_days: Maybe[Count] = None
    approval_required: Maybe[bool] = None
    approvers: Maybe[list[str]] = None


class SchemaEvolution(TaggedModel):
    """How the schema may change from version to version."""

    strategy: Maybe[Literal["semantic_versioning", "date_based", "sequential"]] = None
    compatibility: Maybe[
        Literal["backward_compatible", "forward_compatible", "full_compatible", "breaking"]
    ] = None
    change_policy: Maybe[ChangePolicy] = None
