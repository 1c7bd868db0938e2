"""Checks of messages before they are sent: nothing in them is dropped silently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from fluid_build.copilot.messages import Attachment, Message, content_parts, read_attachment
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_FIELDS = (
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "name",
    "is_error",
    "provider_blocks",
)

_BLOCK_FIELDS = {
    "text": ("type", "text"),
    "image": ("type", "media_type", "data", "url", "name"),
    "document": ("type", "media_type", "data", "url", "name"),
}
"""Those of the blocks that users write; blocks of tool use are the provider's own."""


def user_message(prompt: object) -> Message:
    """Return the user's message of a prompt: a text, or a list of texts and content blocks.

    Raises ``UsageError`` for anything else, and for a prompt that says nothing.
    """
    message = check_message({"role": "user", "content": cast("JsonValue", prompt)})
    if not any(isinstance(part, Attachment) or part.strip() for part in content_parts(message)):
        raise UsageError("The prompt is empty.", hint="Pass a text, or content blocks.")
    return message


def check_messages(messages: Iterable[Message]) -> list[Message]:
    """Return the messages in the runtime's own form. Raises ``UsageError`` as ``check_message``."""
    return [check_message(message) for message in messages]


def check_message(message: Message) -> Message:
    """Return a message with its bare texts as blocks and its bytes in base64, if it has any.

    Raises ``UsageError`` for fields and blocks that no wire format would send.
    """
    if not isinstance(message, Mapping):
        raise UsageError(
            f"A message can't be a {type(message).__name__}.",
            hint="Write a mapping with role and content.",
        )
    _refuse_unknown_fields(message)
    content_parts(message)
    content = message.get("content")
    if message.get("role") == "tool" or isinstance(content, str) or content is None:
        return message
    for block in cast("Sequence[JsonValue]", content):
        if isinstance(block, Mapping) and block.get("type") in _BLOCK_FIELDS:
            kind = str(block["type"])
            _refuse_others(f"A content block of type {kind!r}", block, _BLOCK_FIELDS[kind])
    blocks = [_plain_block(block) for block in cast("Sequence[JsonValue]", content)]
    return message if blocks == content else {**message, "content": blocks}


def _refuse_unknown_fields(message: Message) -> None:
    _refuse_others("A message", message, _FIELDS)
    if "content" not in message and not message.get("tool_calls"):
        raise UsageError("A message has no content.", hint="Give it a text or content blocks.")


def _refuse_others(label: str, mapping: JsonObject, fields: Sequence[str]) -> None:
    """Raise ``UsageError`` for a field that isn't one of these, unless it's empty."""
    unknown = [name for name, value in mapping.items() if name not in fields and value]
    if unknown:
        raise UsageError(
            f"{label} has the field {unknown[0]!r}, which can't be sent.",
            hint=f"Its fields are {', '.join(fields)}.",
        )


def _plain_block(block: JsonValue) -> JsonValue:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if isinstance(block, Mapping) and isinstance(block.get("data"), bytes | bytearray):
        return {**block, "data": read_attachment(block).data}
    return block
