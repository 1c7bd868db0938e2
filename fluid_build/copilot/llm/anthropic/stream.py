"""The events of a streamed Messages answer, assembled into the ordinary answer.

Source: the SDK's ``RawMessageStreamEvent``, and how its ``lib/streaming`` accumulates them. Usage
is cumulative; a tool's input comes as pieces of JSON; kinds of events and deltas that aren't known
are ignored, because the API may add some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.anthropic.blocks import read_usage
from fluid_build.copilot.llm.streaming import (
    StreamEvent,
    StreamReader,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import ToolCall, read_arguments
from fluid_build.json_types import JsonObject, JsonValue

_Block: TypeAlias = dict[str, Any]
_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field of each delta that is text."""


_SHOWN_BLOCKS = frozenset({"text", "tool_use"})
"""The types of blocks that show all that is billed for them. Thinking may be omitted or summarized
(the SDK's ``OutputTokensDetails`` and ``ThinkingConfigAdaptiveParam.display``), and tools that run
on the server add input."""


class AnthropicStreamReader(StreamReader):
    """A reader of one answer. ``answer_tool`` is the tool whose input is a structured answer.

    ``may_think`` says whether the model may think before its first block.
    """

    def __init__(
        self,
        parse: Callable[[JsonObject], LlmResponse],
        answer_tool: str | None,
        *,
        may_think: bool = False,
    ) -> None:
        self.hides_output = may_think
        self._parse, self._answer_tool = parse, answer_tool
        self._message: _Block = {}
        self._blocks: dict[int, _Block] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next document, but for the answer itself."""
        kind, index = document.get("type"), document.get("index")
        if kind == "message_start":
            self._message |= _mapping(document.get("message"))
            return self._report(self._message.get("usage"))
        if kind == "message_delta":
            self._message |= _mapping(document.get("delta"))
            self.is_usage_final = bool(self._message.get("stop_reason") and document.get("usage"))
            self.hides_output &= not self.is_usage_final
            return self._report(document.get("usage"))
        if kind == "message_stop":
            self.is_complete = True
        elif kind == "error":
            raise _broken("the provider reported an error")
        elif isinstance(index, int):
            if kind == "content_block_start":
                self._blocks[index] = _mapping(document.get("content_block"))
                block_type = str(self._blocks[index].get("type"))
                self.hides_output |= block_type not in _SHOWN_BLOCKS
            elif index not in self._blocks:
                raise _broken("a block has no start")
            elif kind == "content_block_delta":
                return self._extend(index, _mapping(document.get("delta")))
            elif kind == "content_block_stop":
                return self._finish(index)
        return []

    def response(self) -> LlmResponse:
        """Return the whole answer, once ``is_complete``."""
        for index in {index for index, _ in self._pieces}:
            self._finish(index)  # a block without its own end
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        return self._parse({**self._message, "content": blocks})

    def _report(self, usage: JsonValue) -> list[StreamEvent]:
        """Merge a report of the usage. Its missing and null fields mean no change."""
        reported = {name: n for name, n in _mapping(usage).items() if n is not None}
        if not reported:
            return []
        self._message["usage"] = _mapping(self._message.get("usage")) | reported
        self.usage = read_usage(self._message["usage"])
        return [UsageEvent(self.usage)] if self.usage is not None else []

    def _extend(self, index: int, delta: _Block) -> list[StreamEvent]:
        kind = str(delta.get("type"))
        if kind == "citations_delta":
            citations = self._blocks[index].get("citations")
            before = citations if isinstance(citations, list) else []
            self._blocks[index]["citations"] = [*before, delta.get("citation")]
            return []
        field = _TEXTS.get(kind)
        text = delta.get(field) if field is not None else None
        if field is None or not isinstance(text, str) or not text:
            return []
        self._pieces.setdefault((index, field), []).append(text)
        if field == "text" or (field == "partial_json" and self._is_answer(index)):
            return [TextEvent(text)]
        return [ThinkingEvent(text)] if field == "thinking" else []

    def _finish(self, index: int) -> list[StreamEvent]:
        """Put the pieces of a block together; a tool's input is complete now."""
        block = self._blocks[index]
        for field in ("text", "thinking", "signature"):
            if pieces := self._pieces.pop((index, field), None):
                block[field] = str(block.get(field) or "") + "".join(pieces)
        if pieces := self._pieces.pop((index, "partial_json"), None):
            block["input"] = read_arguments("".join(pieces))
        if block.get("type") != "tool_use" or self._is_answer(index):
            return []
        arguments = _mapping(block.get("input"))
        name = str(block.get("name", ""))
        return [ToolCallEvent(ToolCall(str(block.get("id", "")), name, arguments))]

    def _is_answer(self, index: int) -> bool:
        name = self._blocks[index].get("name")
        return self._answer_tool is not None and name == self._answer_tool


def _mapping(value: JsonValue) -> _Block:
    return dict(value) if isinstance(value, Mapping) else {}


def _broken(reason: str) -> ProviderServerError:
    return ProviderServerError(
        f"anthropic broke off its answer: {reason}.", provider="anthropic", status_code=200
    )
