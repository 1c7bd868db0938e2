"""What the loop says to a model after a failed tool call or an answer that breaks its schema.

Both are deterministic and quote no exception: a tool's failure is described by the class of its
error alone (S-013). Source: Typed Errors, "Corrective-feedback layer" and "SchemaValidationError".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from fluid_build.copilot.errors import SchemaValidationError
from fluid_build.copilot.messages import Message, ToolResult
from fluid_build.json_types import JsonValue

APPROVAL_DENIED = "ApprovalDenied"
"""The class of error that the model sees for a call that a person declined."""

CALL_DENIED = "CallDenied"
"""The class of error that the model sees for a call that a rule of the program forbids."""

CALL_NOT_MADE = "CallNotMade"
"""The class of error that the model sees for a call over the limit of its turn, which says all."""

_ERROR_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}")
"""A class or code such as ``path_outside_workspace``; anything else in ``error`` is data."""
_MAX_FAULTS = 8
"""Faults named in a correction, as in a tool's refusal: enough to correct, and bounded."""
_TYPES_WITH_RAW_TEXT = ("value_error", "assertion_error")
"""Pydantic's types with the text of an exception in the user's validator as their message."""

_OUTSIDE = (
    "The path leads out of the workspace. Use a path inside the workspace, relative to its root."
)
_FORBIDDEN = "The tool may not use that path. Choose a file of a type that the tool accepts."
_TOO_LARGE = "The file is over the tool's size limit. Choose a smaller file."
_NOT_FOUND = "There is no such file. Look up which files exist before you name one."
_NOT_ANSWERED = "The tool took too long. Ask for less at once, or go on without it."

_GUIDANCE = {
    "ToolValidationError": (
        "Your tool arguments did not match the tool's input schema. Re-read the tool's schema "
        "definition above and submit values that satisfy every required field with the correct "
        "types."
    ),
    "UnknownTool": (
        "No tool has that name. Call only the tools that are defined above, by their exact names."
    ),
    "ToolResultError": (
        "The tool ran, but its result can't be shown. Try other arguments, or another tool."
    ),
    "PathTraversalError": _OUTSIDE,
    "path_outside_workspace": _OUTSIDE,
    "ForbiddenPathError": _FORBIDDEN,
    "unsupported_file_type": _FORBIDDEN,
    "PermissionError": _FORBIDDEN,
    "FileTooLargeError": _TOO_LARGE,
    "file_too_large": _TOO_LARGE,
    "FileNotFoundError": _NOT_FOUND,
    "file_not_found": _NOT_FOUND,
    "TimeoutError": _NOT_ANSWERED,
    APPROVAL_DENIED: (
        "A person declined this call, and it didn't run. Don't repeat it: reach the goal in "
        "another way, or say what you can't do."
    ),
    CALL_DENIED: (
        "A rule forbids this call, and it didn't run. Don't repeat it: reach the goal in another "
        "way, or say what you can't do."
    ),
}
_OTHER_FAILURE = (
    "The tool itself failed. Don't repeat the same call: try other arguments or another tool, or "
    "go on without it."
)


def error_class(value: object) -> str | None:
    """Return the class of a tool's typed error, ``{"error": ..., "message": ...}``, else None."""
    if not isinstance(value, Mapping) or "message" not in value:
        return None
    name = value.get("error")
    return name if isinstance(name, str) and _ERROR_CLASS.fullmatch(name) else None


def tool_guidance(result: ToolResult) -> Message | None:
    """Return the message that follows a failed call; None if it didn't fail, or wasn't made."""
    failure = error_class(_decode_json(result.content)) if result.is_error else None
    if failure is None or failure == CALL_NOT_MADE:
        return None
    guidance = _GUIDANCE.get(failure, _OTHER_FAILURE)
    return _user_message(
        f"Tool ``{result.name}`` failed with error class ``{failure}``. {guidance}"
    )


def correction(error: SchemaValidationError) -> Message:
    """Return the message that follows an answer which breaks its schema."""
    faults = [_describe_fault(fault) for fault in error.validation_errors]
    hidden = len(faults) - _MAX_FAULTS
    more = [f"and {hidden} more"] if hidden > 0 else []
    specific = "; ".join([*faults[:_MAX_FAULTS], *more])
    return _user_message(
        f"your previous output failed validation with these specific errors: {specific}, please "
        "correct your approach"
    )


def _describe_fault(fault: object) -> str:
    if not isinstance(fault, Mapping):
        return "the output doesn't fit"
    place, kind = fault.get("loc", ()), str(fault.get("type", ""))
    path = "/".join(map(str, place if isinstance(place, Sequence) else ()))
    detail = "" if kind in _TYPES_WITH_RAW_TEXT else f" ({fault.get('msg', '')})"
    return f"/{path}: {kind}{detail}"


def _decode_json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _user_message(text: str) -> Message:
    return {"role": "user", "content": text}
