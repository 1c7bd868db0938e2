"""Errors for arguments that don't fit a tool's schema; they quote no value."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from fluid_build.copilot.errors import ToolValidationError

NOT_JSON = "/: it is not JSON"

_MAX_FAULTS = 8
_MAX_FAULT_CHARS = 200
"""Faults named in a reason, and how much of each: enough to correct a call, whatever it is."""


def refusal(tool_name: str, arguments: object, faults: list[str]) -> ToolValidationError:
    """Return the error for arguments with these faults, which quote no value."""
    hidden = len(faults) - _MAX_FAULTS
    more = [f"and {hidden} more"] if hidden > 0 else []
    reason = "; ".join([*(fault[:_MAX_FAULT_CHARS] for fault in faults[:_MAX_FAULTS]), *more])
    return ToolValidationError(
        f"The arguments of tool {tool_name!r} don't fit its schema ({reason}).",
        tool_name=tool_name,
        tool_args=arguments if isinstance(arguments, Mapping) else {},
        reason=reason,
    )


def pydantic_faults(error: ValidationError) -> list[str]:
    """Return path and type of each fault; Pydantic's messages may quote values."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":  # the parser's message names a place, and no value
        return [f"{NOT_JSON} ({faults[0]['msg']})"]
    return [f"/{'/'.join(map(str, fault['loc']))}: {fault['type']}" for fault in faults]
