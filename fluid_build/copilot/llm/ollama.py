"""Ollama's own API (``POST /api/chat``), for models on the user's machine.

The server silently cuts a prompt at its own default length, so each request says how much context
it needs (``num_ctx``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from fluid_build.copilot.context.token_budget import estimate_message_tokens, estimate_tokens
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    LlmRequest,
    LlmResponse,
    StopReason,
    Usage,
    call_id,
    merge_extra,
    whole_number,
)
from fluid_build.copilot.messages import Message, ToolCall, read_arguments, text_of, tool_calls
from fluid_build.copilot.messages import tool_results as results_of
from fluid_build.json_types import JsonObject, JsonValue

_SMALLEST_CONTEXT = 4096
_ASK_FOR_JSON = "When you need no more tools, answer with JSON alone that follows this schema: "
"""The instruction where there are tools: with ``format`` the model couldn't call them."""
_STOP_REASONS: dict[str, StopReason] = {"stop": "end", "length": "length"}


class OllamaProvider(LlmProvider):
    """Models that Ollama serves on the user's machine."""

    name = "ollama"
    default_base_url = "http://localhost:11434"
    key_variables = ("OLLAMA_API_KEY",)
    fast_model = "llama3.2"
    needs_key = False

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return a bearer token, for a server behind a proxy that asks for one."""
        return {"authorization": f"Bearer {key}"}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the chat request, to be answered in one piece."""
        options: dict[str, JsonValue] = {
            "num_predict": prompt.max_output_tokens,
            "num_ctx": _context_needed(prompt),
        }
        if prompt.temperature is not None:
            options["temperature"] = prompt.temperature
        body: dict[str, JsonValue] = {
            "model": prompt.model,
            "messages": _messages(prompt),
            "stream": False,
            "options": options,
        }
        if prompt.tools:
            body["tools"] = [tool.as_function() for tool in prompt.tool_specs]
        if prompt.response_schema is not None and not prompt.tools:
            body["format"] = dict(prompt.response_schema)
        body = merge_extra(body, prompt.extra)
        return LlmRequest(self.endpoint("/api/chat"), body)

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:  # noqa: ARG002 - the format needs no prompt
        """Return text, calls and usage of a chat answer."""
        message = body.get("message")
        if not isinstance(message, Mapping):
            raise self.unreadable("no message")
        entries = message.get("tool_calls")
        calls = [
            ToolCall(
                call_id(body, index),
                str(entry["function"].get("name", "")),
                read_arguments(entry["function"].get("arguments")),
            )
            for index, entry in enumerate(entries if isinstance(entries, list) else [])
            if isinstance(entry, Mapping) and isinstance(entry.get("function"), Mapping)
        ]
        stop = _STOP_REASONS.get(str(body.get("done_reason", "stop")), "other")
        return LlmResponse(
            str(message.get("content") or ""),
            tuple(calls),
            _usage(body),
            "tool_calls" if calls and stop == "end" else stop,
            str(body.get("model", "")),
        )


def _messages(prompt: LlmPrompt) -> list[dict[str, JsonValue]]:
    rendered: list[dict[str, JsonValue]] = []
    names = {c.id: c.name for message in prompt.messages for c in tool_calls(message)}
    if prompt.system.strip():
        rendered.append({"role": "system", "content": prompt.system})
    for message in prompt.messages:
        rendered += _message(message, names)
    if prompt.response_schema is not None and prompt.tools:
        schema = json.dumps(prompt.response_schema, ensure_ascii=False)
        rendered.append({"role": "system", "content": _ASK_FOR_JSON + schema})
    return rendered


def _message(message: Message, names: Mapping[str, str]) -> list[dict[str, JsonValue]]:
    rendered: list[dict[str, JsonValue]] = [
        {
            "role": "tool",
            "tool_name": result.name or names.get(result.call_id, ""),
            "content": result.content,
        }
        for result in results_of(message)
    ]
    text, calls = text_of(message), tool_calls(message)
    if calls:
        functions: list[JsonValue] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ]
        rendered.append({"role": "assistant", "content": text, "tool_calls": functions})
    elif text or not rendered:
        rendered.append({"role": message.get("role", "user"), "content": text})
    return rendered


def _context_needed(prompt: LlmPrompt) -> int:
    """Return room for prompt and answer, in powers of two: a new length reloads the model."""
    needed = estimate_tokens(prompt.system) + prompt.max_output_tokens
    needed += sum(map(estimate_message_tokens, prompt.messages))
    needed += sum(
        estimate_tokens(f"{tool.name} {tool.description} {tool.input_schema}")
        for tool in prompt.tool_specs
    )
    size = _SMALLEST_CONTEXT
    while size < needed:
        size *= 2
    return min(size, prompt.context_window) if prompt.context_window else size


def _usage(body: JsonObject) -> Usage | None:
    if "prompt_eval_count" not in body and "eval_count" not in body:
        return None
    return Usage(whole_number(body.get("prompt_eval_count")), whole_number(body.get("eval_count")))
