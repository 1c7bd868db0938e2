"""The answers of the Responses API, whole or streamed: items, some of which go back as they are.

Reasoning items have to be returned unchanged, before the calls that they led to: OpenAI's guide
"Reasoning models", and the SDK's ``ResponseReasoningItemParam``. So are all items that aren't read
here, such as those of built-in tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fluid_build.copilot.errors import ProviderError
from fluid_build.copilot.llm.base import LlmResponse, StopReason, call_id
from fluid_build.copilot.llm.openai.api import read_usage
from fluid_build.copilot.llm.streaming import (
    StreamEvent,
    StreamReader,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import ProviderBlock, ToolCall, read_arguments
from fluid_build.json_types import JsonObject, JsonValue

FORMAT_NAME = "openai-responses"
PHASE_MARK = "message_phase"
"""The type of the block that says the ``phase`` of the text after it.

"Preserve and resend phase on all assistant messages": the SDK's ``EasyInputMessageParam``.
"""
SEPARATOR = "\n\n"
"""Between the parts of the thinking."""

_INCOMPLETE: dict[str, StopReason] = {"max_output_tokens": "length", "content_filter": "refused"}
"""Of ``incomplete_details.reason``; the others are about WebSockets and built-in tools."""


@dataclass(slots=True)
class _Answer:
    text: str = ""
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    blocks: list[ProviderBlock] = field(default_factory=list)
    is_refused: bool = False

    def keep(self, block: JsonObject) -> None:
        """Keep a block at the place where the answer is."""
        self.blocks.append(ProviderBlock(block, len(self.text), len(self.calls)))


def read_answer(body: JsonObject, output: list[JsonValue], *, is_structured: bool) -> LlmResponse:
    """Return the answer in ``output``. A structured one has no text of commentary in it."""
    answer = _Answer()
    for item in output:
        if isinstance(item, Mapping):
            _read_item(answer, item, is_structured)
    return LlmResponse(
        answer.text,
        tuple(answer.calls),
        read_usage(body.get("usage"), "input_tokens", "output_tokens"),
        _stop_reason(body, answer),
        str(body.get("model", "")),
        SEPARATOR.join(answer.thinking),
        tuple(answer.blocks),
        FORMAT_NAME,
    )


def _read_call(item: JsonObject) -> ToolCall:
    """Return the call of a ``function_call`` item."""
    return ToolCall(
        str(item.get("call_id") or call_id(item, 0)),
        str(item.get("name", "")),
        read_arguments(item.get("arguments")),
    )


def _is_commentary(item: JsonObject) -> bool:
    """Return whether the item is a message that only describes what the model is doing."""
    return item.get("type") == "message" and item.get("phase") == "commentary"


def _read_item(answer: _Answer, item: JsonObject, is_structured: bool) -> None:
    match item.get("type"):
        case "function_call":
            answer.calls.append(_read_call(item))
        case "message" if is_structured and _is_commentary(item):
            answer.keep(item)
            answer.thinking += _texts(item)
        case "message":
            if item.get("phase"):
                answer.keep({"type": PHASE_MARK, "phase": item["phase"]})
            answer.text += "".join(_texts(item))
            answer.is_refused |= any(part.get("type") == "refusal" for part in _parts(item))
        case _:
            answer.keep(item)
            answer.thinking += _texts(item) if item.get("type") == "reasoning" else []


def _stop_reason(body: JsonObject, answer: _Answer) -> StopReason:
    if answer.is_refused:
        return "refused"
    status = body.get("status", "completed")
    if status == "incomplete":
        details = body.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        return _INCOMPLETE.get(str(reason), "other")
    if status != "completed":
        return "other"
    return "tool_calls" if answer.calls else "end"


def _texts(item: JsonObject) -> list[str]:
    texts = (part.get("text", part.get("refusal")) for part in _parts(item))
    return [text for text in texts if isinstance(text, str) and text]


def _parts(item: JsonObject) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for name in ("summary", "content"):
        value = item.get(name)
        parts += (
            [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []
        )
    return parts


class ResponsesStreamReader(StreamReader):
    """A reader of the events in the SDK's ``ResponseStreamEvent``; the last has the whole answer.

    ``parse`` reads that, ``fail`` returns the error for a failure. The text of commentary counts
    as thinking where ``is_structured``, as in an answer in one piece.
    """

    def __init__(
        self,
        parse: Callable[[JsonObject], LlmResponse],
        fail: Callable[[JsonObject], ProviderError],
        *,
        is_structured: bool,
    ) -> None:
        self._parse, self._fail, self._is_structured = parse, fail, is_structured
        self._body: JsonObject = {}
        self._items: list[JsonValue] = []
        self._commentary: set[int] = set()
        self._thinking_part: tuple[str | int | None, ...] | None = None

    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next document. Raises ``ProviderError`` for a failure."""
        match document.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return self._read_text(document)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._think(document)
            case "response.output_item.added":
                item = document.get("item")
                index = _index(document, "output_index")
                if isinstance(item, Mapping) and _is_commentary(item) and index is not None:
                    self._commentary.add(index)
            case "response.output_item.done":
                return self._end_item(document.get("item"))
            case "response.completed" | "response.incomplete":
                return self._end(document.get("response"))
            case "response.failed" | "error":
                raise self._fail(document)
        return []

    def response(self) -> LlmResponse:
        """Return the whole answer."""
        return self._parse(self._body)

    def _read_text(self, document: JsonObject) -> list[StreamEvent]:
        if self._is_structured and _index(document, "output_index") in self._commentary:
            return self._think(document)
        text = str(document.get("delta") or "")
        return [TextEvent(text)] if text else []

    def _think(self, document: JsonObject) -> list[StreamEvent]:
        text = str(document.get("delta") or "")
        if not text:
            return []
        names = ("output_index", "summary_index", "content_index")
        part = (str(document.get("type")), *(_index(document, name) for name in names))
        is_next = self._thinking_part not in (None, part)
        self._thinking_part = part
        return [ThinkingEvent(SEPARATOR + text if is_next else text)]

    def _end_item(self, item: JsonValue) -> list[StreamEvent]:
        if not isinstance(item, Mapping):
            return []
        self._items.append(item)
        return [ToolCallEvent(_read_call(item))] if item.get("type") == "function_call" else []

    def _end(self, response: JsonValue) -> list[StreamEvent]:
        body = response if isinstance(response, Mapping) else {}
        # some servers leave the items out here, because they have sent them before
        self._body = body if body.get("output") else {**body, "output": self._items}
        self.is_complete = True
        self.usage = read_usage(body.get("usage"), "input_tokens", "output_tokens")
        return [UsageEvent(self.usage)] if self.usage else []


def _index(document: JsonObject, name: str) -> int | None:
    """Return an index; values of other types, which may not be hashable, count as none."""
    index = document.get(name)
    return index if isinstance(index, int) else None
