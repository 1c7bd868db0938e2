"""The chat API as Ollama's server speaks it."""

from __future__ import annotations

from collections.abc import Mapping

from fluid_build.copilot.llm.testing.faults import Fault
from fluid_build.copilot.llm.testing.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    bearer_token,
    transient_words,
)
from fluid_build.json_types import JsonValue


def _reply(reply: Reply, _request: RequestBody) -> dict[str, JsonValue]:
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


def _fault(fault: Fault, key: str) -> dict[str, JsonValue]:
    message, _ = transient_words(fault)
    if fault.kind == "auth":
        message = f"Incorrect API key provided: {key}."
    elif fault.kind == "overflow":
        message = "the input exceeds the context length"
    elif fault.kind == "quota":
        message = "You exceeded your current quota."
    return {"error": message}


def _key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    return bearer_token(headers)


FORMAT = WireFormat(
    name="ollama",
    matches=lambda path: path.endswith("/api/chat"),
    key_in=_key,
    reply=_reply,
    fault=_fault,
    # Ollama streams unless it is told not to.
    is_stream=lambda _path, body: body.get("stream") is not False,
    stream_type="application/x-ndjson",
)
