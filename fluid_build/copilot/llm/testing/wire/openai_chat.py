"""The Chat Completions API as OpenAI's server speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fluid_build.copilot.llm.testing.faults import Fault
from fluid_build.copilot.llm.testing.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    asks_for_stream,
    bearer_token,
    transient_words,
)
from fluid_build.json_types import JsonValue


def _reply(reply: Reply, _request: RequestBody) -> dict[str, JsonValue]:
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


def openai_fault(fault: Fault, key: str) -> dict[str, JsonValue]:
    """Return the body of a refusal, the same in both of OpenAI's APIs."""
    message, code = transient_words(fault)
    if fault.kind == "auth":
        message, code = f"Incorrect API key provided: {key}.", "invalid_api_key"
    elif fault.kind == "overflow":
        message = "This model's maximum context length is 0."
        code = "context_length_exceeded"
    elif fault.kind == "quota":
        message, code = "You exceeded your current quota.", "insufficient_quota"
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


def openai_key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    """Return the key of a request, the bearer token or Azure's header."""
    return headers.get("api-key") or bearer_token(headers)


FORMAT = WireFormat(
    name="openai",
    matches=lambda path: path.endswith("/chat/completions"),
    key_in=openai_key,
    reply=_reply,
    fault=openai_fault,
    is_stream=asks_for_stream,
    base_path="/v1",
)
