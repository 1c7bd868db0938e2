"""Conversations by id in a store, which go on in any process.

Each run adds what is new as one record, so two that run at once lose nothing of each other. A run
that had to compact its conversation replaces what it had seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fluid_build.copilot.llm.outgoing import outgoing_secrets, without_secrets
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.base import Store
from fluid_build.errors import UsageError

NAMESPACE = "sessions"


@dataclass(frozen=True, slots=True)
class History:
    """The conversation so far, and how many records it was read from."""

    messages: list[Message]
    records: int


class ChatSession:
    """The conversation ``session_id`` in ``store``, for ``Agent.run(..., session=...)``.

    It's saved as a model gets it, without the secrets of the environment and without keys.
    """

    def __init__(self, store: Store, session_id: str) -> None:
        if not session_id or "/" in session_id:
            raise UsageError(
                f"{session_id!r} can't be the id of a session.",
                hint="Use a text without slashes.",
            )
        self.store = store
        self.id = session_id

    def messages(self) -> list[Message]:
        """Return the whole conversation so far."""
        return self.history().messages

    def history(self) -> History:
        """Return the conversation, and how many records it's in."""
        keys = self.store.keys(NAMESPACE, f"{self.id}/")
        saved = self.store.get_many(NAMESPACE, keys)
        records: list[tuple[int, Mapping[str, Any]]] = []
        for number, key in enumerate(keys):
            record = saved[key].value
            later = [each for each in records if each[0] >= record["replaces"]]
            added = (number, record)
            records = [added, *later] if record["replaces"] else [*records, added]
        messages = [message for _, record in records for message in record["messages"]]
        return History(messages, len(keys))

    def add(
        self, messages: Sequence[Message], *, replaces: int = 0, run_id: str | None = None
    ) -> None:
        """Add the messages of a run, once; they stand for the first ``replaces`` records too."""
        keys = self.store.keys(NAMESPACE, f"{self.id}/")
        if run_id is not None:
            saved = self.store.get_many(NAMESPACE, keys).values()
            if any(record.value["run"] == run_id for record in saved):
                return
        secrets = outgoing_secrets(None)
        record = {
            "messages": [without_secrets(message, secrets) for message in messages],
            "replaces": replaces,
            "run": run_id,
        }
        number = len(keys)
        while not self.store.add(NAMESPACE, f"{self.id}/{number:08d}", record):
            number += 1

    def delete(self) -> None:
        """Delete the conversation."""
        for key in self.store.keys(NAMESPACE, f"{self.id}/"):
            self.store.delete(NAMESPACE, key)
