"""Anthropic's Messages API (``POST /v1/messages``, version 2023-06-01).

Structured output is the input of a tool that the model must call, which every model can do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from fluid_build.copilot.llm.alternating_turns import Turn, TurnPart, alternate, split_system
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    LlmRequest,
    LlmResponse,
    StopReason,
    Usage,
    merge_extra,
    whole_number,
)
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_VERSION = "2023-06-01"
_CACHED = {"type": "ephemeral"}
_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refused",
}


class AnthropicProvider(LlmProvider):
    """Claude, and servers that use its format."""

    name = "anthropic"
    default_base_url = "https://api.anthropic.com"
    key_variables = ("ANTHROPIC_API_KEY",)
    fast_model = "claude-haiku-4-5"

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return ``x-api-key``."""
        return {"x-api-key": key}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the Messages request; with caching, the whole prompt is a cached prefix."""
        system, messages = split_system(prompt)
        mark = _end_cached if prompt.cache_prompt else list[JsonObject]
        body: dict[str, JsonValue] = {
            "model": prompt.model,
            "max_tokens": prompt.max_output_tokens,
            "messages": _messages(alternate(messages, self.name), mark),
        }
        if system:
            body["system"] = mark([{"type": "text", "text": text} for text in system])
        if prompt.temperature is not None:
            body["temperature"] = prompt.temperature
        tools = _tools(prompt)
        if tools:
            body["tools"] = mark(tools)
        if prompt.response_schema is not None:
            only = {"type": "tool", "name": prompt.answer_name}
            body["tool_choice"] = {"type": "any"} if prompt.tools else only
        body = merge_extra(body, prompt.extra)
        return LlmRequest(self.endpoint("/v1/messages"), body, {"anthropic-version": _VERSION})

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return text, calls and usage of a Messages answer."""
        content = body.get("content")
        if not isinstance(content, list):
            raise self.unreadable("no content")
        blocks = [block for block in content if isinstance(block, Mapping)]
        text = "".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
        calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
        stop_reason = _STOP_REASONS.get(str(body.get("stop_reason")), "other")
        if prompt.response_schema is not None:
            answer = next((c for c in calls if c.name == prompt.answer_name), None)
            if answer is not None:
                text, calls = json.dumps(answer.arguments, ensure_ascii=False), []
                stop_reason = "length" if stop_reason == "length" else "end"
        return LlmResponse(
            text, tuple(calls), _usage(body.get("usage")), stop_reason, str(body.get("model", ""))
        )


def _messages(turns: list[Turn], mark: Callable[[list[JsonObject]], JsonValue]) -> JsonValue:
    """Return the turns as messages, with the last one's content marked."""
    contents: list[JsonValue] = [_blocks(turn) for turn in turns]
    contents[-1] = mark(_blocks(turns[-1]))
    return [
        {"role": "user" if turn.is_user else "assistant", "content": content}
        for turn, content in zip(turns, contents, strict=True)
    ]


def _blocks(turn: Turn) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    for result in turn.results:
        block: dict[str, JsonValue] = {
            "type": "tool_result",
            "tool_use_id": _safe_id(result.call_id),
            "content": result.content,
        }
        if result.is_error:
            block["is_error"] = True
        blocks.append(block)
    return blocks + [_block(part, turn.is_user) for part in turn.parts]


def _block(part: TurnPart, is_user: bool) -> JsonObject:
    if isinstance(part, str):
        # the API refuses an assistant's text with trailing blanks
        return {"type": "text", "text": part if is_user else part.rstrip()}
    if isinstance(part, ToolCall):
        return {
            "type": "tool_use",
            "id": _safe_id(part.id),
            "name": part.name,
            "input": part.arguments,
        }
    raise UsageError("Anthropic can't be sent this part of a message yet.")


def _safe_id(call_id: str) -> str:
    """Return an id without the characters that this API refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id) or "_"


def _tools(prompt: LlmPrompt) -> list[JsonObject]:
    specs = prompt.tool_specs
    if prompt.response_schema is not None:
        specs.append(prompt.answer_tool)
    return [
        {"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)}
        for t in specs
    ]


def _end_cached(entries: list[JsonObject]) -> list[JsonObject]:
    """Return the entries with a cache breakpoint after the last one."""
    return [*entries[:-1], {**entries[-1], "cache_control": _CACHED}]


def _call(block: JsonObject) -> ToolCall:
    arguments = block.get("input")
    return ToolCall(
        str(block.get("id", "")),
        str(block.get("name", "")),
        dict(arguments) if isinstance(arguments, Mapping) else {},
    )


def _usage(usage: JsonValue) -> Usage | None:
    """Return the usage; Anthropic counts cached tokens separately from the other input."""
    if not isinstance(usage, Mapping):
        return None
    cached = whole_number(usage.get("cache_read_input_tokens"))
    written = whole_number(usage.get("cache_creation_input_tokens"))
    return Usage(
        whole_number(usage.get("input_tokens")) + cached + written,
        whole_number(usage.get("output_tokens")),
        cached,
        written,
    )
