"""The tools that propose and check contracts, and say what can be made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from fluid_build.agent_loop.workspace import confined_tool, profiled
from fluid_build.contract.read.files import validate_file
from fluid_build.contract.validation import Finding, validate
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.copilot.tools.confinement import resolve_confined
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.errors import FluidError
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
_MOST_FINDINGS = 20


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


class ValidateContractArgs(BaseModel):
    """The arguments of ``validate_contract``: a document, or else a path."""

    contract: dict[str, Any] | None = Field(default=None, description="A FLUID contract.")
    path: str | None = Field(
        default=None, description="A contract file, relative to the workspace."
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
        return {
            "error": "ToolValidationError",
            "message": "context.data_sources must name a file or folder of the workspace.",
        }
    if args.template not in TEMPLATES:
        return {
            "error": "ToolValidationError",
            "message": f"Unknown template. Known: {', '.join(TEMPLATES)}.",
        }
    technique = "flat" if args.template == "starter" else args.template
    target = _PROVIDERS.get(args.provider.lower(), args.provider)
    with profiled(workspace_root, first) as (source, _):
        try:
            forged = forge(source, technique=technique, target=target)
        except FluidError as error:
            return {"error": type(error).__name__, "message": "The model can't be built."}
    return _proposal(forged)


@forge_tool(
    args_schema=ValidateContractArgs, workspace_root_aware=True, read_only=True, tags=["contract"]
)
@confined_tool
def validate_contract(args: ValidateContractArgs, *, workspace_root: Path) -> JsonObject:
    """Check a contract against FLUID 0.7.2, and say what is wrong where."""
    if (args.contract is None) == (args.path is None):
        return {"error": "ToolValidationError", "message": "Pass either contract or path."}
    findings = contract_findings(args, workspace_root)
    return {
        "valid": not findings,
        "findings": [
            {"path": f.path, "message": f.message, "found": f.found, "allowed": f.allowed}
            for f in findings[:_MOST_FINDINGS]
        ],
        "more": max(0, len(findings) - _MOST_FINDINGS),
    }


def contract_findings(args: ValidateContractArgs, workspace_root: Path) -> tuple[Finding, ...]:
    """Return everything that is wrong with a document, or else with a file of the workspace."""
    if args.path is None:
        return validate(args.contract)
    path = resolve_confined(workspace_root, args.path, suffixes=[".yaml", ".yml", ".json"])
    return validate_file(path)


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
