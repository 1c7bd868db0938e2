"""The loop's door to the tools of assistants: a desk at its workspace, and what a model is told.

The source of the codes is Authoring Forge Tools, "Return a typed-error dict".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

from fluid_build.assistants.desk import Desk
from fluid_build.assistants.open_sources import OpenSources
from fluid_build.assistants.paths import SOURCE_SUFFIXES
from fluid_build.assistants.settings import workspace_settings
from fluid_build.assistants.text_samples import UnnamedColumnsError
from fluid_build.assistants.workspace import Workspace
from fluid_build.copilot.errors import FileTooLargeError, ForbiddenPathError, PathTraversalError
from fluid_build.errors import SourceError, UsageError
from fluid_build.json_types import JsonObject
from fluid_build.sources.engine.connection import READING_ERRORS

MAX_SOURCE_BYTES = 4 * 1024**3
"""The largest source that is profiled in a turn of a model: minutes of work on a laptop."""

P = ParamSpec("P")

_REFUSALS: dict[type, tuple[str, str]] = {
    PathTraversalError: ("path_outside_workspace", "Path is outside the workspace root."),
    ForbiddenPathError: (
        "unsupported_file_type",
        f"Use a file of one of these types: {', '.join(sorted(SOURCE_SUFFIXES))}.",
    ),
    FileTooLargeError: ("file_too_large", "The file is larger than this tool reads."),
    FileNotFoundError: ("FileNotFoundError", "There is no such file or folder."),
    UnnamedColumnsError: (
        "UnnamedColumnsError",
        "A text is read where it has two columns and a header; this one's first line may be data.",
    ),
}
_FAILURES: tuple[type[Exception], ...] = (
    PathTraversalError,
    ForbiddenPathError,
    FileTooLargeError,
    FileNotFoundError,
    UsageError,
    SourceError,
    *READING_ERRORS,
)
_SOURCES = OpenSources(most_open=0)
"""The profiles of all workspaces. Nobody says when a loop is over, so no source stays open."""


def desk_at(workspace_root: Path) -> Desk:
    """Return the desk of a workspace: nothing is named, written or shared."""
    settings = workspace_settings(
        workspace_root, {}, allow_write=False, share_values=False, most_bytes=MAX_SOURCE_BYTES
    )
    return Desk(settings, Workspace(settings), _SOURCES)


def confined_tool(function: Callable[P, JsonObject]) -> Callable[P, JsonObject]:
    """Make a tool answer with a typed error where it was asked for what it may not or can't do."""

    @functools.wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> JsonObject:
        try:
            return function(*args, **kwargs)
        except _FAILURES as error:
            told = _REFUSALS.get(type(error)) or _REFUSALS.get(type(error.__cause__))
            if told is not None:
                return refusal(*told)
            if isinstance(error, UsageError):
                return refusal("ToolValidationError", error.message)
            # Its message may quote a path of this machine or a value of the data.
            return refusal(type(error).__name__, "The source can't be read.")

    return answer


def refusal(error: str, message: str) -> JsonObject:
    """Return a typed error for a model."""
    return {"error": error, "message": message}
