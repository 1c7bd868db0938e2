"""What a client is told of an error: what went wrong, and what to do about it."""

from __future__ import annotations

import logging
import traceback

from fluid_build.assistants.settings import WorkspaceSettings
from fluid_build.errors import FaultyFileError, FluidError
from fluid_build.secrets import redact
from fluid_build.text import clip

LOG = logging.getLogger(__name__)

_MOST_PROBLEMS = 20
_LONGEST_MESSAGE = 4_000


def explain(error: Exception, settings: WorkspaceSettings) -> str:
    """Return an error in words, without traceback, secrets and folders from outside.

    An unforeseen one goes to the log with its traceback.
    """
    message = _message(error)
    if message is None:
        detail = "".join(traceback.format_exception(error))
        LOG.error("%s", redact(detail, settings.secrets))
        message = (
            f"A bug in Fluid Forge stopped the call ({type(error).__name__}). The server goes on;"
            " its log has the details."
        )
    return clip(settings.without_outside(redact(message)), _LONGEST_MESSAGE)


def _message(error: Exception) -> str | None:
    # DuckDB is imported by whoever reads data first, not by the start of a server.
    from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason

    if isinstance(error, FaultyFileError):
        problems = [str(problem) for problem in error.problems[:_MOST_PROBLEMS]]
        return "\n".join((f"{error.file} isn't valid:", *problems))
    if isinstance(error, FluidError):
        parts = (error.message, error.hint or "", error.command or "")
        return "\n".join(part for part in parts if part)
    if isinstance(error, DUCKDB_ERRORS):
        return f"A query failed: {reason(error)}"
    if isinstance(error, OSError):
        return f"A file can't be used: {error.strerror or type(error).__name__}."
    if isinstance(error, MemoryError):
        return "The machine ran out of memory. Read fewer tables at a time."
    return None
