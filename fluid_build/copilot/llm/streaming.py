"""Streamed answers: the events that a caller sees, and the frames that they arrive in.

The bytes of a stream are cut into JSON documents by ``ServerSentEvents`` or ``JsonLines``. A
provider's ``StreamReader`` turns the documents into events, and into the same answer that the
provider would have sent in one piece.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.messages import ToolCall
from fluid_build.json_types import JsonObject

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""Of one document: more than any provider sends, so that a server that floods is stopped."""


@dataclass(frozen=True, slots=True)
class TextEvent:
    """Some more text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingEvent:
    """Some more of the model's thinking, which isn't part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallEvent:
    """A whole call, once its arguments are complete."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """The tokens that the provider has reported so far. A later report replaces this one."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """The whole answer: always the last event of a stream that wasn't cut off."""

    response: LlmResponse


StreamEvent: TypeAlias = TextEvent | ThinkingEvent | ToolCallEvent | UsageEvent | AnswerEvent


class StreamReader(ABC):
    """A reader of one streamed answer, in one wire format."""

    usage: Usage | None = None
    """The tokens reported so far."""
    is_complete: bool = False
    """Whether the answer has its end. A stream that ends before is cut off."""

    @abstractmethod
    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next document, but for the answer itself."""

    @abstractmethod
    def response(self) -> LlmResponse:
        """Return the whole answer, once ``is_complete``."""


class FrameError(ValueError):
    """Bytes that aren't a stream in the expected framing."""


class StreamFrames(ABC):
    """A decoder of one stream's bytes, which may be cut anywhere, into JSON documents."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @abstractmethod
    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the documents that ``data`` completes. Raises ``FrameError``."""

    def end(self) -> list[JsonObject]:
        """Return the document that the end of the stream completes, if any."""
        return self.feed(b"\n\n") if self._buffer.strip() else []

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """Yield the complete lines; the rest waits for more bytes."""
        self._buffer += data
        *lines, rest = bytes(self._buffer).replace(b"\r\n", b"\n").split(b"\n")
        if len(rest) > MAX_FRAME_BYTES:
            raise FrameError("a line is too long")
        self._buffer = bytearray(rest)
        yield from lines


class JsonLines(StreamFrames):
    """A JSON document in each line, as Ollama sends them."""

    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the documents that ``data`` completes. Raises ``FrameError``."""
        return [_document(line) for line in self._lines(data) if line.strip()]


class ServerSentEvents(StreamFrames):
    """Events with a JSON document as ``data``, as the HTML standard defines them.

    ``[DONE]`` is no document. Comments and the events' names are ignored: the documents of the
    providers have their own types.
    """

    def __init__(self) -> None:
        super().__init__()
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the documents that ``data`` completes. Raises ``FrameError``."""
        documents: list[JsonObject] = []
        for line in self._lines(data):
            if line.startswith(b"data:"):
                self._add(line[5:].removeprefix(b" "))
            elif not line and self._data:
                text = b"\n".join(self._data)
                self._data, self._size = [], 0
                if text.strip() != b"[DONE]":
                    documents.append(_document(text))
        return documents

    def end(self) -> list[JsonObject]:
        """Return the document that the end of the stream completes, if any."""
        return self.feed(b"\n\n") if self._buffer.strip() or self._data else []

    def _add(self, value: bytes) -> None:
        self._data.append(value)
        self._size += len(value)
        if self._size > MAX_FRAME_BYTES:
            raise FrameError("an event is too long")


def _document(text: bytes) -> JsonObject:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise FrameError("a document isn't JSON") from None
    if not isinstance(document, dict):
        raise FrameError("a document isn't a JSON object")
    return document
