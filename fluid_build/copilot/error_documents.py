"""Providers' error bodies, read whatever their format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.copilot.retry_after import clamp_wait, parse_seconds
from fluid_build.json_types import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Refusal:
    """The facts of a provider's error body, whatever its wire format."""

    message: str = ""
    codes: tuple[str, ...] = ()
    retry_after: float | None = None
    per_day: bool = False
    status: int | None = None


def read_refusal(body: str) -> Refusal:
    """Read ``{"error": {...}}``, ``{"error": "..."}``, ``[{"error": ...}]`` and flat bodies."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return Refusal(message=body)
    if isinstance(document, list) and document:
        document = document[0]
    return read_document(document) if isinstance(document, dict) else Refusal(message=body)


def read_document(document: JsonValue) -> Refusal:
    """Read an object that reports a failure: as it is, or in its ``error``."""
    if not isinstance(document, Mapping):
        return Refusal()
    error = document.get("error") or document
    if isinstance(error, str):  # Ollama's, with the status next to it inside an answer
        return Refusal(message=error, status=_http_status(document.get("status")))
    if not isinstance(error, Mapping):
        return Refusal(message=json.dumps(document, default=str))
    details = _objects(error.get("details"))
    codes = [error.get("code"), error.get("type"), error.get("status")]
    codes += [detail.get("reason", detail.get("error_code")) for detail in details]
    message, status = error.get("message"), error.get("code")
    return Refusal(
        message=message if isinstance(message, str) else "",
        codes=tuple(code for code in codes if isinstance(code, str) and code != "error"),
        retry_after=_retry_delay(details),
        per_day=_spent_per_day(details),
        status=_http_status(status),
    )


def _http_status(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and 400 <= value < 600 else None


def _objects(value: JsonValue) -> list[JsonObject]:
    """Return the objects of a list as Google sends it, or the one object that Anthropic sends."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def _retry_delay(details: list[JsonObject]) -> float | None:
    """Return Google's ``RetryInfo`` in seconds: a duration such as ``34s`` in the body."""
    for detail in details:
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            seconds = parse_seconds(delay[:-1])
            return None if seconds is None else clamp_wait(seconds)
    return None


def _spent_per_day(details: list[JsonObject]) -> bool:
    """Return whether Google's ``QuotaFailure`` is about a quota by the day, which won't pass."""
    return any(
        "PerDay" in str(violation.get("quotaId", ""))
        for detail in details
        for violation in _objects(detail.get("violations"))
    )
