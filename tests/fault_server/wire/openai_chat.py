"""The Chat Completions API as OpenAI's server speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from fluid_build.json_types import JsonValue
from tests.fault_server.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    asks_for_stream,
    split_text,
)
from tests.fault_server.wire.openai_errors import (
    fault_body,
    reasons,
    refuse_strict_schema,
    refuse_untyped_schema,
    request_key,
)

_Message: TypeAlias = dict[str, Any]

_RESPONSES_FOR_TOOLS = re.compile(r"gpt-(?:5\.[5-9]|[6-9])")
"""The models that refuse tools here while they reason, which is their default."""


def _reply(reply: Reply, _request: RequestBody) -> dict[str, JsonValue]:
    body = _body("chat.completion", reply)
    body["choices"] = [
        {
            "index": 0,
            "message": _message(reply),
            "logprobs": None,
            "finish_reason": _finish_reason(reply),
        }
    ]
    if reply.usage is not None:
        body["usage"] = _usage(reply)
    return body


def _body(kind: str, reply: Reply) -> dict[str, JsonValue]:
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": reply.model}


def _message(reply: Reply) -> _Message:
    message: _Message = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.stop_reason == "refused":
        message |= {"content": None, "refusal": reply.text}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": json.dumps(c.arguments)},
            }
            for c in reply.tool_calls
        ]
    return message


def _finish_reason(reply: Reply) -> str:
    if reply.stop_reason == "length":
        return "length"
    return "tool_calls" if reply.tool_calls else "stop"


def _usage(reply: Reply) -> dict[str, JsonValue]:
    usage = reply.usage
    assert usage is not None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _stream(reply: Reply, request: RequestBody) -> list[bytes]:
    """Return the chunks (the SDK's ``ChatCompletionChunk``); the usage has one of its own."""
    deltas: list[_Message] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in split_text(reply.thinking)]
    name = "refusal" if reply.stop_reason == "refused" else "content"
    deltas += [{name: part} for part in split_text(reply.text)]
    for index, call in enumerate(_message(reply).get("tool_calls", ())):
        function = call["function"]
        start = {**call, "index": index, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [start]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
            for part in split_text(function["arguments"])
        ]
    chunks = [_chunk(reply, delta) for delta in deltas]
    chunks.append(_chunk(reply, {}, _finish_reason(reply)))
    options = request.get("stream_options") or {}
    if reply.usage is not None and options.get("include_usage"):
        body = _body("chat.completion.chunk", reply)
        chunks.append(_event({**body, "choices": [], "usage": _usage(reply)}))
    return [*chunks, b"data: [DONE]\n\n"]


def _chunk(reply: Reply, delta: _Message, finish_reason: str | None = None) -> bytes:
    choice: _Message = {
        "index": 0,
        "delta": delta,
        "logprobs": None,
        "finish_reason": finish_reason,
    }
    return _event({**_body("chat.completion.chunk", reply), "choices": [choice]})


def _event(document: dict[str, JsonValue]) -> bytes:
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode()


def _refuse(_headers: Mapping[str, str], body: RequestBody) -> str | None:
    if not body.get("model"):
        return "you must provide a model parameter"
    if body.get("stream_options") and not body.get("stream"):
        return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    return (
        _refuse_parameters(body)
        or _refuse_schema(body)
        or _refuse_messages(body.get("messages") or [])
    )


def _refuse_parameters(body: RequestBody) -> str | None:
    model, effort = body["model"], body.get("reasoning_effort")
    if reasons(model, None) and body.get("max_tokens") is not None:
        return (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        return "Setting 'max_tokens' and 'max_completion_tokens' at the same time isn't supported."
    if reasons(model, effort) and body.get("temperature") not in (None, 1):
        return (
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this "
            "model. Only the default (1) value is supported."
        )
    if body.get("tools") and _RESPONSES_FOR_TOOLS.match(model) and effort != "none":
        return (
            f"Function tools with reasoning_effort are not supported for {model} in "
            "/v1/chat/completions. To use function tools, use /v1/responses or set "
            "reasoning_effort to 'none'."
        )
    return None


def _refuse_schema(body: RequestBody) -> str | None:
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        refusal = "parameters" in function and refuse_untyped_schema(
            function.get("name", ""), function["parameters"]
        )
        if refusal:
            return refusal
    output = (body.get("response_format") or {}).get("json_schema") or {}
    name, schema = output.get("name", ""), output.get("schema")
    refusal = refuse_untyped_schema(name, schema) if schema is not None else None
    return refusal or (refuse_strict_schema(name, schema) if output.get("strict") else None)


def _refuse_messages(messages: list[_Message]) -> str | None:
    """Refuse calls without results, and results without calls."""
    open_calls: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return (
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'."
                )
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            break
        else:
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    if open_calls:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(open_calls)}"
        )
    return None


FORMAT = WireFormat(
    name="openai",
    matches=lambda path: path.endswith("/chat/completions"),
    key_in=request_key,
    reply=_reply,
    fault=fault_body,
    is_stream=asks_for_stream,
    stream=_stream,
    base_path="/v1",
    refuse=_refuse,
)
