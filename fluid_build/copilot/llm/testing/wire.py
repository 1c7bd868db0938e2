"""The server side of the four wire formats: answers and refusals as providers write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.copilot.llm.base import StopReason, Usage
from fluid_build.copilot.llm.testing.faults import Fault
from fluid_build.copilot.messages import ToolCall
from fluid_build.json_types import JsonValue

WIRE_FORMATS = ("anthropic", "openai", "gemini", "ollama")

_Body: TypeAlias = dict[str, Any]
"""A client's request, which the double takes on trust."""

_SOME_USAGE = Usage(input_tokens=12, output_tokens=3)
_KEY_HEADERS = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}
_TRANSIENT = {"rate_limit": "slow down", "server": "internal error", "overloaded": "Overloaded"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A good answer. ``usage`` of ``None`` leaves the usage out."""

    text: str = "ok"
    tool_calls: Sequence[ToolCall] = ()
    usage: Usage | None = _SOME_USAGE
    stop_reason: StopReason = "end"
    model: str = "test-model"


def format_of(path: str) -> str | None:
    """Return the wire format of an endpoint."""
    path = path.partition("?")[0]
    if path.endswith("/v1/messages"):
        return "anthropic"
    if path.endswith("/chat/completions"):
        return "openai"
    if path.endswith(":generateContent"):
        return "gemini"
    return "ollama" if path.endswith("/api/chat") else None


def key_of(wire: str, headers: dict[str, str]) -> str:
    """Return the key of a request; ``headers`` have lower-case names."""
    if wire in _KEY_HEADERS:
        return headers.get(_KEY_HEADERS[wire], "")
    return headers.get("api-key") or headers.get("authorization", "").removeprefix("Bearer ")


def render_reply(wire: str, reply: Reply, request: _Body) -> dict[str, JsonValue]:
    """Return the body of a good answer to ``request``."""
    return _RENDERERS[wire](reply, request)


def render_fault(wire: str, fault: Fault, key: str) -> dict[str, JsonValue]:
    """Return the body of a refusal."""
    message, code = _words(wire, fault, key)
    if wire == "anthropic":
        return {"type": "error", "error": {"type": code, "message": message}}
    if wire == "openai":
        return {"error": {"message": message, "type": code, "param": None, "code": code}}
    if wire == "gemini":
        error: dict[str, JsonValue] = {"code": fault.status, "message": message, "status": code}
        if fault.kind == "quota":
            violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
            error["details"] = [
                {
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [violation],
                }
            ]
        return {"error": error}
    return {"error": message}


def _words(wire: str, fault: Fault, key: str) -> tuple[str, str]:
    if fault.kind == "auth":
        codes = {"anthropic": "authentication_error", "openai": "invalid_api_key"}
        return f"Incorrect API key provided: {key}.", codes.get(wire, "UNAUTHENTICATED")
    if fault.kind == "overflow":
        return {
            "anthropic": ("prompt is too long: 1 > 0 maximum", "invalid_request_error"),
            "openai": ("This model's maximum context length is 0.", "context_length_exceeded"),
            "gemini": (
                "The input token count (1) exceeds the maximum number of tokens allowed (0).",
                "INVALID_ARGUMENT",
            ),
            "ollama": ("the input exceeds the context length", ""),
        }[wire]
    if fault.kind == "quota":
        codes = {"anthropic": "billing_error", "openai": "insufficient_quota"}
        return "You exceeded your current quota.", codes.get(wire, "RESOURCE_EXHAUSTED")
    codes = {"rate_limit": "rate_limit_error", "overloaded": "overloaded_error"}
    return _TRANSIENT.get(fault.kind, "error"), codes.get(fault.kind, "api_error")


def _as_arguments(text: str) -> dict[str, JsonValue]:
    """Return a structured answer as the arguments of a function."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"text": text}


def _anthropic(reply: Reply, request: _Body) -> dict[str, JsonValue]:
    content: list[dict[str, JsonValue]] = []
    forced = request.get("tool_choice", {})
    if forced.get("type") == "tool" or (forced.get("type") == "any" and not reply.tool_calls):
        name = forced.get("name", request["tools"][-1]["name"])
        content.append(
            {
                "type": "tool_use",
                "id": "toolu_answer",
                "name": name,
                "input": _as_arguments(reply.text),
            }
        )
    elif reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments}
        for c in reply.tool_calls
    ]
    stop = {"length": "max_tokens", "refused": "refusal"}.get(reply.stop_reason, "end_turn")
    body: dict[str, JsonValue] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": "tool_use" if reply.tool_calls or forced else stop,
        "stop_sequence": None,
    }
    if reply.usage is not None:
        usage = reply.usage
        body["usage"] = {
            "input_tokens": usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens,
            "cache_read_input_tokens": usage.cached_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
            "output_tokens": usage.output_tokens,
        }
    return body


def _openai(reply: Reply, _request: _Body) -> dict[str, JsonValue]:
    message: dict[str, JsonValue] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.stop_reason == "refused":
        message |= {"content": None, "refusal": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": json.dumps(c.arguments)},
            }
            for c in reply.tool_calls
        ]
    stop = "length" if reply.stop_reason == "length" else "stop"
    body: dict[str, JsonValue] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if reply.tool_calls else stop,
            }
        ],
    }
    if reply.usage is not None:
        usage = reply.usage
        body["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        }
    return body


def _gemini(reply: Reply, request: _Body) -> dict[str, JsonValue]:
    parts: list[dict[str, JsonValue]] = []
    forced = "toolConfig" in request and not reply.tool_calls
    if forced:
        name = request["tools"][0]["functionDeclarations"][-1]["name"]
        parts.append({"functionCall": {"name": name, "args": _as_arguments(reply.text)}})
    elif reply.text:
        parts.append({"text": reply.text})
    for call in reply.tool_calls:
        part: dict[str, JsonValue] = {"functionCall": {"name": call.name, "args": call.arguments}}
        if call.signature is not None:
            part["thoughtSignature"] = call.signature
        parts.append(part)
    stop = {"length": "MAX_TOKENS", "refused": "SAFETY"}.get(reply.stop_reason, "STOP")
    candidate: dict[str, JsonValue] = {
        "content": {"role": "model", "parts": parts},
        "finishReason": stop,
        "index": 0,
    }
    body: dict[str, JsonValue] = {
        "candidates": [candidate],
        "modelVersion": reply.model,
        "responseId": "r1",
    }
    if reply.usage is not None:
        usage = reply.usage
        body["usageMetadata"] = {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
            "cachedContentTokenCount": usage.cached_tokens,
        }
    return body


def _ollama(reply: Reply, _request: _Body) -> dict[str, JsonValue]:
    message: dict[str, JsonValue] = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"function": {"name": c.name, "arguments": c.arguments}} for c in reply.tool_calls
        ]
    body: dict[str, JsonValue] = {
        "model": reply.model,
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": "length" if reply.stop_reason == "length" else "stop",
    }
    if reply.usage is not None:
        body["prompt_eval_count"] = reply.usage.input_tokens
        body["eval_count"] = reply.usage.output_tokens
    return body


_RENDERERS = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini, "ollama": _ollama}
