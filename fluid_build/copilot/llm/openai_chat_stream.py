"""The reader of a streamed answer of the Chat Completions API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.openai_api import read_usage
from fluid_build.copilot.llm.streaming import (
    StreamEvent,
    StreamReader,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.json_types import JsonObject, JsonValue

_Entry: TypeAlias = dict[str, JsonValue]

_TEXT_FIELDS = ("content", "refusal")
_THINKING_FIELDS = ("reasoning_content", "reasoning")
_PIECES = ("text", "summary", "data", "signature")
"""The fields of OpenRouter's ``reasoning_details`` that arrive in pieces."""


class ChatStreamReader(StreamReader):
    """A reader of chunks (the SDK's ``ChatCompletionChunk``), whose deltas add up to a message.

    ``parse`` reads the whole answer, as if it had come in one piece.
    """

    def __init__(self, parse: Callable[[JsonObject], LlmResponse]) -> None:
        self._parse = parse
        self._message: _Entry = {"role": "assistant", "content": None}
        self._calls: list[_Entry] = []
        self._call_indexes: list[JsonValue] = []
        self._choice: _Entry = {"index": 0, "message": self._message, "finish_reason": None}
        self._body: _Entry = {"choices": [self._choice]}

    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next chunk."""
        self._body |= {name: document[name] for name in ("id", "model") if document.get(name)}
        choices = document.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        events = self._read_choice(choice) if isinstance(choice, Mapping) else []
        if isinstance(document.get("usage"), Mapping):
            self._body["usage"] = document["usage"]
            self.usage = read_usage(document["usage"], "prompt_tokens", "completion_tokens")
            events += [UsageEvent(self.usage)] if self.usage else []
        return events

    def response(self) -> LlmResponse:
        """Return the whole answer."""
        return self._parse(self._body)

    def _read_choice(self, choice: JsonObject) -> list[StreamEvent]:
        delta = choice.get("delta")
        events = self._read_delta(delta) if isinstance(delta, Mapping) else []
        if choice.get("error"):
            self._choice["error"] = choice["error"]
        if choice.get("finish_reason") and not self.is_complete:
            self._choice["finish_reason"] = choice["finish_reason"]
            self.is_complete = True
            events += [ToolCallEvent(call) for call in self._parse(self._body).tool_calls]
        return events

    def _read_delta(self, delta: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        thinking = [text for name in _THINKING_FIELDS if (text := self._extend(delta, name))]
        events += [ThinkingEvent(text) for text in thinking[:1]]
        events += [TextEvent(text) for name in _TEXT_FIELDS if (text := self._extend(delta, name))]
        for detail in _objects(delta.get("reasoning_details")):
            self._add_detail(detail)
        for entry in _objects(delta.get("tool_calls")):
            self._add_call(entry)
        return events

    def _extend(self, delta: JsonObject, name: str) -> str:
        text = delta.get(name)
        if not isinstance(text, str) or not text:
            return ""
        self._message[name] = f"{self._message.get(name) or ''}{text}"
        return text

    def _add_call(self, entry: JsonObject) -> None:
        """Add a part of a call to the call with its index; without an index an id starts one."""
        index = entry.get("index", entry.get("id"))
        if index is None and self._calls:
            index = self._call_indexes[-1]
        if index not in self._call_indexes:
            self._call_indexes.append(index)
            self._calls.append({"type": "function", "function": {"name": "", "arguments": ""}})
            self._message["tool_calls"] = self._calls
        call = self._calls[self._call_indexes.index(index)]
        if entry.get("id"):
            call["id"] = entry["id"]
        part, function = entry.get("function"), call["function"]
        if isinstance(part, Mapping) and isinstance(function, dict):
            for name in ("name", "arguments"):
                function[name] = f"{function[name]}{part.get(name) or ''}"

    def _add_detail(self, part: JsonObject) -> None:
        """Add a part of OpenRouter's reasoning details to the entry with its index and type."""
        details = self._message.setdefault("reasoning_details", [])
        if not isinstance(details, list):
            return
        place = (part.get("index"), part.get("type"))
        last = details[-1] if details else {}
        if not details or place[0] is None or (last.get("index"), last.get("type")) != place:
            details.append(dict(part))
            return
        for name, value in part.items():
            if name in _PIECES and isinstance(value, str) and isinstance(last.get(name), str):
                last[name] += value
            elif value is not None:
                last[name] = value


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
