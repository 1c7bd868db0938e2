"""The tools that propose contracts, and say what can be made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from fluid_build.agent_loop.confinement import confined_tool, desk_at, refusal
from fluid_build.assistants.jobs import Job
from fluid_build.assistants.workspace import Place
from fluid_build.contract.validation import validate
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.errors import FluidError, UsageError
from fluid_build.forging import Forged, forge
from fluid_build.json_types import JsonObject
from fluid_build.modeling.techniques import TECHNIQUES
from fluid_build.text import as_sentence, clip
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
_MOST_SOURCES = 20
"""Sources of a product: far more than one has, and each is read whole."""
_MOST_PURPOSE = 500
"""Characters of a goal or a use case: a few sentences, which a reader of the contract wants."""
_OF_SEVERAL = "data_vault_2"
"""The template of several sources: hubs are what they share."""
_PURPOSES = ("project_goal", "use_case")
_KNOWN = ("data_sources", *_PURPOSES)


class ProposeContractArgs(BaseModel):
    """The arguments of ``propose_contract``."""

    model_config = ConfigDict(extra="allow")

    context: dict[str, Any] = Field(
        description="What the product is for: project_goal and use_case in words, and data_sources,"
        " a list of files or folders of the workspace, which are read as one."
    )
    template: str = Field(
        default="starter", description="A name of list_templates; data_vault_2 for several."
    )
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
    """Propose a data contract for sources of the workspace, built and proven in memory."""
    names, purpose = _sources(args.context), _purpose(args.context)
    technique = _technique(args, len(names))
    target = _PROVIDERS.get(args.provider.lower(), args.provider)
    desk = desk_at(workspace_root)
    place = _combined([desk.workspace.source(name) for name in names])
    with desk.sources.opened(place, Job()) as source:
        try:
            forged = forge(source, technique=technique, target=target)
        except FluidError as error:
            return refusal(type(error).__name__, "The model can't be built.")
    proposal = _proposal(_for_purpose(forged, purpose))
    unused = sorted({*args.context, *(args.model_extra or {})} - {*_KNOWN})
    return proposal if not unused else {**proposal, "unused": [clip(each, 100) for each in unused]}


def _technique(args: ProposeContractArgs, sources: int) -> str:
    """Return the technique of a template; raise UsageError for one that can't be made of them."""
    if args.template not in TEMPLATES:
        raise UsageError(f"Unknown template. Known: {', '.join(TEMPLATES)}.")
    is_chosen = "template" in args.model_fields_set
    if sources > 1 and is_chosen and args.template != _OF_SEVERAL:
        raise UsageError(
            f"context.data_sources has {sources} entries, and only {_OF_SEVERAL} is made of several"
            f" sources. Choose that template, or propose a contract of each source."
        )
    if sources > 1:
        return _OF_SEVERAL
    return "flat" if args.template == "starter" else args.template


def _sources(context: dict[str, Any]) -> list[str]:
    """Return the names of all sources; raise UsageError for what names none."""
    given = context.get("data_sources")
    names = given if isinstance(given, list) else [given]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise UsageError("context.data_sources must name files or folders of the workspace.")
    if len(names) > _MOST_SOURCES:
        raise UsageError(f"context.data_sources has more than {_MOST_SOURCES} entries.")
    return [*dict.fromkeys(names)]


def _purpose(context: dict[str, Any]) -> str:
    """Return the goal and the use case as sentences; raise UsageError for one that isn't a text."""
    sentences = []
    for field in _PURPOSES:
        text = context.get(field, "")
        if not isinstance(text, str):
            raise UsageError(f"context.{field} must be a text.")
        if text.strip():
            sentences.append(as_sentence(clip(" ".join(text.split()), _MOST_PURPOSE)))
    return " ".join(sentences)


def _combined(places: list[Place]) -> Place:
    """Return one place for several: their tables are read as one source."""
    if len(places) == 1:
        return places[0]
    return Place(
        ", ".join(place.shown for place in places),
        tuple(request for place in places for request in place.requests),
        lambda: tuple(state for place in places for state in place.files()),
    )


def _for_purpose(forged: Forged, purpose: str) -> Forged:
    """Return what was forged, with a contract whose description says what it's for."""
    if not purpose:
        return forged
    contract = forged.contract
    description = f"{purpose} {contract.description or ''}".strip()
    return replace(forged, contract=contract.model_copy(update={"description": description}))


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
        "description": forged.contract.description,
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
