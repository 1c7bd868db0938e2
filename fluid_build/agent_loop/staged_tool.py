"""The staged tool: a whole forge as one tool, only with ``FLUID_FORGE_STAGED_TOOL_LOOP=1``.

Source: Authoring Forge Tools, "Registration & discovery".
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from fluid_build.agent_loop.confinement import confined_tool, desk_at
from fluid_build.assistants.jobs import Job
from fluid_build.copilot.tools.registry import STAGED_TOOL_REGISTRY, forge_tool
from fluid_build.forging import forge
from fluid_build.json_types import JsonObject


class ForgeDataModelArgs(BaseModel):
    """The arguments of ``forge_data_model``."""

    source: str = Field(description="A file or folder, relative to the workspace.")
    technique: Literal["flat", "data_vault_2", "dimensional"] = "flat"


@forge_tool(args_schema=ForgeDataModelArgs, workspace_root_aware=True, register=False)
@confined_tool
def forge_data_model(args: ForgeDataModelArgs, *, workspace_root: Path) -> JsonObject:
    """Model a source, build the model and prove it, and say what came out; writes nothing."""
    desk = desk_at(workspace_root)
    with desk.sources.opened(desk.workspace.source(args.source), Job()) as source:
        forged = forge(source, technique=args.technique)
    return {
        "technique": forged.model.technique,
        "built": [build.name for build in forged.plan.published],
        "relationships": len(forged.model.conceptual.relationships),
        "proof": forged.proof.verdict,
    }


_FORGE_DATA_MODEL_TOOL = forge_data_model
STAGED_TOOL_REGISTRY[forge_data_model.name] = forge_data_model
