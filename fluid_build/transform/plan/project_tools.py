"""The tools that a project which builds a plan may be written for."""

from typing import Literal, cast, get_args

from fluid_build.errors import unknown_name

ProjectTool = Literal["dbt", "sqlmesh"]
"""A tool by its name, which is that of its project's folder too."""
PROJECT_TOOLS: tuple[ProjectTool, ...] = get_args(ProjectTool)


def check_project_tool(name: str) -> ProjectTool:
    """Return the tool of a name; raise UsageError for an unknown one."""
    tool = name.strip().lower()
    if tool in PROJECT_TOOLS:
        return cast("ProjectTool", tool)
    raise unknown_name("tool", name, PROJECT_TOOLS)
