"""Values as JSON at one moment, clipped at a limit, and read again without secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic_core import from_json, to_json

from fluid_build.json_types import JsonValue
from fluid_build.secrets import REDACTED, redact, redact_json, secrets_of_environment


@dataclass(frozen=True, slots=True)
class ClippedJson:
    """The beginning of a JSON text that was too long to keep, and its whole length."""

    beginning: bytes
    total_chars: int


Snapshot: TypeAlias = bytes | ClippedJson


def snapshot(value: object) -> bytes:
    """Return the value as JSON, so that no later change of it changes the trace."""
    try:
        return to_json(value, serialize_unknown=True)
    except (ValueError, RecursionError):
        return to_json(f"<{type(value).__name__} that JSON can't hold>")


def snapshot_arguments(arguments: object) -> bytes:
    """Return arguments as JSON; text, which a model sent for JSON, as it is."""
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode(errors="backslashreplace")
    return snapshot(arguments)


def clip_snapshot(json: bytes, limit: int) -> Snapshot:
    """Return a JSON text as it is, or its beginning if it is over the limit."""
    if len(json) <= limit:
        return json
    beginning = json[:limit].decode("utf-8", errors="ignore")
    return ClippedJson(beginning.encode(), len(json.decode(errors="replace")))


def load_snapshot(json: Snapshot) -> JsonValue:
    """Return the value without secrets.

    A clipped one is parsed as far as it goes: a secret field is one even if its end is missing.
    """
    if isinstance(json, bytes):
        return _parse(json, allow_partial=False)
    value = _parse(json.beginning, allow_partial="trailing-strings")
    preview = to_json(value).decode()
    return {"_truncated": True, "_preview": preview, "_total_chars": json.total_chars}


def _parse(json: bytes, *, allow_partial: Literal[False, "trailing-strings"]) -> JsonValue:
    """Return a value without secrets; what a model sent may not be JSON, and is text then."""
    try:
        return redact_json(from_json(json, allow_partial=allow_partial))
    except ValueError:
        return redact(json.decode(errors="replace"), secrets_of_environment(), REDACTED)
