"""Clipping of messages, which stay valid messages.

Texts and results keep their head and tail; an image or a document stays whole or is left out; what
a provider wants back stays as it is; a call keeps its id and name while its arguments become the
documented marker ``{"_truncated": true, "_preview": ..., "_total_chars": ...}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from fluid_build.copilot.context.attachment_tokens import attachment_tokens
from fluid_build.copilot.context.message_parts import attachments, is_attachment, split_countable
from fluid_build.copilot.context.token_estimate import CHARS_PER_TOKEN
from fluid_build.copilot.messages import Message, read_arguments
from fluid_build.json_types import JsonObject, JsonValue

_CLIPPED_BY_PART = ("text", "tool_use", "tool_result")
_FIRST_STEP = 200
"""Characters: what most gaps are filled with."""
_PRECISION = 0.01
"""The share of its length by which a clipped text may be shorter than it could be."""
_SMALL_BLOCK = 80
"""Characters of JSON: a smaller block costs no more than the note that replaces it."""


def clip_text(text: str, limit: int) -> str:
    """Return ``text`` without its middle where it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    note = f" … [{len(text) - limit:,} characters left out] … "
    if limit <= len(note):
        return text[: max(limit - 1, 0)] + "…" if limit > 0 else ""
    room = limit - len(note)
    head = room * 2 // 3  # the beginning says more than the end
    return text[:head] + note + text[len(text) - (room - head) :]


def clip_message(message: Message, limit: int) -> dict[str, JsonValue]:
    """Return a copy in which no text and no call's arguments exceed ``limit`` characters."""
    clipped = dict(message)
    if "content" in message:
        clipped["content"] = _clip_content(message["content"], limit)
    entries = message.get("tool_calls")
    if isinstance(entries, Sequence) and not isinstance(entries, str):
        clipped["tool_calls"] = [_clip_entry(entry, limit) for entry in entries]
    return clipped


def clip_to_tokens(
    messages: Sequence[Message],
    max_tokens: int,
    count: Callable[[Message], int],
    *,
    shortest: int = 0,
) -> list[dict[str, JsonValue]] | None:
    """Return copies of at most ``max_tokens`` together, clipped to about the longest that fits.

    None if they have more even when clipped to ``shortest`` characters.
    """

    def clipped_to(limit: int) -> tuple[list[dict[str, JsonValue]], bool]:
        copies = [clip_message(message, limit) for message in messages]
        return copies, sum(map(count, copies)) <= max_tokens

    best, fits = clipped_to(shortest)
    if not fits:
        return None
    low, high = shortest, max(map(_longest_leaf, messages), default=0)
    # The steps double until one is too long: a search from the whole length would count texts of
    # which only the beginning fits.
    step = max(shortest, _FIRST_STEP)
    while high - low > low * _PRECISION:
        limit = min(low + step, (low + high + 1) // 2)
        candidate, fits = clipped_to(limit)
        if fits:
            low, best = limit, candidate
            step *= 2
        else:
            high = limit - 1
    return best


def _clip_content(content: JsonValue, limit: int) -> JsonValue:
    if isinstance(content, str):
        return clip_text(content, limit)
    if isinstance(content, Sequence):
        return [_clip_block(block, limit) for block in content]
    return content


def _clip_block(block: JsonValue, limit: int) -> JsonValue:
    if isinstance(block, str):
        return clip_text(block, limit)
    if not isinstance(block, Mapping):
        return block
    clipped = dict(block)
    text = block.get("text")
    if isinstance(text, str):
        clipped["text"] = clip_text(text, limit)
    if block.get("type") == "tool_result" and "content" in block:
        clipped["content"] = _clip_content(block["content"], limit)
    if block.get("type") == "tool_use" and "input" in block:
        clipped["input"] = _clip_arguments(block["input"], limit)
    is_whole = block.get("type") not in _CLIPPED_BY_PART
    if is_whole and _whole_block_length(block) > max(limit, _SMALL_BLOCK):
        name = f" {block['name']}" if block.get("name") else ""
        return {"type": "text", "text": f"[{block.get('type', 'block')}{name} left out]"}
    return clipped


def _clip_entry(entry: JsonValue, limit: int) -> JsonValue:
    if not isinstance(entry, Mapping):
        return entry
    clipped = dict(entry)
    function = entry.get("function")
    if isinstance(function, Mapping) and "arguments" in function:
        clipped["function"] = {
            **function,
            "arguments": _clip_arguments(function["arguments"], limit),
        }
    if "arguments" in entry:
        clipped["arguments"] = _clip_arguments(entry["arguments"], limit)
    return clipped


def _clip_arguments(arguments: JsonValue, limit: int) -> JsonValue:
    """Return the arguments, or the marker; JSON text stays JSON text."""
    text = arguments if isinstance(arguments, str) else _json(arguments)
    if len(text) <= limit:
        return arguments
    earlier = read_arguments(arguments)
    was_clipped = earlier.get("_truncated") is True
    marker: dict[str, JsonValue] = {
        "_truncated": True,
        "_preview": "",
        "_total_chars": earlier.get("_total_chars") if was_clipped else len(text),
    }
    source = str(earlier.get("_preview", "")) if was_clipped else text
    marker["_preview"] = source[: max(limit - len(_json(marker)), 0)]
    if len(_json(marker)) >= len(text):  # the marker would be longer
        return arguments
    return _json(marker) if isinstance(arguments, str) else marker


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _longest_leaf(message: Message) -> int:
    plain, _ = split_countable(message)
    return max(
        len(_json(plain.get("content"))),
        len(_json(plain.get("tool_calls"))),
        *map(_whole_block_length, attachments(message)),
    )


def _whole_block_length(block: JsonObject) -> int:
    """Return the characters of a block, for an attachment those of a text with as many tokens."""
    if is_attachment(block):
        return int(attachment_tokens(block) * CHARS_PER_TOKEN)
    return len(_json(block))
