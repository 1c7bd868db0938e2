"""The tools that look at the data of a workspace: names, types and figures, never values."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from pydantic import BaseModel, Field

from fluid_build.agent_loop.text_samples import (
    MAX_SAMPLE_BYTES,
    SAMPLE_MEMORY,
    require_named_columns,
    start_of_file,
)
from fluid_build.agent_loop.workspace import (
    MAX_ENTRIES,
    confined_source,
    confined_tool,
    files_below,
    is_readable_source,
    profiled,
    resolve_inside,
)
from fluid_build.copilot.errors import ForbiddenPathError
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.decisions.language import AddRelationship, AnyDecision, KeyColumns, SetKey
from fluid_build.decisions.weighing import weigh
from fluid_build.json_types import JsonObject
from fluid_build.profiling.profile import ForeignKey, TableProfile
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


class ProfileSourceArgs(BaseModel):
    """The arguments of ``profile_source``."""

    source: str = Field(description="A file or folder, relative to the workspace.")
    tables: list[str] = Field(
        default_factory=list,
        max_length=_MOST_TABLES,
        description="Tables to describe with their columns; by default the first ones.",
    )


class CheckKeyArgs(BaseModel):
    """The arguments of ``check_key``."""

    source: str = Field(description="A file or folder, relative to the workspace.")
    table: str = Field(description="A table of the source.")
    columns: KeyColumns = Field(description="The columns that may identify its rows.")


class CheckRelationshipArgs(BaseModel):
    """The arguments of ``check_relationship``."""

    source: str = Field(description="A file or folder, relative to the workspace.")
    from_table: str = Field(description="The table that refers.")
    from_columns: KeyColumns = Field(description="Its columns.")
    to_table: str = Field(description="The table that is referred to.")
    to_columns: KeyColumns = Field(description="Its columns, in the same order.")


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


@forge_tool(
    args_schema=ProfileSourceArgs, workspace_root_aware=True, read_only=True, tags=["evidence"]
)
@confined_tool
def profile_source(args: ProfileSourceArgs, *, workspace_root: Path) -> JsonObject:
    """Measure a source: keys, relationships and columns, each with its figures."""
    with profiled(workspace_root, args.source) as (_, profile):
        requested = set(args.tables)
        tables = [t for t in profile.tables if not requested or t.name in requested]
        return {
            "tables": [_table(table) for table in tables[:_MOST_TABLES]],
            "more": [table.name for table in tables[_MOST_TABLES:]],
            "relationships": [
                _relationship(key)
                for key in profile.foreign_keys
                if not requested or {key.from_table, key.to_table} & requested
            ],
            "open_questions": [
                {
                    "from": [candidate.from_table, *candidate.from_columns],
                    "to": [candidate.to_table, *candidate.to_columns],
                    "confidence": round(candidate.confidence, 2),
                    "why_not": candidate.reason,
                }
                for candidate in profile.candidates[:_MOST_TABLES]
            ],
            "unknown_tables": sorted(requested - {table.name for table in profile.tables}),
            "skipped": [table.name for table in profile.skipped],
        }


@forge_tool(args_schema=CheckKeyArgs, workspace_root_aware=True, read_only=True, tags=["evidence"])
@confined_tool
def check_key(args: CheckKeyArgs, *, workspace_root: Path) -> JsonObject:
    """Check on every row whether columns identify the rows of a table."""
    return _weighed(
        workspace_root, args.source, SetKey(by="model", table=args.table, columns=args.columns)
    )


@forge_tool(
    args_schema=CheckRelationshipArgs, workspace_root_aware=True, read_only=True, tags=["evidence"]
)
@confined_tool
def check_relationship(args: CheckRelationshipArgs, *, workspace_root: Path) -> JsonObject:
    """Check on every row whether columns of one table refer to another."""
    if len(args.from_columns) != len(args.to_columns):
        return {
            "error": "ToolValidationError",
            "message": "from_columns and to_columns pair by position.",
        }
    claim = AddRelationship(
        by="model",
        from_table=args.from_table,
        from_columns=args.from_columns,
        to_table=args.to_table,
        to_columns=args.to_columns,
    )
    return _weighed(workspace_root, args.source, claim)


def _weighed(root: Path, path: str, decision: AnyDecision) -> JsonObject:
    with profiled(root, path) as (source, profile):
        (verdict,) = weigh(source, profile, [decision])
    figures = verdict.evidence
    return {
        "holds": verdict.status == "accepted",
        "finding": verdict.message,
        "figures": None
        if figures is None
        else figures.model_dump(mode="json", exclude_none=True, exclude={"sql"}),
    }


def _table(table: TableProfile) -> JsonObject:
    return {
        "name": table.name,
        "rows": table.rows,
        "primary_key": list(table.primary_key or ()),
        "candidate_keys": [list(key) for key in table.candidate_keys[:_MOST_COLUMNS]],
        "columns": [
            {
                "name": column.name,
                "type": column.measured_type or column.type,
                "nulls": column.nulls,
                "distinct": column.distinct,
                "meaning": column.semantic_type,
                "is_personal": column.pii,
            }
            for column in table.columns[:_MOST_COLUMNS]
        ],
        "more_columns": max(0, len(table.columns) - _MOST_COLUMNS),
    }


def _relationship(key: ForeignKey) -> JsonObject:
    return {
        "from": [key.from_table, *key.from_columns],
        "to": [key.to_table, *key.to_columns],
        "confidence": round(key.confidence, 2),
        "orphans": key.evidence.orphans,
    }
