"""Compaction of a long agent loop: the goal and the latest turns stay, the middle shrinks.

``truncate`` clips the texts of the middle and shrinks the arguments of its calls to a marker,
``summarize`` puts a summary in its place, ``hybrid`` truncates and then summarizes. The result is
what the loop goes on with: kept, it is not compacted again until it outgrows its budget anew.
Source: the Agentic Primitives page, "Token-budget pre-flight & compaction".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from fluid_build.copilot.context.message_clipping import clip_message, clip_to_tokens
from fluid_build.copilot.context.message_groups import Unit, group_into_units
from fluid_build.copilot.context.pruning import by_recency, select
from fluid_build.copilot.context.summary import Summarizer, is_summary, summarize_messages
from fluid_build.copilot.context.token_budget import estimate_message_tokens
from fluid_build.copilot.messages import Message, text_of
from fluid_build.errors import UsageError

COMPACT_AFTER_VARIABLE = "FLUID_AGENT_COMPACT_AFTER"
COMPACTION_STRATEGY_VARIABLE = "FLUID_COMPACTION_STRATEGY"
DEFAULT_COMPACT_AFTER = 6
DEFAULT_KEEP_TAIL = 4

_SUMMARY_SHARE = 0.25
_SHORTEST_MIDDLE_TEXT = 80


class CompactionStrategy(Enum):
    """What becomes of the middle of a long conversation."""

    TRUNCATE = "truncate"
    SUMMARIZE = "summarize"
    HYBRID = "hybrid"


def compact_after(environ: Mapping[str, str] = os.environ) -> int:
    """Iterations after which the loop compacts: ``FLUID_AGENT_COMPACT_AFTER``, by default 6.

    Raises ``UsageError`` unless it is a whole number, at least 1.
    """
    text = environ.get(COMPACT_AFTER_VARIABLE, "").strip()
    if not text:
        return DEFAULT_COMPACT_AFTER
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise UsageError(
            f"{COMPACT_AFTER_VARIABLE} is {text!r}, which is not a whole number of iterations.",
            hint=f"Set it to 1 or more, or unset it for {DEFAULT_COMPACT_AFTER}.",
        )
    return int(text)


def compaction_strategy(environ: Mapping[str, str] = os.environ) -> CompactionStrategy:
    """``FLUID_COMPACTION_STRATEGY``, by default ``truncate``; ``UsageError`` for another word."""
    text = environ.get(COMPACTION_STRATEGY_VARIABLE, "").strip().lower()
    try:
        return CompactionStrategy(text or "truncate")
    except ValueError:
        raise UsageError(
            f"{COMPACTION_STRATEGY_VARIABLE} is {text!r}, which is no compaction strategy.",
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
) -> list[dict[str, Any]]:
    """The conversation in at most ``max_tokens``; unchanged if it fits already.

    The head (system messages and the first user message) and the last ``keep_tail`` messages stay
    whole as long as that fits. ``strategy`` is by default that of the environment; without a
    summarizer, or when it fails, every strategy truncates. Raises ``ContextOverflowError`` where
    not even the clipped system messages and latest exchange fit.
    """
    if sum(map(count, messages)) <= max_tokens:
        return [dict(message) for message in messages]
    strategy = strategy or compaction_strategy()
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
    gone = frozenset(middle)
    summarized = [dict(m) for position, m in enumerate(messages) if position not in gone]
    summarized.insert(middle[0], summary)
    return _within(summarized, max_tokens, count)


def _middle(
    messages: Sequence[Message], keep_tail: int, count: Callable[[Message], int]
) -> list[int]:
    """Positions of whole units that are neither in the head nor in the tail."""
    first_user = _first_user(messages)
    tail_from = max(len(messages) - max(keep_tail, 1), 0)

    def stays(unit: Unit) -> bool:
        return unit.is_system or first_user in unit.positions or unit.positions[-1] >= tail_from

    return sorted(
        position
        for unit in group_into_units(messages, count)
        if not stays(unit)
        for position in unit.positions
    )


def _truncate(
    messages: Sequence[Message],
    middle: Sequence[int],
    max_tokens: int,
    count: Callable[[Message], int],
) -> list[dict[str, Any]]:
    """The middle clipped so far as the budget asks, at the least to a preview."""
    result = [dict(message) for message in messages]
    gone = frozenset(middle)
    others = sum(count(m) for position, m in enumerate(messages) if position not in gone)
    parts = [messages[position] for position in middle]
    clipped = clip_to_tokens(parts, max_tokens - others, count, shortest=_SHORTEST_MIDDLE_TEXT)
    if clipped is None:
        clipped = [clip_message(part, _SHORTEST_MIDDLE_TEXT) for part in parts]
    for position, copy in zip(middle, clipped, strict=True):
        result[position] = copy
    return result


def _within(
    messages: list[dict[str, Any]], max_tokens: int, count: Callable[[Message], int]
) -> list[dict[str, Any]]:
    """``messages`` if they fit; else the goal, a summary and the latest of them that do."""
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
    """Position of the message that says what the loop is for; results are no such message."""
    return next(
        (
            position
            for position, message in enumerate(messages)
            if message.get("role") == "user" and text_of(message)
        ),
        None,
    )
