"""Conversation messages: their text, the tool calls in them and the results of those calls.

A message is a mapping with ``role`` (``system``, ``user``, ``assistant`` or ``tool``) and
``content``. The runtime writes tool use as

    {"role": "assistant", "content": "...", "tool_calls": [{"id", "name", "arguments": {...}}]}
    {"role": "tool", "tool_call_id": "...", "name": "...", "content": "..."}

and reads two more spellings that callers use: OpenAI's ``tool_calls`` with ``function`` and
JSON text for arguments, and content blocks of type ``text``, ``tool_use`` and ``tool_result``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fluid_build.json_types import JsonObject, JsonValue

Message: TypeAlias = JsonObject


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to call a tool.

    ``id`` joins it to its result; some providers want ``signature`` back with the call.
    """

    id: str
    name: str
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    signature: str | None = None

    def as_entry(self) -> dict[str, JsonValue]:
        """Return the entry of a message's ``tool_calls``."""
        entry: dict[str, JsonValue] = {
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
        }
        if self.signature is not None:
            entry["signature"] = self.signature
        return entry


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's result, as text. ``call_id`` joins it to its call."""

    call_id: str
    content: str
    name: str | None = None
    is_error: bool = False

    def as_message(self) -> dict[str, JsonValue]:
        """Return the message that carries the result to the model."""
        message: dict[str, JsonValue] = {
            "role": "tool",
            "tool_call_id": self.call_id,
            "content": self.content,
        }
        if self.name is not None:
            message["name"] = self.name
        if self.is_error:
            message["is_error"] = True
        return message


def text_of(message: Message) -> str:
    """Return all text of the message but calls' arguments and results, blocks joined."""
    content = message.get("content")
    if isinstance(content, str):
        return "" if message.get("role") == "tool" else content
    return "\n".join(
        str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text"
    )


def tool_calls(message: Message) -> list[ToolCall]:
    """Return the calls in the message, in order."""
    calls = [_call_of_entry(entry) for entry in _entries(message)]
    calls += [
        ToolCall(str(b.get("id", "")), str(b.get("name", "")), read_arguments(b.get("input")))
        for b in _blocks(message)
        if b.get("type") == "tool_use"
    ]
    return calls


def tool_results(message: Message) -> list[ToolResult]:
    """Return the results in the message, in order."""
    if message.get("role") == "tool":
        return [
            ToolResult(
                str(message.get("tool_call_id", "")),
                _as_text(message.get("content")),
                _name_in(message),
                bool(message.get("is_error", False)),
            )
        ]
    return [
        ToolResult(
            str(b.get("tool_use_id", "")),
            _as_text(b.get("content")),
            _name_in(b),
            bool(b.get("is_error", False)),
        )
        for b in _blocks(message)
        if b.get("type") == "tool_result"
    ]


def call_ids(message: Message) -> list[str]:
    """Return the ids of the calls in the message, which is cheaper than reading the calls."""
    ids = [str(entry.get("id", "")) for entry in _entries(message)]
    return ids + [str(b.get("id", "")) for b in _blocks(message) if b.get("type") == "tool_use"]


def result_ids(message: Message) -> list[str]:
    """Return the ids of the calls whose results are in the message."""
    if message.get("role") == "tool":
        return [str(message.get("tool_call_id", ""))]
    return [
        str(b.get("tool_use_id", "")) for b in _blocks(message) if b.get("type") == "tool_result"
    ]


def read_arguments(value: JsonValue) -> dict[str, JsonValue]:
    """Return a call's arguments: JSON text is read, and what isn't an object goes to ``_raw``."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except ValueError:
            return {"_raw": value}
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else {"_raw": value}


def _call_of_entry(entry: JsonObject) -> ToolCall:
    function, signature = entry.get("function"), entry.get("signature")
    source = function if isinstance(function, Mapping) else entry
    return ToolCall(
        str(entry.get("id", "")),
        str(source.get("name", "")),
        read_arguments(source.get("arguments")),
        signature if isinstance(signature, str) else None,
    )


def _entries(message: Message) -> Iterator[JsonObject]:
    return _mappings(message.get("tool_calls"))


def _blocks(message: Message) -> Iterator[JsonObject]:
    return _mappings(message.get("content"))


def _mappings(value: JsonValue) -> Iterator[JsonObject]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (item for item in value if isinstance(item, Mapping))


def _name_in(holder: JsonObject) -> str | None:
    name = holder.get("name")
    return name if isinstance(name, str) else None


def _as_text(content: JsonValue) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    blocks = list(_mappings(content)) if isinstance(content, Sequence) else []
    if blocks and all(block.get("type") == "text" for block in blocks):
        return "\n".join(str(block.get("text", "")) for block in blocks)
    return json.dumps(content, ensure_ascii=False, default=str)
