"""Summaries of a part of a conversation, by a summarizer that may fail."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from fluid_build.copilot.context.message_clipping import clip_text, clip_to_tokens
from fluid_build.copilot.context.message_parts import attachments
from fluid_build.copilot.messages import Message, text_of, tool_calls, tool_results
from fluid_build.json_types import JsonValue

LOG = logging.getLogger(__name__)

SUMMARY_HEADING = "[Summary of the earlier conversation]"

Summarizer = Callable[[str], str]
"""A function from a transcript to a summary."""

_LONGEST_PART = 2_000
"""Characters of a message in a transcript: a summary needs its gist, and it costs money."""
_LONGEST_TRANSCRIPT = 100_000
"""Characters of a transcript: about 30,000 tokens, which every fast model takes."""


def summarize_messages(
    messages: Sequence[Message],
    summarizer: Summarizer,
    *,
    max_tokens: int,
    count: Callable[[Message], int],
) -> dict[str, JsonValue] | None:
    """Return a user message with a summary of at most ``max_tokens``.

    None where the summarizer raises, returns nothing, or there is no room. It isn't a system
    message because its words come from a model.
    """
    try:
        summary = summarizer(transcript(messages))
    except Exception as error:  # noqa: BLE001 - whatever fails here, truncation takes its place
        LOG.warning("the summarizer failed (%s), truncating instead", type(error).__name__)
        return None
    if not isinstance(summary, str) or not summary.strip():
        LOG.warning("the summarizer returned nothing, truncating instead")
        return None
    message: dict[str, JsonValue] = {
        "role": "user",
        "content": f"{SUMMARY_HEADING}\n{summary.strip()}",
    }
    clipped = clip_to_tokens([message], max_tokens, count, shortest=2 * len(SUMMARY_HEADING))
    return clipped[0] if clipped else None


def is_summary(message: Message) -> bool:
    """Return whether a message comes from ``summarize_messages``."""
    return message.get("role") == "user" and text_of(message).startswith(SUMMARY_HEADING)


def transcript(messages: Sequence[Message]) -> str:
    """Return the messages as plain text, with long parts and a long whole clipped.

    An earlier summary stays as it is: it says who spoke, and is all that is left of its part.
    """
    lines: list[str] = []
    for message in messages:
        role, text = message.get("role", "user"), text_of(message)
        if is_summary(message):
            lines.append(text.removeprefix(SUMMARY_HEADING).strip())
        elif text:
            lines.append(f"{role}: {clip_text(text, _LONGEST_PART)}")
        for block in attachments(message):
            lines.append(f"{role} attached: {block['type']} {block.get('name') or ''}".rstrip())
        lines += [
            f"{role} called {call.name}: {clip_text(str(call.arguments), _LONGEST_PART)}"
            for call in tool_calls(message)
        ]
        lines += [
            f"result of {result.name or 'the call'}: {clip_text(result.content, _LONGEST_PART)}"
            for result in tool_results(message)
        ]
    return clip_text("\n".join(lines), _LONGEST_TRANSCRIPT)
