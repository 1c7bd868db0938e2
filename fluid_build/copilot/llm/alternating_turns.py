"""A conversation as alternating turns, for the stricter wire formats.

Anthropic and Google accept a system message only in front, want user and model to take turns, the
user first, and all results of a turn's calls together in the next turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.messages import (
    AnswerPart,
    Attachment,
    Message,
    ToolResult,
    answer_parts,
    content_parts,
    text_of,
)
from fluid_build.copilot.messages import tool_results as results_of
from fluid_build.errors import UsageError

TurnPart: TypeAlias = AnswerPart | Attachment

_EMPTY_TURN = "(no text)"
_CONTINUE = "Continue."


@dataclass(slots=True)
class Turn:
    """A turn of one side: results come first, then all other parts in order."""

    is_user: bool
    results: list[ToolResult] = field(default_factory=list)
    parts: list[TurnPart] = field(default_factory=list)


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
    for message in messages[:front]:
        _refuse_attachments(message, "A system message")
    system = [prompt.system, *(text_of(message) for message in messages[:front])]
    return [text for text in system if text.strip()], messages[front:]


def alternate(messages: Iterable[Message], format_name: str) -> list[Turn]:
    """Return the messages as turns of alternating sides, the user's first, none of them empty.

    Answers have the provider's own blocks if they were written in the format ``format_name``.
    """
    turns: list[Turn] = []
    for message in messages:
        is_user = message.get("role") != "assistant"
        if not turns or turns[-1].is_user != is_user:
            turns.append(Turn(is_user))
        turns[-1].results += results_of(message)
        turns[-1].parts += _parts(message, is_user, format_name)
    if not turns or not turns[0].is_user:
        turns.insert(0, Turn(is_user=True))
    for turn in turns:
        if not (turn.results or turn.parts):
            turn.parts.append(_EMPTY_TURN)
    return turns


def end_with_user(turns: list[Turn]) -> list[Turn]:
    """Return the turns with the user's last, for models that don't complete a begun answer."""
    return turns if turns[-1].is_user else [*turns, Turn(is_user=True, parts=[_CONTINUE])]


def _parts(message: Message, is_user: bool, format_name: str) -> list[TurnPart]:
    parts: list[TurnPart] = []
    if is_user:
        parts += content_parts(message)
    else:
        _refuse_attachments(message, "An assistant's message")
        parts += answer_parts(message, format_name)
    return [part for part in parts if not isinstance(part, str) or part.strip()]


def _refuse_attachments(message: Message, place: str) -> None:
    if any(isinstance(part, Attachment) for part in content_parts(message)):
        raise UsageError(
            f"{place} has an image or a document, which can't be sent.",
            hint="Put it in a user's message.",
        )
