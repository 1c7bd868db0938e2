"""What a user interface asks for: AG-UI's input of a run, of which a stranger may write anything.

The conversation is the one in the store. Of the messages that a client sends only those of the user
after the latest answer are new, so that nobody can put words into the mouth of an agent or a tool.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fluid_build.copilot.agents.composite.approvals import Approved, Decision, Denied
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_MEDIA = {"image": "image", "document": "document"}
"""The kinds of content that our messages have, by AG-UI's."""


class _Input(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


class Answer(_Input):
    """The answer to an interrupt: whether a call is approved, and with which arguments."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None

    @property
    def decision(self) -> Decision:
        """Return the decision. Raises ``UsageError`` for a payload that isn't one."""
        if self.status == "cancelled":
            return Denied()
        payload = {"approved": self.payload} if isinstance(self.payload, bool) else self.payload
        if not isinstance(payload, dict) or not isinstance(payload.get("approved"), bool):
            raise UsageError(
                f"The answer to {self.interrupt_id!r} isn't a decision.",
                hint='Send {"approved": true}, or false with a "reason"; "arguments" changes them.',
            )
        if not payload["approved"]:
            return Denied(str(payload.get("reason") or ""))
        arguments = payload.get("arguments")
        return Approved(arguments) if isinstance(arguments, dict) else True


class RunInput(_Input):
    """The input of a run, as far as it means something here."""

    thread_id: str = Field(min_length=1, max_length=500)
    run_id: str = Field(min_length=1, max_length=500)
    messages: list[dict[str, Any]] = []
    state: Any = None
    resume: list[Answer] | None = None

    @property
    def session_id(self) -> str:
        """Return the id of the conversation in the store."""
        return session_id(self.thread_id)

    @property
    def saved_run_id(self) -> str:
        """Return the id of the run in the store: it begins with its conversation's."""
        return f"{self.session_id}-{_digest(self.run_id)}"

    def new_content(self) -> list[JsonObject]:
        """Return what the user has said since the latest answer, as content blocks.

        Raises ``UsageError`` where that is nothing, or of a kind that can't be sent.
        """
        said: list[dict[str, Any]] = []
        for message in self.messages:
            if message.get("role") == "user":
                said.append(message)
            elif message.get("role") in {"assistant", "tool"}:
                said = []
        blocks = [block for message in said for block in _blocks(message.get("content"))]
        if not blocks:
            raise UsageError(
                "The user has said nothing new.", hint="Send a message with the role user."
            )
        return blocks


def session_id(thread_id: str) -> str:
    """Return the id of a thread's session, which may have less signs than the thread's own."""
    return _digest(thread_id)


def read_input(document: object) -> RunInput:
    """Return the input of a run. Raises ``UsageError`` for a document that isn't one."""
    try:
        return RunInput.model_validate(document)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = "/".join(map(str, fault["loc"]))
        raise UsageError(
            f"The input isn't a RunAgentInput: /{place}: {fault['msg']}.",
            hint="See AG-UI's RunAgentInput, version 1.0.",
        ) from None


def _blocks(content: object) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    blocks: list[JsonObject] = []
    for part in content if isinstance(content, list) else []:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            blocks.append({"type": "text", "text": str(part.get("text", ""))})
        elif kind in _MEDIA and isinstance(part.get("source"), dict):
            blocks.append(_attachment(_MEDIA[kind], part["source"]))
        else:
            raise UsageError(
                f"Content of the type {kind!r} can't be sent.",
                hint="Send texts, images and documents.",
            )
    return blocks


def _attachment(kind: str, source: dict[str, Any]) -> JsonObject:
    media_type = source.get("mimeType")
    place = "url" if source.get("type") == "url" else "data"
    block: dict[str, JsonValue] = {"type": kind, place: str(source.get("value", ""))}
    return block | ({"media_type": str(media_type)} if media_type else {})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
