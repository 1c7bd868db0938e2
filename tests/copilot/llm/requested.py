"""What a request asks for, in any wire format: the schema of the answer, the tools, the words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fluid_build.json_types import JsonObject, JsonValue
from tests.fault_server.server import ReceivedRequest

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,60}")
_MOST_NAMES = 2_000
"""Names that are remembered of a prompt, which may be as long as a model's window."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call, with the JSON schema of its arguments."""

    name: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class Requested:
    """What a request asks for. ``names`` are the words of the user's messages that could be names.

    ``answer_schema`` is None where a plain text is expected.
    """

    answer_schema: JsonObject | None
    tools: tuple[OfferedTool, ...]
    names: tuple[str, ...]


def requested_of(request: ReceivedRequest) -> Requested:
    """Return what a request asks for."""
    body: dict[str, Any] = request.body
    tools = tuple(_tools(body))
    schema = _answer_schema(body)
    forced = (body.get("tool_choice") or {}).get("name") if request.wire == "anthropic" else None
    for tool in tools:
        if tool.name == forced:
            schema = tool.schema
    messages = body.get("messages") or body.get("input") or body.get("contents") or []
    return Requested(schema, tools, tuple(_names(messages)))


def _answer_schema(body: dict[str, Any]) -> JsonObject | None:
    """Return the schema of the answer from where each format has it."""
    places = (
        ("response_format", "json_schema", "schema"),
        ("text", "format", "schema"),
        ("output_config", "format", "schema"),
        ("generationConfig", "responseJsonSchema"),
        ("format",),
    )
    for place in places:
        value: Any = body
        for key in place:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict):
            return value
    return None


def _tools(body: dict[str, Any]) -> Iterator[OfferedTool]:
    for entry in body.get("tools") or ():
        for tool in entry.get("functionDeclarations") or [entry.get("function") or entry]:
            schema: JsonObject = next(
                (
                    tool[key]
                    for key in ("parameters", "input_schema", "parametersJsonSchema")
                    if isinstance(tool.get(key), dict)
                ),
                {},
            )
            yield OfferedTool(str(tool.get("name", "")), schema)


def _names(messages: JsonValue) -> list[str]:
    names: dict[str, None] = {}
    for text in _texts(messages):
        for name in _NAME.findall(text):
            names[name] = None
            if len(names) == _MOST_NAMES:
                return list(names)
    return list(names)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict) and value.get("role") not in {"system", "developer"}:
        for key, item in value.items():
            if key not in {"role", "type"}:
                yield from _texts(item)
