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
    """A digest of a conversation that grows at its end; anything else is read again."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._hash = hashlib.sha256()

    def of(self, messages: Sequence[Message]) -> str:
        """Return the digest of ``messages``, with their order and every value in them."""
        known = len(self._messages)
        if messages[:known] != self._messages:
            self._hash, known = hashlib.sha256(), 0
        for message in messages[known:]:
            canonical = json.dumps(message, sort_keys=True, separators=(",", ":"))
            self._hash.update(canonical.encode() + b"\n")
        self._messages = list(messages)
        return self._hash.hexdigest()


class ConversationTokens:
    """The estimated tokens of a conversation that grows at its end.

    Once the provider has reported the tokens of a prompt, only what follows it is estimated.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._tokens = 0

    def of(self, messages: Sequence[Message]) -> int:
        """Return the tokens of ``messages``."""
        known = len(self._messages)
        if messages[:known] != self._messages:
            self._tokens, known = 0, 0
        self._tokens += sum(map(estimate_message_tokens, messages[known:]))
        self._messages = list(messages)
        return self._tokens

    def correct(self, tokens: int) -> None:
        """Replace the estimate of the latest ``messages`` by a reported number, unless it is 0."""
        if tokens > 0:
            self._tokens = tokens
