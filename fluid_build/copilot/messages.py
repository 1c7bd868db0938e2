"""Reads conversation messages: their text, the tool calls in them and the results of such calls.

A message is a mapping with ``role`` (``system``, ``user``, ``assistant`` or ``tool``) and
``content``. The runtime writes tool use as

    {"role": "assistant", "content": "...", "tool_calls": [{"id", "name", "arguments": {...}}]}
    {"role": "tool", "tool_call_id": "...", "name": "...", "content": "..."}

and reads two more spellings that callers bring along: OpenAI's ``tool_calls`` with ``function`` and
JSON text for arguments, and content blocks of type ``text``, ``tool_use`` and ``tool_result``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool.

    ``id`` joins it to its result; ``signature`` is what some providers want back with the call.
    """

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    signature: str | None = None

    def as_entry(self) -> dict[str, Any]:
        """The entry of a message's ``tool_calls``."""
        entry: dict[str, Any] = {"id": self.id, "name": self.name, "arguments": self.arguments}
        if self.signature is not None:
            entry["signature"] = self.signature
        return entry


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned, as text. ``call_id`` joins it to its call."""

    call_id: str
    content: str
    name: str | None = None
    is_error: bool = False

    def as_message(self) -> dict[str, Any]:
        """The message that carries the result back to the model."""
        message: dict[str, Any] = {
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
    """All text of the message that is neither a call's arguments nor a result, blocks joined."""
    content = message.get("content")
    if isinstance(content, str):
        return "" if message.get("role") == "tool" else content
    return "\n".join(
        str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text"
    )


def tool_calls(message: Message) -> list[ToolCall]:
    """The calls in the message, in order."""
    found = [_call_of_entry(entry) for entry in _entries(message)]
    found += [
        ToolCall(str(b.get("id", "")), str(b.get("name", "")), read_arguments(b.get("input")))
        for b in _blocks(message)
        if b.get("type") == "tool_use"
    ]
    return found


def tool_results(message: Message) -> list[ToolResult]:
    """The results in the message, in order."""
    if message.get("role") == "tool":
        return [
            ToolResult(
                str(message.get("tool_call_id", "")),
                _as_text(message.get("content")),
                message.get("name"),
                bool(message.get("is_error", False)),
            )
        ]
    return [
        ToolResult(
            str(b.get("tool_use_id", "")),
            _as_text(b.get("content")),
            b.get("name"),
            bool(b.get("is_error", False)),
        )
        for b in _blocks(message)
        if b.get("type") == "tool_result"
    ]


def call_ids(message: Message) -> list[str]:
    """The ids of the calls in the message; cheaper than reading the calls."""
    ids = [str(entry.get("id", "")) for entry in _entries(message)]
    return ids + [str(b.get("id", "")) for b in _blocks(message) if b.get("type") == "tool_use"]


def result_ids(message: Message) -> list[str]:
    """The ids of the calls whose results are in the message."""
    if message.get("role") == "tool":
        return [str(message.get("tool_call_id", ""))]
    return [
        str(b.get("tool_use_id", "")) for b in _blocks(message) if b.get("type") == "tool_result"
    ]


def read_arguments(value: Any) -> dict[str, Any]:
    """A call's arguments as a mapping: JSON text is read, anything else goes under ``_raw``."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except ValueError:
            return {"_raw": value}
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else {"_raw": value}


def _call_of_entry(entry: Mapping[str, Any]) -> ToolCall:
    function = entry.get("function")
    source = function if isinstance(function, Mapping) else entry
    return ToolCall(
        str(entry.get("id", "")),
        str(source.get("name", "")),
        read_arguments(source.get("arguments")),
        entry.get("signature"),
    )


def _entries(message: Message) -> Iterator[Mapping[str, Any]]:
    return _mappings(message.get("tool_calls"))


def _blocks(message: Message) -> Iterator[Mapping[str, Any]]:
    return _mappings(message.get("content"))


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (item for item in value if isinstance(item, Mapping))


def _as_text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    blocks = list(_mappings(content)) if isinstance(content, Sequence) else []
    if blocks and all(block.get("type") == "text" for block in blocks):
        return "\n".join(str(block.get("text", "")) for block in blocks)
    return json.dumps(content, ensure_ascii=False, default=str)
