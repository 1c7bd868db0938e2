"""The parts of messages that aren't plain text, and the groups of messages that stay together."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.copilot.context.attachment_tokens import attachment_tokens, is_guess
from fluid_build.copilot.context.token_estimate import CHARS_PER_TOKEN, estimate_tokens
from fluid_build.copilot.messages import Message, call_ids, result_ids, tool_results
from fluid_build.json_types import JsonObject, JsonValue

_LONG_TOKEN = 64
"""Characters: a longer run without a blank is encrypted thinking or a signature, not a word."""


def is_attachment(block: JsonValue) -> bool:
    """Return whether a content block is an image or a document."""
    return isinstance(block, Mapping) and block.get("type") in ("image", "document")


def attachments(message: Message) -> Iterator[JsonObject]:
    """Yield the images and documents of a message and of the results in it."""
    content = message.get("content")
    if isinstance(content, str) or not isinstance(content, Sequence):
        return
    if message.get("role") != "tool":
        yield from (b for b in content if isinstance(b, Mapping) and is_attachment(b))
    for result in tool_results(message):
        yield from (attachment.as_block() for attachment in result.attachments)


def split_countable(message: Message) -> tuple[Message, int]:
    """Return the message with its plain text only, and the tokens of everything else.

    The base64 of an image says nothing about its tokens, and neither does a signature.
    """
    blocks, attached = message.get("provider_blocks"), list(attachments(message))
    if blocks is None and not attached:
        return message, 0
    plain = {key: value for key, value in message.items() if key != "provider_blocks"}
    if attached:
        plain["content"] = _plain_content(message)
    return plain, _opaque_tokens(blocks) + sum(map(attachment_tokens, attached))


def guessed_tokens(messages: Iterable[Message]) -> int:
    """Return the part of the messages' tokens that is for documents of unknown length."""
    blocks = (block for message in messages for block in attachments(message))
    return sum(attachment_tokens(block) for block in blocks if is_guess(block))


def _turn_start(messages: Sequence[Message]) -> int:
    """Return the position of the user's last message that isn't a result, or 0."""
    return next(
        (
            position
            for position in range(len(messages) - 1, -1, -1)
            if messages[position].get("role") == "user" and not result_ids(messages[position])
        ),
        0,
    )


def without_earlier_thinking(messages: Sequence[Message]) -> list[Message]:
    """Return the messages, those before the current turn without their provider blocks.

    A loop of tool calls needs its thinking until the user speaks again. Earlier thinking may be
    left out: Anthropic ("Extended thinking"), OpenAI ("Reasoning models", keeping reasoning items)
    and Google ("Thought signatures") check only the current turn.
    """
    start = _turn_start(messages)
    return [
        {key: value for key, value in message.items() if key != "provider_blocks"}
        if position < start and "provider_blocks" in message
        else message
        for position, message in enumerate(messages)
    ]


def _plain_content(message: Message) -> JsonValue:
    """Return the content without its attachments, and results that have some as text."""
    results = iter(tool_results(message))
    if message.get("role") == "tool":
        return next(results).content
    content = message["content"]
    assert isinstance(content, Sequence)
    plain: list[JsonValue] = []
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            result = next(results)
            plain.append({**block, "content": result.content} if result.attachments else block)
        elif not is_attachment(block):
            plain.append(block)
    return plain


def _opaque_tokens(value: JsonValue) -> int:
    """Return the tokens of a provider's blocks.

    Encrypted thinking is charged as the thinking that it is, so its characters count as prose.
    """
    if isinstance(value, str):
        is_encrypted = len(value) > _LONG_TOKEN and value.isascii() and " " not in value
        return math.ceil(len(value) / CHARS_PER_TOKEN) if is_encrypted else estimate_tokens(value)
    if isinstance(value, Mapping):
        return sum(estimate_tokens(str(key)) + _opaque_tokens(v) for key, v in value.items())
    if isinstance(value, Sequence):
        return sum(map(_opaque_tokens, value))
    return 0 if value is None else estimate_tokens(json.dumps(value))


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Positions in the conversation, ascending, and the sum of their messages' tokens.

    ``is_open``: a call in it still waits for its result; ``is_system``: it is a system message.
    """

    positions: tuple[int, ...]
    tokens: int
    is_system: bool
    is_open: bool


def group_messages(
    messages: Sequence[Message], count: Callable[[Message], int]
) -> list[MessageGroup]:
    """Return the groups by their first message. A repeated id belongs to the later call."""
    owner: dict[str, int] = {}
    members: dict[int, list[int]] = {}
    waiting: dict[int, set[str]] = {}
    for position, message in enumerate(messages):
        callers = {owner[i] for i in result_ids(message) if i in owner}
        home = min(callers, default=position)
        for caller in callers - {home}:
            members[home] += members.pop(caller)
            waiting[home] |= waiting.pop(caller)
            owner.update({i: home for i, first in owner.items() if first == caller})
        members.setdefault(home, []).append(position)
        waiting.setdefault(home, set()).difference_update(result_ids(message))
        for call_id in call_ids(message):
            owner[call_id] = home
            waiting[home].add(call_id)
    return [
        MessageGroup(
            positions=tuple(sorted(positions)),
            tokens=sum(count(messages[p]) for p in positions),
            is_system=messages[home].get("role") == "system",
            is_open=bool(waiting[home]),
        )
        for home, positions in sorted(members.items())
    ]
