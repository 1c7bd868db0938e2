"""The content blocks of Anthropic's messages: written for a request, and read from an answer.

Source: the SDK's ``MessageContentParam``, ``ContentBlock`` and ``Usage``.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fluid_build.copilot.llm.alternating_turns import Turn, TurnPart
from fluid_build.copilot.llm.base import Usage, check_image_type, whole_number
from fluid_build.copilot.messages import Attachment, ProviderBlock, ToolCall, ToolResult
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_CACHED = {"type": "ephemeral"}
_THINKING = ("thinking", "redacted_thinking")
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""Of the SDK's ``Base64ImageSourceParam``."""


def write_messages(
    turns: list[Turn], mark: Callable[[list[JsonObject]], list[JsonObject]]
) -> JsonValue:
    """Return the turns as messages, with the last one's blocks marked."""
    contents = [_blocks(turn) for turn in turns]
    if not turns[-1].is_user:
        contents[-1] = _without_final_blanks(contents[-1])
    contents[-1] = mark(contents[-1])
    return [
        {"role": "user" if turn.is_user else "assistant", "content": content}
        for turn, content in zip(turns, contents, strict=True)
    ]


def has_thinking(turns: list[Turn]) -> bool:
    """Return whether a turn has thinking in Anthropic's own form."""
    return any(
        isinstance(part, ProviderBlock) and part.block.get("type") in _THINKING
        for turn in turns
        for part in turn.parts
    )


def has_open_server_call(turn: Turn) -> bool:
    """Return whether the turn has a call of Anthropic's own tools without its result.

    An answer with the ``stop_reason`` ``pause_turn`` ends like this, and the model continues it if
    it's sent back unchanged.
    """
    blocks = [part.block for part in turn.parts if isinstance(part, ProviderBlock)]
    answered = [block.get("tool_use_id") for block in blocks]
    return any(
        block.get("type") == "server_tool_use" and block.get("id") not in answered
        for block in blocks
    )


def _without_final_blanks(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return the blocks of a last answer, without the blanks at its end, which the API refuses."""
    last = blocks[-1]
    if last["type"] != "text":
        return blocks
    return [*blocks[:-1], {**last, "text": str(last["text"]).rstrip()}]


def _blocks(turn: Turn) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    for result in turn.results:
        block: dict[str, JsonValue] = {
            "type": "tool_result",
            "tool_use_id": _safe_id(result.call_id),
            "content": _result_content(result),
        }
        if result.is_error:
            block["is_error"] = True
        blocks.append(block)
    return blocks + [_block(part) for part in turn.parts]


def _result_content(result: ToolResult) -> JsonValue:
    if not result.attachments:
        return result.content
    text = [_block(result.content)] if result.content.strip() else []
    return [*text, *(_block(part) for part in result.attachments)]


def _block(part: TurnPart) -> JsonObject:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, ToolCall):
        return {
            "type": "tool_use",
            "id": _safe_id(part.id),
            "name": part.name,
            "input": part.arguments,
        }
    if isinstance(part, ProviderBlock):
        return part.block
    return _image(part) if part.kind == "image" else _document(part)


def _image(image: Attachment) -> JsonObject:
    check_image_type(image, "Anthropic", _IMAGE_TYPES)
    if image.url:
        return {"type": "image", "source": {"type": "url", "url": image.url}}
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _document(document: Attachment) -> JsonObject:
    block: dict[str, JsonValue] = {"type": "document"}
    if document.url:
        block["source"] = {"type": "url", "url": document.url}
    elif document.media_type == "application/pdf":
        source = {"type": "base64", "media_type": document.media_type}
        block["source"] = {**source, "data": document.data}
    elif document.media_type == "text/plain":
        block["source"] = {"type": "text", "media_type": "text/plain", "data": _text(document)}
    else:
        raise UsageError(
            f"Anthropic takes no document of type {document.media_type}.",
            hint="Send application/pdf or text/plain, or put the text into the message.",
        )
    if document.name:
        block["title"] = document.name
    return block


def _text(document: Attachment) -> str:
    try:
        return base64.b64decode(document.data, validate=True).decode()
    except ValueError:
        raise UsageError(
            "A document of type text/plain isn't base64 of UTF-8 text.",
            hint="Encode it, or put the text into the message.",
        ) from None


def _safe_id(call_id: str) -> str:
    """Return an id without the characters that this API refuses; different ids stay different."""
    safe = re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)
    if safe == call_id and safe:
        return safe
    return f"{safe}_{hashlib.sha256(call_id.encode()).hexdigest()[:8]}"


def end_cached(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return the blocks with a cache breakpoint on the last one that isn't thinking."""
    for index in reversed(range(len(blocks))):
        if blocks[index].get("type") not in _THINKING:
            marked = {**blocks[index], "cache_control": _CACHED}
            return [*blocks[:index], marked, *blocks[index + 1 :]]
    return blocks


@dataclass(slots=True)
class AnswerContent:
    """The blocks of an answer by what they are for; ``blocks`` go back to the API unchanged."""

    text: str
    thinking: str
    calls: list[ToolCall]
    blocks: list[ProviderBlock]


def read_content(blocks: Iterable[JsonObject]) -> AnswerContent:
    """Return the text, thinking and calls of an answer, and the blocks that go back."""
    content = AnswerContent("", "", [], [])
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            content.text += str(block.get("text", ""))
        elif kind == "tool_use":
            content.calls.append(_read_call(block))
        elif kind != "thinking" or block.get("signature"):
            # a thinking block without its signature would be refused
            content.blocks.append(ProviderBlock(block, len(content.text), len(content.calls)))
        if kind == "thinking":
            content.thinking += str(block.get("thinking", ""))
    return content


def _read_call(block: JsonObject) -> ToolCall:
    arguments = block.get("input")
    return ToolCall(
        str(block.get("id", "")),
        str(block.get("name", "")),
        dict(arguments) if isinstance(arguments, Mapping) else {},
    )


def read_usage(usage: JsonValue) -> Usage | None:
    """Return the usage; Anthropic counts cached tokens separately from the other input."""
    if not isinstance(usage, Mapping):
        return None
    cached = whole_number(usage.get("cache_read_input_tokens"))
    written = whole_number(usage.get("cache_creation_input_tokens"))
    by_lifetime = usage.get("cache_creation")
    if not written and isinstance(by_lifetime, Mapping):
        written = sum(whole_number(tokens) for tokens in by_lifetime.values())
    return Usage(
        whole_number(usage.get("input_tokens")) + cached + written,
        whole_number(usage.get("output_tokens")),
        cached,
        written,
    )
