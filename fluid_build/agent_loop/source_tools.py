"""The tools that look around in a workspace: names and types, never values."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from pydantic import BaseModel, Field

from fluid_build.agent_loop.confinement import confined_tool
from fluid_build.assistants.paths import (
    MAX_ENTRIES,
    confined_source,
    files_below,
    is_readable_source,
    resolve_inside,
)
from fluid_build.assistants.text_samples import (
    MAX_SAMPLE_BYTES,
    SAMPLE_MEMORY,
    require_named_columns,
    start_of_file,
)
from fluid_build.copilot.errors import ForbiddenPathError
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.json_types import JsonObject
from fluid_build.sources import open_source
from fluid_build.temporary import owned_folder

_MOST_FILES = 200
_MOST_TABLES = 60
_MOST_COLUMNS = 80
"""Bounds of a tool's result: a conversation carries it for many turns."""


class DiscoverWorkspaceArgs(BaseModel):
    """The arguments of ``discover_workspace``."""

    folder: str = Field(default=".", description="A folder, relative to the workspace.")


class ReadSampleSchemaArgs(BaseModel):
    """The arguments of ``read_sample_schema``."""

    path: str = Field(description="Absolute or relative path to the sample file.")
    max_rows: int = Field(
        default=1000, ge=1, le=100_000, description="Cap on rows read for inference."
    )


@forge_tool(
    args_schema=DiscoverWorkspaceArgs,
    workspace_root_aware=True,
    read_only=True,
    tags=["workspace"],
)
@confined_tool
def discover_workspace(args: DiscoverWorkspaceArgs, *, workspace_root: Path) -> JsonObject:
    """List the files of the workspace, and which of them hold data."""
    root = workspace_root.resolve()
    folder = resolve_inside(root, args.folder)
    if not folder.is_dir():
        raise FileNotFoundError
    paths = list(islice(files_below(folder, root), MAX_ENTRIES))
    return {
        "files": [
            {
                "path": path.relative_to(root).as_posix(),
                "bytes": path.stat().st_size,
                "is_data": is_readable_source(path),
            }
            for path in paths[:_MOST_FILES]
        ],
        "more": max(0, len(paths) - _MOST_FILES),
    }


@forge_tool(
    args_schema=ReadSampleSchemaArgs,
    workspace_root_aware=True,
    read_only=True,
    tags=["workspace"],
)
@confined_tool
def read_sample_schema(args: ReadSampleSchemaArgs, *, workspace_root: Path) -> JsonObject:
    """Infer the schema of a single data file: its tables with columns and types."""
    place = confined_source(workspace_root, args.path, max_bytes=MAX_SAMPLE_BYTES)
    if place.is_dir():
        raise ForbiddenPathError("It is a folder.")
    with (
        owned_folder() as folder,
        open_source(
            start_of_file(place, folder.path, args.max_rows), memory_limit=SAMPLE_MEMORY
        ) as source,
    ):
        require_named_columns(source)
        tables = [
            {
                "name": table.name,
                "rows": source.connection.execute(
                    f"SELECT count(*) FROM (SELECT 1 FROM {table.relation} LIMIT ?)",
                    [args.max_rows],
                ).fetchall()[0][0],
                "columns": [
                    {"name": column.name, "type": column.type}
                    for column in table.columns[:_MOST_COLUMNS]
                ],
            }
            for table in source.tables[:_MOST_TABLES]
        ]
        more = max(0, len(source.tables) - _MOST_TABLES)
    return {"tables": tables, "rows_are_at_most": args.max_rows, "more": more}
