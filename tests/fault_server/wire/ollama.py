"""The chat API as Ollama's server speaks it.

The words are those of the server's source (``server/routes.go``, ``llm/llama_server.go``, August
2026). A model whose name begins with ``missing`` isn't there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault
from tests.fault_server.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    bearer_token,
    split_text,
)

_MESSAGES = {
    "rate_limit": "too many requests",
    "quota": "you've reached your usage limit, please upgrade to continue",
    "server": "llama runner process has terminated",
    "overloaded": "server busy, please try again. maximum pending requests exceeded",
    "stream_error": "an error was encountered while running the model",
    "overflow": "the prompt is longer than the context length currently available to the model; "
    "shorten the prompt, adjust the context length in settings, or use a model with a longer "
    "context length",
}
_ROLES = ("system", "user", "assistant", "tool")


def _reply(reply: Reply, _request: RequestBody) -> dict[str, JsonValue]:
    thinking = {"thinking": reply.thinking} if reply.thinking else {}
    message = {"content": reply.text, **thinking, **_calls(reply)}
    return {**_line(reply, message), **_end(reply)}


def _stream(reply: Reply, _request: RequestBody) -> list[bytes]:
    """Return a line for each piece of thinking and text, one for the calls, and the end."""
    messages: list[dict[str, JsonValue]] = []
    messages += [{"content": "", "thinking": piece} for piece in split_text(reply.thinking)]
    messages += [{"content": piece} for piece in split_text(reply.text)]
    if reply.tool_calls:
        messages.append({"content": "", **_calls(reply)})
    lines = [_line(reply, message) for message in messages]
    lines.append({**_line(reply, {"content": ""}), **_end(reply)})
    return [f"{json.dumps(line, ensure_ascii=False)}\n".encode() for line in lines]


def _line(reply: Reply, message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "model": reply.model,
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", **message},
        "done": False,
    }


def _calls(reply: Reply) -> dict[str, JsonValue]:
    calls: list[JsonValue] = []
    for index, call in enumerate(reply.tool_calls):
        function: dict[str, JsonValue] = {
            "index": index,
            "name": call.name,
            "arguments": call.arguments,
        }
        calls.append({"id": call.id, "function": function} if call.id else {"function": function})
    return {"tool_calls": calls} if calls else {}


def _end(reply: Reply) -> dict[str, JsonValue]:
    reason = "length" if reply.stop_reason == "length" else "stop"
    end: dict[str, JsonValue] = {"done": True, "done_reason": reason, "total_duration": 1_000_000}
    if reply.usage is not None:
        end["prompt_eval_count"] = reply.usage.input_tokens
        end["eval_count"] = reply.usage.output_tokens
    return end


def _fault(fault: Fault, key: str) -> dict[str, JsonValue]:
    message = fault.message or _MESSAGES.get(fault.kind, "internal server error")
    if fault.kind == "auth":
        message = f"unauthorized: invalid API key {key}"
    return {"error": message}


def _refuse(_headers: Mapping[str, str], body: dict[str, Any]) -> Fault | str | None:
    """Return what the server says about a request that it can't decode or serve, else None."""
    if not body.get("model"):
        return "model is required"
    if str(body["model"]).startswith("missing"):
        return Fault("invalid", 404, message=f"model '{body['model']}' not found")
    for message in body.get("messages", []):
        if message.get("role") not in _ROLES:
            return f"invalid role: {message.get('role')}, must be one of {list(_ROLES)}"
        for name in ("content", "thinking", "tool_name"):
            if not isinstance(message.get(name, ""), str):
                return _wrong_type("messages", name, "string")
        for call in message.get("tool_calls", []):
            if not isinstance(call.get("function", {}).get("arguments", {}), dict):
                return _wrong_type("messages.tool_calls.function", "arguments", "object")
    answer_format = body.get("format")
    if answer_format not in (None, "", "json") and not isinstance(answer_format, dict):
        return (
            f'invalid format: {json.dumps(answer_format)}; expected "json" or a valid JSON Schema '
            "object"
        )
    return None


def _wrong_type(path: str, name: str, kind: str) -> str:
    return f"json: cannot unmarshal into Go struct field ChatRequest.{path}.{name} of type {kind}"


FORMAT = WireFormat(
    name="ollama",
    matches=lambda path: path.endswith("/api/chat"),
    key_in=lambda headers, _query: bearer_token(headers),
    reply=_reply,
    fault=_fault,
    # Ollama streams unless it is told not to.
    is_stream=lambda _path, body: body.get("stream") is not False,
    stream=_stream,
    stream_type="application/x-ndjson",
    refuse=_refuse,
)
