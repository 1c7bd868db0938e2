"""The reader of a streamed answer of the Chat Completions API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.openai.api import read_usage
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


@dataclass(slots=True)
class _CallParts:
    """A call as far as it has arrived."""

    id: JsonValue = None
    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def as_entry(self) -> _Entry:
        """Return the entry of a message's ``tool_calls``."""
        function = {"name": "".join(self.name), "arguments": "".join(self.arguments)}
        return {"id": self.id, "type": "function", "function": function}


class ChatStreamReader(StreamReader):
    """A reader of chunks (the SDK's ``ChatCompletionChunk``): their deltas add up to a message.

    ``parse`` reads the whole answer, as if it had come in one piece.
    """

    def __init__(self, parse: Callable[[JsonObject], LlmResponse]) -> None:
        self._parse = parse
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._details: list[_Entry] = []
        self._calls: dict[int | str, _CallParts] = {}
        self._last_call: int | str = 0
        self._choice: _Entry = {"index": 0}
        self._body: _Entry = {}

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
        message: _Entry = {"role": "assistant", "content": None}
        message |= {name: "".join(parts) for name, parts in self._texts.items()}
        if self._details:
            message["reasoning_details"] = self._details
        if self._calls:
            message["tool_calls"] = [call.as_entry() for call in self._calls.values()]
        return self._parse({**self._body, "choices": [{**self._choice, "message": message}]})

    def _read_choice(self, choice: JsonObject) -> list[StreamEvent]:
        delta = choice.get("delta")
        events = self._read_delta(delta) if isinstance(delta, Mapping) else []
        if choice.get("error"):
            self._choice["error"] = choice["error"]
        if choice.get("finish_reason") and not self.is_complete:
            self._choice["finish_reason"] = choice["finish_reason"]
            self.is_complete = True
            events += [ToolCallEvent(call) for call in self.response().tool_calls]
        return events

    def _read_delta(self, delta: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        thinking = [text for name in _THINKING_FIELDS if (text := self._extend(delta, name))]
        events += [ThinkingEvent(text) for text in thinking[:1]]
        events += [TextEvent(text) for name in _TEXT_FIELDS if (text := self._extend(delta, name))]
        for detail in _objects(delta.get("reasoning_details")):
            self._add_detail(detail)
            self.hides_output = True  # it may be encrypted, or a summary
        for entry in _objects(delta.get("tool_calls")):
            self._add_call(entry)
        return events

    def _extend(self, delta: JsonObject, name: str) -> str:
        text = delta.get(name)
        if not isinstance(text, str) or not text:
            return ""
        self._texts[name].append(text)
        return text

    def _add_call(self, entry: JsonObject) -> None:
        """Add a part of a call to the call with its index; without an index an id starts one."""
        index = entry.get("index", entry.get("id"))
        if isinstance(index, int | str):
            self._last_call = index
        call = self._calls.setdefault(self._last_call, _CallParts())
        call.id = entry.get("id") or call.id
        function = entry.get("function")
        if isinstance(function, Mapping):
            call.name.append(str(function.get("name") or ""))
            call.arguments.append(str(function.get("arguments") or ""))

    def _add_detail(self, part: JsonObject) -> None:
        """Add a part of OpenRouter's reasoning details to the entry with its index and type."""
        last = self._details[-1] if self._details else {}
        place, last_place = _place(part), _place(last)
        if place is None or place != last_place:
            self._details.append(dict(part))
            return
        for name, value in part.items():
            present = last.get(name)
            if name in _PIECES and isinstance(value, str) and isinstance(present, str):
                last[name] = present + value
            elif value is not None:
                last[name] = value


def _place(detail: JsonObject) -> tuple[int, str] | None:
    """Return where a part of the details belongs; None if it doesn't say so."""
    index, kind = detail.get("index"), detail.get("type")
    return (index, kind) if isinstance(index, int) and isinstance(kind, str) else None


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
