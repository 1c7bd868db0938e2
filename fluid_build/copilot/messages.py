"""Conversation messages: their text, the tool calls in them and the results of those calls.

A message is a mapping with ``role`` (``system``, ``user``, ``assistant`` or ``tool``) and
``content``. The runtime writes tool use as

    {"role": "assistant", "content": "...", "tool_calls": [{"id", "name", "arguments": {...}}]}
    {"role": "tool", "tool_call_id": "...", "name": "...", "content": "..."}

and reads two more spellings that callers use: OpenAI's ``tool_calls`` with ``function`` and
JSON text for arguments, and content blocks of type ``text``, ``tool_use`` and ``tool_result``.
Content blocks may also be images and documents:

    {"type": "image", "media_type": "image/png", "data": "<base64>"}
    {"type": "document", "url": "https://...", "name": "terms.pdf"}

A bare text among the blocks is a block of type ``text``, and bytes as ``data`` are written in
base64. Each wire format refuses the media types that its provider doesn't take.

An answer may have parts that only its own provider understands and wants back unchanged, such as
thinking. They are in the message's ``provider_blocks``.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from fluid_build.copilot.untrusted_json import read_json
from fluid_build.errors import UsageError
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
class Attachment:
    """An image or a document: ``data`` in base64 with its ``media_type``, or a ``url``."""

    kind: Literal["image", "document"]
    media_type: str = ""
    data: str = ""
    url: str = ""
    name: str = ""

    def as_block(self) -> dict[str, JsonValue]:
        """Return the content block of a message."""
        fields = {
            "media_type": self.media_type,
            "data": self.data,
            "url": self.url,
            "name": self.name,
        }
        return {"type": self.kind, **{name: value for name, value in fields.items() if value}}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's result: text, and images and documents. ``call_id`` joins it to its call."""

    call_id: str
    content: str
    name: str | None = None
    is_error: bool = False
    attachments: tuple[Attachment, ...] = ()

    def as_message(self) -> dict[str, JsonValue]:
        """Return the message that carries the result to the model."""
        message: dict[str, JsonValue] = {
            "role": "tool",
            "tool_call_id": self.call_id,
            "content": self.content,
        }
        if self.attachments:
            text = [{"type": "text", "text": self.content}] if self.content else []
            message["content"] = [*text, *(part.as_block() for part in self.attachments)]
        if self.name is not None:
            message["name"] = self.name
        if self.is_error:
            message["is_error"] = True
        return message

    def only_text(self, provider: str) -> str:
        """Return the text, for a format whose results are text.

        Raises ``UsageError`` where the result has an image or a document.
        """
        if self.attachments:
            raise UsageError(
                f"{provider} takes no {self.attachments[0].kind} in a tool's result.",
                hint="Let the tool return text, and put the attachment in a user's message.",
            )
        return self.content


@dataclass(frozen=True, slots=True)
class ProviderBlock:
    """A part of an answer that its provider wants back unchanged.

    It follows the first ``after_text`` characters of the answer's text and the first
    ``after_calls`` of its calls.
    """

    block: JsonObject
    after_text: int = 0
    after_calls: int = 0

    def as_entry(self) -> dict[str, JsonValue]:
        """Return the entry of a message's ``provider_blocks``."""
        return {
            "block": self.block,
            "after_text": self.after_text,
            "after_calls": self.after_calls,
        }


AnswerPart: TypeAlias = str | ToolCall | ProviderBlock


def text_of(message: Message) -> str:
    """Return all text of the message but calls' arguments and results, blocks joined."""
    content = message.get("content")
    if isinstance(content, str):
        return "" if message.get("role") == "tool" else content
    return "\n".join(
        str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text"
    )


def content_parts(message: Message) -> list[str | Attachment]:
    """Return the texts, images and documents of the message, in order; empty texts are left out.

    Raises ``UsageError`` for a block of any other type but tool use, and for content that isn't
    made of blocks, so that nothing is dropped.
    """
    content = message.get("content")
    if content is None or message.get("role") == "tool":
        return []
    if isinstance(content, str):
        return [content] if content else []
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise _not_content(content)
    parts = [_content_part(block) for block in content]
    return [part for part in parts if part]


def provider_blocks(message: Message, format_name: str) -> list[ProviderBlock]:
    """Return the blocks that an answer in this wire format has, in order; others get none."""
    saved = message.get("provider_blocks")
    if not isinstance(saved, Mapping) or saved.get("format") != format_name:
        return []
    return [
        ProviderBlock(
            cast("JsonObject", entry["block"]),
            _position(entry.get("after_text")),
            _position(entry.get("after_calls")),
        )
        for entry in _mappings(saved.get("blocks"))
        if isinstance(entry.get("block"), Mapping)
    ]


def answer_parts(message: Message, format_name: str) -> list[AnswerPart]:
    """Return the texts, calls and provider blocks of an answer, in their original order.

    Texts come before calls. A text that was shortened since keeps its blocks.
    """
    text, calls = text_of(message), tool_calls(message)
    parts: list[AnswerPart] = []
    text_end, calls_end = 0, 0
    for block in provider_blocks(message, format_name):
        parts += [text[text_end : block.after_text], *calls[calls_end : block.after_calls], block]
        text_end = max(text_end, block.after_text)
        calls_end = max(calls_end, block.after_calls)
    parts += [text[text_end:], *calls[calls_end:]]
    return [part for part in parts if part != ""]


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
        return [_result(str(message.get("tool_call_id", "")), message)]
    return [
        _result(str(block.get("tool_use_id", "")), block)
        for block in _blocks(message)
        if block.get("type") == "tool_result"
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
            value = read_json(value) if value.strip() else {}
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
    """Yield the content's blocks; a bare text among them is one, except in a tool's own JSON."""
    content = message.get("content")
    if isinstance(content, str) or not isinstance(content, Sequence):
        return
    for item in content:
        if isinstance(item, Mapping):
            yield item
        elif isinstance(item, str) and message.get("role") != "tool":
            yield {"type": "text", "text": item}


def _mappings(value: JsonValue) -> Iterator[JsonObject]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (item for item in value if isinstance(item, Mapping))


def _content_part(block: object) -> str | Attachment | None:
    """Return a block's text or attachment, None for tool use. Raises ``UsageError``."""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        raise _not_content(block)
    kind = block.get("type")
    if kind in ("image", "document"):
        return read_attachment(block)
    text = block.get("text")
    if kind == "text" and isinstance(text, str):
        return text
    if kind in ("tool_use", "tool_result"):
        return None
    problem = "without its text" if kind == "text" else f"of type {kind!r}, which can't be sent"
    raise UsageError(
        f"A message has a content block {problem}.",
        hint="Use blocks of type text, image or document.",
    )


def _not_content(value: object) -> UsageError:
    return UsageError(
        f"A message's content can't be a {type(value).__name__}.",
        hint="Give it a text, or a list of texts and content blocks.",
    )


def read_attachment(block: JsonObject) -> Attachment:
    """Return the image or document of a content block. Raises ``UsageError``."""
    kind: Literal["image", "document"] = "image" if block.get("type") == "image" else "document"
    fields = {name: _read_field(block, name) for name in ("media_type", "data", "url", "name")}
    if bool(fields["data"]) == bool(fields["url"]) or (fields["data"] and not fields["media_type"]):
        raise UsageError(
            f"A message has a content block of type {kind!r} without its content.",
            hint="Give it data (base64) with a media_type, or a url.",
        )
    return Attachment(kind, **fields)


def _read_field(block: JsonObject, name: str) -> str:
    """Return a field of an attachment; data as base64. Raises ``UsageError``."""
    value: object = block.get(name)
    if name == "data" and isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if value is None:
        return ""
    try:
        if not isinstance(value, str):
            raise TypeError
        if name == "data":
            binascii.a2b_base64(value, strict_mode=True)
    except (TypeError, ValueError):
        expected = "base64, or bytes" if name == "data" else "a text"
        raise UsageError(
            f"The {name} of a content block of type {block.get('type')!r} isn't {expected}.",
            hint="Encode the file's bytes with base64.b64encode." if name == "data" else None,
        ) from None
    return value


def _position(value: JsonValue) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _name_in(holder: JsonObject) -> str | None:
    name = holder.get("name")
    return name if isinstance(name, str) else None


def _result(call_id: str, holder: JsonObject) -> ToolResult:
    content, is_error = holder.get("content"), bool(holder.get("is_error", False))
    blocks = list(_mappings(content))
    files = [block for block in blocks if _is_file(block)]
    if files and all(_is_file(block) or block.get("type") == "text" for block in blocks):
        texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
        attachments = tuple(map(read_attachment, files))
        return ToolResult(call_id, "\n".join(texts), _name_in(holder), is_error, attachments)
    return ToolResult(call_id, _as_text(content), _name_in(holder), is_error)


def _is_file(block: JsonObject) -> bool:
    """Return whether the block is an image or a document, and not a tool's own JSON."""
    if block.get("type") not in ("image", "document"):
        return False
    try:
        read_attachment(block)
    except UsageError:
        return False
    return True


def _as_text(content: JsonValue) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    blocks = list(_mappings(content)) if isinstance(content, Sequence) else []
    if blocks and all(block.get("type") == "text" for block in blocks):
        return "\n".join(str(block.get("text", "")) for block in blocks)
    return json.dumps(content, ensure_ascii=False, default=str)
