"""A stretch of conversation in a few sentences, by a summarizer that may fail."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from fluid_build.copilot.context.message_clipping import clip_text, clip_to_tokens
from fluid_build.copilot.messages import Message, text_of, tool_calls, tool_results

LOG = logging.getLogger(__name__)

SUMMARY_HEADING = "[Summary of the earlier conversation]"

Summarizer = Callable[[str], str]
"""Turns a transcript into a summary."""

_LONGEST_PART = 2_000
_LONGEST_TRANSCRIPT = 100_000


def summarize_messages(
    messages: Sequence[Message],
    summarizer: Summarizer,
    *,
    max_tokens: int,
    count: Callable[[Message], int],
) -> dict[str, Any] | None:
    """One user message with the summary, in at most ``max_tokens``.

    ``None`` where the summarizer raises, says nothing, or there is no room. It is a user message
    because its words come from a model: they must not speak with the system's authority.
    """
    try:
        summary = summarizer(transcript(messages))
    except Exception as error:  # noqa: BLE001 - whatever fails here, truncation takes its place
        LOG.warning("the summarizer failed (%s), truncating instead", type(error).__name__)
        return None
    if not isinstance(summary, str) or not summary.strip():
        LOG.warning("the summarizer said nothing, truncating instead")
        return None
    message = {"role": "user", "content": f"{SUMMARY_HEADING}\n{summary.strip()}"}
    clipped = clip_to_tokens([message], max_tokens, count, shortest=2 * len(SUMMARY_HEADING))
    return clipped[0] if clipped else None


def is_summary(message: Message) -> bool:
    """Whether ``summarize_messages`` made it."""
    return message.get("role") == "user" and text_of(message).startswith(SUMMARY_HEADING)


def transcript(messages: Sequence[Message]) -> str:
    """The messages as plain text, long parts and a long whole clipped in the middle."""
    lines: list[str] = []
    for message in messages:
        role = message.get("role", "user")
        text = text_of(message)
        if text:
            lines.append(f"{role}: {clip_text(text, _LONGEST_PART)}")
        lines += [
            f"{role} called {call.name}: {clip_text(str(call.arguments), _LONGEST_PART)}"
            for call in tool_calls(message)
        ]
        lines += [
            f"result of {result.name or 'the call'}: {clip_text(result.content, _LONGEST_PART)}"
            for result in tool_results(message)
        ]
    return clip_text("\n".join(lines), _LONGEST_TRANSCRIPT)
