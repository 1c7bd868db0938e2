"""The answers of the Responses API: a list of items, some of which go back as they are.

Reasoning items have to be returned unchanged, before the calls that they led to: OpenAI's guide
"Reasoning models", and the SDK's ``ResponseReasoningItemParam``. So are all items that aren't read
here, such as those of built-in tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluid_build.copilot.llm.base import LlmResponse, StopReason, call_id
from fluid_build.copilot.llm.openai.api import read_usage
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


def read_call(item: JsonObject) -> ToolCall:
    """Return the call of a ``function_call`` item."""
    return ToolCall(
        str(item.get("call_id") or call_id(item, 0)),
        str(item.get("name", "")),
        read_arguments(item.get("arguments")),
    )


def is_commentary(item: JsonObject) -> bool:
    """Return whether the item is a message that only describes what the model is doing."""
    return item.get("type") == "message" and item.get("phase") == "commentary"


def _read_item(answer: _Answer, item: JsonObject, is_structured: bool) -> None:
    match item.get("type"):
        case "function_call":
            answer.calls.append(read_call(item))
        case "message" if is_structured and is_commentary(item):
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
