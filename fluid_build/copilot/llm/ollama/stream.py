"""Ollama's streamed answers: each line is an answer with the next piece of the message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.llm.streaming import (
    StreamEvent,
    StreamReader,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.json_types import JsonObject, JsonValue


class OllamaStream(StreamReader):
    """A reader of one streamed answer.

    ``parse`` reads the assembled body, ``read_usage`` its usage, which only the last line has.
    """

    def __init__(
        self,
        parse: Callable[[JsonObject], LlmResponse],
        read_usage: Callable[[JsonObject], Usage | None],
    ) -> None:
        self._parse, self._read_usage = parse, read_usage
        self._body: dict[str, JsonValue] = {}
        self._role = "assistant"
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[JsonValue] = []

    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next line; calls come with the last one."""
        self._body |= {key: value for key, value in document.items() if key != "message"}
        message = document.get("message")
        events = self._message_events(message) if isinstance(message, Mapping) else []
        if document.get("done") is True and not self.is_complete:
            self.is_complete = True
            self.usage = self._read_usage(document)
            events += [ToolCallEvent(call) for call in self.response().tool_calls]
            events += [UsageEvent(self.usage)] if self.usage is not None else []
        return events

    def response(self) -> LlmResponse:
        """Return the whole answer."""
        message: dict[str, JsonValue] = {
            "role": self._role,
            "content": "".join(self._content),
        }
        if self._thinking:
            message["thinking"] = "".join(self._thinking)
        if self._calls:
            message["tool_calls"] = self._calls
        return self._parse({**self._body, "message": message})

    def _message_events(self, message: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        self._role = str(message.get("role") or self._role)
        if thinking := message.get("thinking"):
            self._thinking.append(str(thinking))
            events.append(ThinkingEvent(str(thinking)))
        if content := message.get("content"):
            self._content.append(str(content))
            events.append(TextEvent(str(content)))
        calls = message.get("tool_calls")
        self._calls += calls if isinstance(calls, list) else []
        return events
