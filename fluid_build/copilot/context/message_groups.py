"""Groups of messages that can only be kept or left out together.

A message with tool calls and every message with a result of one of them are a group: a provider
refuses a call without its result, and a result without its call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fluid_build.copilot.messages import Message, call_ids, result_ids


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
