"""The tools that propose contracts, and say what can be made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from fluid_build.agent_loop.confinement import confined_tool, desk_at, refusal
from fluid_build.assistants.jobs import Job
from fluid_build.contract.validation import validate
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.errors import FluidError, UsageError
from fluid_build.forging import Forged, forge
from fluid_build.json_types import JsonObject
from fluid_build.modeling.techniques import TECHNIQUES
from fluid_build.transform.dbt.targets import TARGET_LABELS

TEMPLATES = {
    "starter": "One relation for each table, under its own name, typed and tested.",
    "flat": "The same as starter.",
    "data_vault_2": "Hubs, links and satellites that keep the history of every source row.",
    "dimensional": "Facts and dimensions with a calendar, for reporting.",
}
_PROVIDERS = {"local": "duckdb", "gcp": "bigquery", "aws": "databricks", "snowflake": "snowflake"}
"""The warehouse that a contract is written for, by the platforms that other tools name."""

SCHEDULERS = {
    "airflow": "A DAG with one task that runs `dbt build`.",
    "dagster": "A job of the dbt assets.",
    "prefect": "A flow that runs `dbt build`.",
    "kubeflow": "A pipeline with one step that runs `dbt build`.",
    "custom": "Whatever runs a command: cron, CI, a workflow of your own.",
    "none": "Nobody schedules it: you run `dbt build` yourself.",
}
"""The orchestration engines of a FLUID contract, and how each would run the dbt project."""

_MOST_CONTRACT_CHARS = 20_000


class ProposeContractArgs(BaseModel):
    """The arguments of ``propose_contract``."""

    model_config = ConfigDict(extra="allow")

    context: dict[str, Any] = Field(
        description="What the product is for: project_goal, use_case, and data_sources, a list of"
        " files or folders of the workspace (the first is used)."
    )
    template: str = Field(default="starter", description="A name that list_templates returns.")
    provider: str = Field(
        default="local", description="local, gcp, aws, snowflake, or the name of a warehouse."
    )


class NoArgs(BaseModel):
    """No arguments."""


@forge_tool(
    args_schema=ProposeContractArgs, workspace_root_aware=True, read_only=True, tags=["contract"]
)
@confined_tool
def propose_contract(args: ProposeContractArgs, *, workspace_root: Path) -> JsonObject:
    """Propose a data contract for a source of the workspace, built and proven in memory."""
    sources = args.context.get("data_sources")
    first = sources[0] if isinstance(sources, list) and sources else sources
    if not isinstance(first, str):
        raise UsageError("context.data_sources must name a file or folder of the workspace.")
    if args.template not in TEMPLATES:
        raise UsageError(f"Unknown template. Known: {', '.join(TEMPLATES)}.")
    technique = "flat" if args.template == "starter" else args.template
    target = _PROVIDERS.get(args.provider.lower(), args.provider)
    desk = desk_at(workspace_root)
    with desk.sources.opened(desk.workspace.source(first), Job()) as source:
        try:
            forged = forge(source, technique=technique, target=target)
        except FluidError as error:
            return refusal(type(error).__name__, "The model can't be built.")
    return _proposal(forged)


@forge_tool(args_schema=NoArgs, read_only=True, tags=["contract"])
def list_templates(_args: NoArgs) -> JsonObject:
    """List the kinds of models that can be made, and the warehouses they can be written for."""
    return {
        "templates": [{"name": name, "about": about} for name, about in TEMPLATES.items()],
        "techniques": list(TECHNIQUES),
        "warehouses": [{"name": name, "about": label} for name, label in TARGET_LABELS.items()],
    }


@forge_tool(args_schema=NoArgs, read_only=True, tags=["contract"])
def list_schedulers(_args: NoArgs) -> JsonObject:
    """List the orchestration engines that a contract can name."""
    return {"schedulers": [{"name": name, "about": about} for name, about in SCHEDULERS.items()]}


def _proposal(forged: Forged) -> JsonObject:
    document = as_document(forged.contract)
    proposal: dict[str, Any] = {
        "valid": not [f for f in validate(document) if f.level == "error"],
        "proof": forged.proof.verdict,
        "exposes": [
            {"id": expose.expose_id, "columns": len(expose.contract.columns or ())}
            for expose in forged.contract.exposes
        ],
    }
    if len(to_json(document)) <= _MOST_CONTRACT_CHARS:
        proposal["contract"] = document
    else:
        proposal["note"] = "The contract is too long for an answer; the forge writes it."
    return proposal
