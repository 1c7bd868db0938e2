"""A conversation as alternating turns, for the stricter wire formats.

Anthropic and Google accept a system message only in front, want user and model to take turns, the
user first, and all results of a turn's calls together in the next turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.messages import Message, ToolCall, ToolResult, text_of, tool_calls
from fluid_build.copilot.messages import tool_results as results_of

_EMPTY_TURN = "(no text)"


@dataclass(slots=True)
class Turn:
    """A turn of one side: results come first, then texts, then calls."""

    is_user: bool
    results: list[ToolResult] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


def split_system(prompt: LlmPrompt) -> tuple[list[str], list[Message]]:
    """Return the system texts in front, and the messages after them.

    A later system message stays where it is, as the user's; so does the last one of a conversation
    that has no other message, because a model needs a question.
    """
    messages = list(prompt.messages)
    front = 0
    while front < len(messages) and messages[front].get("role") == "system":
        front += 1
    if front == len(messages) and front > 0:
        front -= 1
    system = [prompt.system, *(text_of(message) for message in messages[:front])]
    return [text for text in system if text.strip()], messages[front:]


def alternate(messages: Iterable[Message]) -> list[Turn]:
    """Return the messages as turns of alternating sides, the user's first, none of them empty."""
    turns: list[Turn] = []
    for message in messages:
        is_user = message.get("role") != "assistant"
        if not turns or turns[-1].is_user != is_user:
            turns.append(Turn(is_user))
        turn = turns[-1]
        turn.results += results_of(message)
        turn.calls += tool_calls(message)
        text = text_of(message)
        if text.strip():
            turn.texts.append(text)
    if not turns or not turns[0].is_user:
        turns.insert(0, Turn(is_user=True))
    for turn in turns:
        if not (turn.results or turn.texts or turn.calls):
            turn.texts.append(_EMPTY_TURN)
    return turns
