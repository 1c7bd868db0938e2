"""The built-in tools, in the order in which a model reads about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fluid_build.agent_loop.confinement import confined_tool, desk_at
from fluid_build.agent_loop.contract_tools import (
    list_schedulers,
    list_templates,
    propose_contract,
)
from fluid_build.agent_loop.source_tools import discover_workspace, read_sample_schema
from fluid_build.assistants.arguments import ToolArguments
from fluid_build.assistants.jobs import Job
from fluid_build.assistants.tools import find_tool
from fluid_build.copilot.tools.definition import ForgeTool
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.json_types import JsonObject


def _tool_of_assistants(name: str, tag: str) -> ForgeTool[..., JsonObject]:
    """Declare a tool that any assistant has, at the desk of the loop's workspace."""
    tool = find_tool(name)

    @confined_tool
    def call(args: ToolArguments, *, workspace_root: Path) -> JsonObject:
        return tool.answer(desk_at(workspace_root), args, Job())

    declare: Any = forge_tool(
        name=name,
        # The first sentence: the prompt says when to call it.
        description=f"{tool.description.partition('. ')[0].rstrip('.')}.",
        args_schema=tool.arguments,
        workspace_root_aware=True,
        read_only=not tool.writes,
        tags=[tag],
    )
    declared: ForgeTool[..., JsonObject] = declare(call)
    return declared


BUILTIN_TOOLS = (
    discover_workspace,
    read_sample_schema,
    _tool_of_assistants("profile_source", "evidence"),
    _tool_of_assistants("describe_table", "evidence"),
    _tool_of_assistants("check_key", "evidence"),
    _tool_of_assistants("check_relationship", "evidence"),
    _tool_of_assistants("search_memory", "memory"),
    list_templates,
    list_schedulers,
    propose_contract,
    _tool_of_assistants("validate_contract", "contract"),
)
"""They are in the registry too, as soon as this module is imported."""
