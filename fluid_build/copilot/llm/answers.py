"""A model's answer: its text, calls and usage, and the parts that only its provider understands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fluid_build.copilot.errors import (
    AnswerCutOffError,
    AnswerRefusedError,
    SchemaValidationError,
)
from fluid_build.copilot.messages import ProviderBlock, ToolCall
from fluid_build.json_types import JsonValue

StopReason: TypeAlias = Literal["end", "length", "tool_calls", "refused", "other"]
"""The reason why the model stopped: done, cut at the limit, wants tools, declined, other."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a call. ``input_tokens`` is the whole prompt, cached or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class LlmResponse:
    """A model's answer, which is untrusted data. ``usage`` is None where none was reported.

    ``provider_blocks`` are parts such as thinking, which the provider wants back with the next
    request; ``format_name`` is the wire format that they are written in.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop_reason: StopReason = "end"
    model: str = ""
    thinking: str = ""
    provider_blocks: tuple[ProviderBlock, ...] = ()
    format_name: str = ""
    provider: str = ""

    def as_message(self) -> dict[str, JsonValue]:
        """Return the message for the conversation."""
        message: dict[str, JsonValue] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [call.as_entry() for call in self.tool_calls]
        if self.provider_blocks:
            message["provider_blocks"] = {
                "format": self.format_name,
                "blocks": [block.as_entry() for block in self.provider_blocks],
            }
        return message

    def require_whole(self) -> None:
        """Raise ``AnswerRefusedError`` or ``AnswerCutOffError`` unless the answer is complete."""
        if self.stop_reason == "refused":
            raise AnswerRefusedError(
                provider=self.provider or None, model=self.model, text=self.text
            )
        if self.stop_reason == "length":
            raise AnswerCutOffError(
                provider=self.provider or None, model=self.model, text=self.text
            )

    def as_json(self, schema_name: str = "answer") -> Any:
        """Return the text as JSON.

        Raises ``SchemaValidationError`` if it isn't JSON, ``AnswerRefusedError`` if the model
        declined, ``AnswerCutOffError`` if the answer isn't complete.
        """
        self.require_whole()
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            if self.stop_reason == "other":
                raise AnswerCutOffError(
                    "The model stopped for another reason before its answer was whole.",
                    model=self.model,
                    text=self.text,
                    hint="Ask again.",
                ) from None
            raise SchemaValidationError(
                "The answer isn't JSON.",
                schema_name=schema_name,
                validation_errors=[{"type": "json_invalid", "loc": (), "msg": "not JSON"}],
                raw_output=self.text,
            ) from None
