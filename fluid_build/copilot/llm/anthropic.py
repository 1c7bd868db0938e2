"""Anthropic's Messages API (``POST /v1/messages``, version 2023-06-01).

Structured output is the input of a tool that the model is made to call, which every model can do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fluid_build.copilot.llm.alternating_turns import Turn, alternate, split_system
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    LlmRequest,
    LlmResponse,
    StopReason,
    Usage,
    whole_number,
)
from fluid_build.copilot.messages import ToolCall

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
    """Claude, and servers that speak its format."""

    name = "anthropic"
    default_base_url = "https://api.anthropic.com"
    key_variables = ("ANTHROPIC_API_KEY",)
    fast_model = "claude-haiku-4-5"

    def auth_headers(self, key: str) -> dict[str, str]:
        """``x-api-key``."""
        return {"x-api-key": key}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """The Messages request; with caching, the prompt up to its end is a cached prefix."""
        system, messages = split_system(prompt)
        body: dict[str, Any] = {
            "model": prompt.model,
            "max_tokens": prompt.max_output_tokens,
            "messages": _messages(alternate(messages)),
        }
        if system:
            body["system"] = [{"type": "text", "text": text} for text in system]
        if prompt.temperature is not None:
            body["temperature"] = prompt.temperature
        tools = _tools(prompt)
        if tools:
            body["tools"] = tools
        if prompt.response_schema is not None:
            only = {"type": "tool", "name": prompt.answer_name}
            body["tool_choice"] = {"type": "any"} if prompt.tools else only
        if prompt.cache_prompt:
            _mark_for_caching(body)
        body = {**prompt.extra, **body}
        return LlmRequest(self.endpoint("/v1/messages"), body, {"anthropic-version": _VERSION})

    def parse_response(self, body: Mapping[str, Any], prompt: LlmPrompt) -> LlmResponse:
        """Text, calls and usage of a Messages answer."""
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


def _messages(turns: list[Turn]) -> list[dict[str, Any]]:
    return [
        {"role": "user" if turn.is_user else "assistant", "content": _blocks(turn)}
        for turn in turns
    ]


def _blocks(turn: Turn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for result in turn.results:
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": _safe_id(result.call_id),
            "content": result.content,
        }
        if result.is_error:
            block["is_error"] = True
        blocks.append(block)
    # the API refuses an assistant's text that ends in blanks
    blocks += [
        {"type": "text", "text": text if turn.is_user else text.rstrip()} for text in turn.texts
    ]
    blocks += [
        {"type": "tool_use", "id": _safe_id(call.id), "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]
    return blocks


def _safe_id(call_id: str) -> str:
    """Ids made elsewhere may have characters that this API refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id) or "_"


def _tools(prompt: LlmPrompt) -> list[dict[str, Any]]:
    tools = [
        {"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)}
        for t in prompt.tool_specs
    ]
    if prompt.response_schema is not None:
        tools.append(
            {
                "name": prompt.answer_name,
                "description": "Gives the final answer, in the form that was asked for.",
                "input_schema": dict(prompt.response_schema),
            }
        )
    return tools


def _mark_for_caching(body: dict[str, Any]) -> None:
    """Breakpoints after the tools, the system text and the conversation so far."""
    for part in ("tools", "system"):
        if part in body:
            body[part][-1]["cache_control"] = _CACHED
    body["messages"][-1]["content"][-1]["cache_control"] = _CACHED


def _call(block: Mapping[str, Any]) -> ToolCall:
    arguments = block.get("input")
    return ToolCall(
        str(block.get("id", "")),
        str(block.get("name", "")),
        dict(arguments) if isinstance(arguments, Mapping) else {},
    )


def _usage(usage: Any) -> Usage | None:
    """Anthropic counts cached tokens apart from the other input; here they are part of it."""
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
