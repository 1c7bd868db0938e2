"""Streamed answers: the events that a caller sees, and the frames that they arrive in.

The bytes of a stream are cut into JSON documents by ``ServerSentEvents`` or ``JsonLines``. A
provider's ``StreamReader`` turns the documents into events, and into the same answer that the
provider would have sent in one piece.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.untrusted_json import read_json
from fluid_build.json_types import JsonObject

_BOM = b"\xef\xbb\xbf"

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
    is_usage_final: bool = False
    """Whether no later report can change the usage."""
    is_complete: bool = False
    """Whether the answer has its end. A stream that ends before is cut off."""
    hides_output: bool = False
    """Whether output may be billed that neither ``usage`` nor the documents show so far."""

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
        self._ends_with_cr = False

    @abstractmethod
    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the documents that ``data`` completes. Raises ``FrameError``."""

    def end(self) -> list[JsonObject]:
        """Return the document that the end of the stream completes, if any."""
        return self.feed(b"\n\n") if self._buffer.strip() else []

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """Yield the complete lines without their ends: LF, CRLF, or CR alone."""
        if self._ends_with_cr and data:  # the LF after it is part of the same end
            data = data.removeprefix(b"\n")
            self._ends_with_cr = False
        lines = data.splitlines(keepends=True)
        for line in lines:
            self._buffer += line  # a line that comes in many pieces is copied once
            if line.endswith((b"\n", b"\r")):
                complete = bytes(self._buffer).rstrip(b"\r\n")
                self._buffer.clear()
                yield complete
        self._ends_with_cr = data.endswith(b"\r")
        if len(self._buffer) > MAX_FRAME_BYTES:
            raise FrameError("a line is too long")


class JsonLines(StreamFrames):
    """A JSON document in each line, as Ollama sends them."""

    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the documents that ``data`` completes. Raises ``FrameError``."""
        return [_document(line) for line in self._lines(data) if line.strip()]


class ServerSentEvents(StreamFrames):
    """Events with a JSON document as ``data``, framed as the HTML standard says (9.2.6).

    ``[DONE]`` is no document, and the end of the stream ends the last event: some servers leave out
    its empty line. Comments and the events' names are ignored: the documents of the
    providers have their own types.
    """

    def __init__(self) -> None:
        super().__init__()
        self._data: list[bytes] = []
        self._size = 0
        self._has_begun = False

    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the documents that ``data`` completes. Raises ``FrameError``."""
        documents: list[JsonObject] = []
        for line in self._lines(data):
            if not self._has_begun:
                line, self._has_begun = line.removeprefix(_BOM), True
            field, _, value = line.partition(b":")
            if field == b"data":
                self._add(value.removeprefix(b" "))
            elif not line and self._data:
                text = b"\n".join(self._data)
                self._data, self._size = [], 0
                if text.strip() not in (b"", b"[DONE]"):
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
        document = read_json(text)
    except ValueError:
        raise FrameError("a document isn't JSON") from None
    if not isinstance(document, dict):
        raise FrameError("a document isn't a JSON object")
    return document
