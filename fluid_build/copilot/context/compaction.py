"""Compaction of a long agent loop: the goal and the latest turns stay, the middle shrinks.

``truncate`` clips the texts of the middle and shrinks the arguments of its calls to a marker,
``summarize`` replaces it by a summary, ``hybrid`` truncates and then summarizes. The loop goes on
with the result, which is compacted again only when it outgrows its budget.
Source: the Agentic Primitives page, "Token-budget pre-flight & compaction".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from fluid_build.copilot.context.message_clipping import clip_message, clip_to_tokens
from fluid_build.copilot.context.message_parts import (
    MessageGroup,
    attachments,
    group_messages,
    without_earlier_thinking,
)
from fluid_build.copilot.context.pruning import by_recency, select
from fluid_build.copilot.context.summary import Summarizer, is_summary, summarize_messages
from fluid_build.copilot.context.token_budget import estimate_message_tokens
from fluid_build.copilot.messages import Message, text_of
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonValue

COMPACT_AFTER_VARIABLE = "FLUID_AGENT_COMPACT_AFTER"
COMPACTION_STRATEGY_VARIABLE = "FLUID_COMPACTION_STRATEGY"
DEFAULT_COMPACT_AFTER = 6
DEFAULT_KEEP_TAIL = 4
"""Messages at the end that stay whole: two exchanges, which the next step usually refers to."""

_SUMMARY_SHARE = 0.25
"""The share of the budget for a summary, which replaces most of the conversation."""
_SHORTEST_MIDDLE_TEXT = 80
"""Characters of a clipped text: about a line, enough to say what it was about."""


class CompactionStrategy(Enum):
    """The treatment of the middle of a long conversation."""

    TRUNCATE = "truncate"
    SUMMARIZE = "summarize"
    HYBRID = "hybrid"


def compact_after(environ: Mapping[str, str] | None = None) -> int:
    """Return the iterations before the loop compacts: ``FLUID_AGENT_COMPACT_AFTER``, or 6.

    Raises ``UsageError`` unless it is a whole number, at least 1.
    """
    text = _variables(environ).get(COMPACT_AFTER_VARIABLE, "").strip()
    if not text:
        return DEFAULT_COMPACT_AFTER
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise UsageError(
            f"{COMPACT_AFTER_VARIABLE} is {text!r}, which isn't a whole number of iterations.",
            hint=f"Set it to 1 or more, or unset it for {DEFAULT_COMPACT_AFTER}.",
        )
    return int(text)


def compaction_strategy(environ: Mapping[str, str] | None = None) -> CompactionStrategy:
    """Return ``FLUID_COMPACTION_STRATEGY``, or ``truncate``. Raises ``UsageError``."""
    text = _variables(environ).get(COMPACTION_STRATEGY_VARIABLE, "").strip().lower()
    try:
        return CompactionStrategy(text or "truncate")
    except ValueError:
        raise UsageError(
            f"{COMPACTION_STRATEGY_VARIABLE} is {text!r}, which isn't a compaction strategy.",
            hint="Set it to truncate, summarize or hybrid, or unset it.",
        ) from None


def compact_messages(
    messages: Sequence[Message],
    *,
    max_tokens: int,
    strategy: CompactionStrategy | None = None,
    summarizer: Summarizer | None = None,
    keep_tail: int = DEFAULT_KEEP_TAIL,
    count: Callable[[Message], int] = estimate_message_tokens,
) -> list[dict[str, JsonValue]]:
    """Return the conversation in at most ``max_tokens``, unchanged if it fits already.

    The head (system messages and the first user message) and the last ``keep_tail`` messages stay
    whole as long as they fit. ``strategy`` defaults to the environment's; without a summarizer, or
    when it fails, every strategy truncates. Raises ``ContextOverflowError`` where not even the
    clipped system messages and latest exchange fit.
    """
    if sum(map(count, messages)) <= max_tokens:
        return [dict(message) for message in messages]
    strategy = strategy or compaction_strategy()
    messages = without_earlier_thinking(messages)
    if sum(map(count, messages)) <= max_tokens:
        return [dict(message) for message in messages]
    middle = _middle(messages, keep_tail, count)
    truncated = _truncate(messages, middle, max_tokens, count)
    if strategy is CompactionStrategy.TRUNCATE or summarizer is None or not middle:
        return _within(truncated, max_tokens, count)
    source = messages if strategy is CompactionStrategy.SUMMARIZE else truncated
    summary = summarize_messages(
        [source[position] for position in middle],
        summarizer,
        max_tokens=int(max_tokens * _SUMMARY_SHARE),
        count=count,
    )
    if summary is None:
        return _within(truncated, max_tokens, count)
    replaced = frozenset(middle)
    summarized = [dict(m) for position, m in enumerate(messages) if position not in replaced]
    summarized.insert(middle[0], summary)
    return _within(summarized, max_tokens, count)


def _middle(
    messages: Sequence[Message], keep_tail: int, count: Callable[[Message], int]
) -> list[int]:
    """Return the positions of whole groups that are in neither the head nor the tail."""
    first_user = _first_user(messages)
    tail_from = max(len(messages) - max(keep_tail, 1), 0)

    def stays(group: MessageGroup) -> bool:
        return group.is_system or first_user in group.positions or group.positions[-1] >= tail_from

    return sorted(
        position
        for group in group_messages(messages, count)
        if not stays(group)
        for position in group.positions
    )


def _truncate(
    messages: Sequence[Message],
    middle: Sequence[int],
    max_tokens: int,
    count: Callable[[Message], int],
) -> list[dict[str, JsonValue]]:
    """Return the messages with the middle clipped as far as the budget asks."""
    result = [dict(message) for message in messages]
    clippable = frozenset(middle)
    fixed = sum(count(m) for position, m in enumerate(messages) if position not in clippable)
    parts = [messages[position] for position in middle]
    clipped = clip_to_tokens(parts, max_tokens - fixed, count, shortest=_SHORTEST_MIDDLE_TEXT)
    if clipped is None:
        clipped = [clip_message(part, _SHORTEST_MIDDLE_TEXT) for part in parts]
    for position, copy in zip(middle, clipped, strict=True):
        result[position] = copy
    return result


def _within(
    messages: list[dict[str, JsonValue]], max_tokens: int, count: Callable[[Message], int]
) -> list[dict[str, JsonValue]]:
    """Return the messages if they fit, else the goal, the summary and the latest that fit."""
    if sum(map(count, messages)) <= max_tokens:
        return messages
    return select(
        messages,
        limit=max_tokens,
        target=max_tokens,
        ranking=by_recency,
        count=count,
        whole_suffix=True,
        also_keep=frozenset(
            position
            for position, message in enumerate(messages)
            if position == _first_user(messages) or is_summary(message)
        ),
    ).messages


def _first_user(messages: Sequence[Message]) -> int | None:
    """Return the position of the user's first message, which isn't a result: the loop's goal."""
    return next(
        (
            position
            for position, message in enumerate(messages)
            if message.get("role") == "user"
            and (text_of(message) or any(True for _ in attachments(message)))
        ),
        None,
    )


def _variables(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environ is None else environ
