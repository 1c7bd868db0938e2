"""The arguments of a call, and what is said about those that don't fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pydantic import ValidationError

from fluid_build.copilot.errors import ToolValidationError

Arguments: TypeAlias = Mapping[str, object] | str | bytes
"""The arguments of a call: an object, or the JSON text of one as the provider sent it."""

TEXT = (str, bytes)

NOT_JSON = "/: it is not JSON"

_MAX_FAULTS = 8
"""Faults named in a reason: enough to correct a call, and bounded whatever the model sends."""


def refusal(tool_name: str, arguments: object, faults: list[str]) -> ToolValidationError:
    """Return the error for arguments with these faults, which quote no value."""
    hidden = len(faults) - _MAX_FAULTS
    more = [f"and {hidden} more"] if hidden > 0 else []
    reason = "; ".join([*faults[:_MAX_FAULTS], *more])
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
