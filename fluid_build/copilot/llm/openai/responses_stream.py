"""The reader of a streamed answer of the Responses API."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fluid_build.copilot.errors import ProviderError
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.openai.api import read_usage
from fluid_build.copilot.llm.openai.responses_answer import SEPARATOR, is_commentary, read_call
from fluid_build.copilot.llm.streaming import (
    StreamEvent,
    StreamReader,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.json_types import JsonObject, JsonValue


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
                if isinstance(item, Mapping) and is_commentary(item) and index is not None:
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
        return [ToolCallEvent(read_call(item))] if item.get("type") == "function_call" else []

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
