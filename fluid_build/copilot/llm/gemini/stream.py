"""Gemini's streamed answers: each event is an answer with the next parts."""

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


class GeminiStream(StreamReader):
    """A reader of one streamed answer.

    ``parse`` reads the assembled body, ``read_usage`` its usage. ``answer_name`` is the function
    whose arguments are the answer, if any.
    """

    def __init__(
        self,
        parse: Callable[[JsonObject], LlmResponse],
        read_usage: Callable[[JsonValue], Usage | None],
        answer_name: str | None = None,
    ) -> None:
        self._parse, self._read_usage, self._answer_name = parse, read_usage, answer_name
        self._body: dict[str, JsonValue] = {}
        self._candidate: dict[str, JsonValue] = {}
        self._are_thoughts_counted = False
        self._parts: list[tuple[JsonObject, list[str]]] = []
        """The parts, each with the pieces of its text, if it is one that came in pieces."""

    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next document.

        Calls come with the end of the answer, which follows them at once: some have no id until
        then. Raises ``ProviderError`` where the end says that the answer is malformed.
        """
        self._body |= {key: value for key, value in document.items() if key != "candidates"}
        events = self._usage_events(document.get("usageMetadata"))
        candidates = document.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if isinstance(candidate, Mapping):
            self._candidate |= candidate
            content = candidate.get("content")
            parts = content.get("parts") if isinstance(content, Mapping) else None
            for part in parts if isinstance(parts, list) else []:
                if isinstance(part, Mapping):
                    events += _text_events(part)
                    is_thought = bool(part.get("thought") or part.get("thoughtSignature"))
                    self.hides_output |= is_thought and not self._are_thoughts_counted
                    self._add(part)
        if not self.is_complete and self._has_end():
            self.is_complete = True
            events += self._call_events()
        return events

    def response(self) -> LlmResponse:
        """Return the whole answer."""
        body = dict(self._body)
        if self._candidate:
            parts = [
                {**part, "text": "".join(pieces)} if pieces else part
                for part, pieces in self._parts
            ]
            content: dict[str, JsonValue] = {"role": "model", "parts": parts}
            body["candidates"] = [{**self._candidate, "content": content}]
        return self._parse(body)

    def _has_end(self) -> bool:
        feedback = self._body.get("promptFeedback")
        is_blocked = isinstance(feedback, Mapping) and bool(feedback.get("blockReason"))
        return bool(self._candidate.get("finishReason")) or is_blocked

    def _usage_events(self, reported: JsonValue) -> list[StreamEvent]:
        usage = self._read_usage(reported)
        if isinstance(reported, Mapping) and "thoughtsTokenCount" in reported:
            self._are_thoughts_counted = True
            self.hides_output = False
        if usage is None or usage == self.usage:
            return []
        self.usage = usage
        return [UsageEvent(usage)]

    def _call_events(self) -> list[StreamEvent]:
        """Return the calls, or the structured answer that came as one."""
        response = self.response()
        is_answer = self._answer_name is not None and any(
            isinstance(function := part.get("functionCall"), Mapping)
            and function.get("name") == self._answer_name
            for part, _ in self._parts
        )
        if is_answer:
            return [TextEvent(response.text)]
        return [ToolCallEvent(call) for call in response.tool_calls]

    def _add(self, part: JsonObject) -> None:
        """Add a part; the pieces of a text become one part again, but for signed ones."""
        if not _is_plain_text(part):
            self._parts.append((part, []))
        elif self._parts and self._parts[-1][1] and part.keys() == self._parts[-1][0].keys():
            self._parts[-1][1].append(str(part["text"]))
        else:
            self._parts.append((part, [str(part["text"])]))


def _is_plain_text(part: JsonObject) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _text_events(part: JsonObject) -> list[StreamEvent]:
    text = part.get("text")
    if not isinstance(text, str) or not text:
        return []
    return [ThinkingEvent(text) if part.get("thought") else TextEvent(text)]
