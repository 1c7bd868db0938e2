"""What a loop keeps about its conversation, updated by each message that is new.

A loop that hashed or counted everything before each turn would take quadratic time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from fluid_build.copilot.context.token_budget import estimate_message_tokens
from fluid_build.copilot.messages import Message


class ConversationDigest:
    """A digest of a conversation that grows at its end.

    One that was rewritten is read again: it no longer has the same last message in its place.
    """

    def __init__(self) -> None:
        self._last: Message | None = None
        self._count = 0
        self._hash = hashlib.sha256()

    def of(self, messages: Sequence[Message]) -> str:
        """Return the digest of ``messages``, with their order and every value in them."""
        if not _continues(messages, self._count, self._last):
            self._hash, self._count = hashlib.sha256(), 0
        for message in messages[self._count :]:
            canonical = json.dumps(message, sort_keys=True, separators=(",", ":"))
            self._hash.update(canonical.encode() + b"\n")
        self._count, self._last = len(messages), messages[-1] if messages else None
        return self._hash.hexdigest()


class ConversationTokens:
    """The estimated tokens of a conversation that grows at its end, or was rewritten.

    Once the provider has reported the tokens of a prompt, only what follows it is estimated.
    """

    def __init__(self) -> None:
        self._last: Message | None = None
        self._count = 0
        self._tokens = 0

    def of(self, messages: Sequence[Message]) -> int:
        """Return the tokens of ``messages``."""
        if not _continues(messages, self._count, self._last):
            self._tokens, self._count = 0, 0
        self._tokens += sum(map(estimate_message_tokens, messages[self._count :]))
        self._count, self._last = len(messages), messages[-1] if messages else None
        return self._tokens

    def correct(self, tokens: int) -> None:
        """Replace the estimate of the latest ``messages`` by a reported number, unless it is 0."""
        if tokens > 0:
            self._tokens = tokens


def _continues(messages: Sequence[Message], count: int, last: Message | None) -> bool:
    """Return whether a conversation goes on after its first ``count`` messages.

    A comparison of all of them would take quadratic time in a long loop.
    """
    return count == 0 or (len(messages) >= count and messages[count - 1] is last)
