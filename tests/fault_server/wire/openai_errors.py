"""What OpenAI's servers refuse, and what they say about it; the same in both APIs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault
from tests.fault_server.wire.format import bearer_token

_WORDS: dict[str, tuple[str, str, str | None]] = {
    "rate_limit": (
        "Rate limit reached for requests. Please slow down.", "requests", "rate_limit_exceeded",
    ),
    "server": ("The server had an error while processing your request.", "server_error", None),
    "overloaded": (
        "The server is currently overloaded with other requests.", "server_error", "server_error",
    ),
    "stream_error": (
        "The server is currently overloaded with other requests.", "server_error", "server_error",
    ),
    "overflow": (
        "Your input exceeds the context window of this model. Please adjust your input.",
        "invalid_request_error", "context_length_exceeded",
    ),
    "quota": (
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota", "insufficient_quota",
    ),
}  # fmt: skip
"""Message, type and code by the fault's kind."""

_REASONING_MODEL = re.compile(r"(?:gpt-(?:[5-9]|\d\d)|o\d)(?!\w)")


def fault_body(fault: Fault, key: str) -> dict[str, JsonValue]:
    """Return the body of a refusal."""
    message, kind, code = _WORDS.get(
        fault.kind, (fault.message or "error", "invalid_request_error", None)
    )
    if fault.kind == "auth":
        message, code = f"Incorrect API key provided: {key}.", "invalid_api_key"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def request_key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    """Return the key of a request, the bearer token or Azure's header."""
    return headers.get("api-key") or bearer_token(headers)


def reasons(model: object, effort: object) -> bool:
    """Return whether the model reasons before it answers."""
    return bool(_REASONING_MODEL.match(str(model))) and effort != "none"


def refuse_untyped_schema(name: str, schema: Any) -> str | None:
    """Return what is said about a schema that isn't an object's, if anything."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "object":
        return None
    return (
        f"Invalid schema for '{name}': schema must be a JSON Schema of 'type: \"object\"', "
        f"got 'type: \"{kind}\"'."
    )


def refuse_strict_schema(name: str, node: Any, place: tuple[str, ...] = ()) -> str | None:
    """Return what is said about a schema that strict mode can't follow, if anything."""
    if isinstance(node, list):
        return _first(refuse_strict_schema(name, item, place) for item in node)
    if not isinstance(node, dict):
        return None
    if node.get("type") == "object":
        properties = node.get("properties", {})
        start = f"Invalid schema for response_format '{name}': In context={place}, "
        if node.get("additionalProperties") is not False:
            return f"{start}'additionalProperties' is required to be supplied and to be false."
        if set(node.get("required", ())) != set(properties):
            return (
                f"{start}'required' is required to be supplied and to be an array including every "
                "key in properties."
            )
    return _first(refuse_strict_schema(name, inner, (*place, key)) for key, inner in node.items())


def _first(refusals: Any) -> str | None:
    return next((refusal for refusal in refusals if refusal), None)
