"""The Messages API as Anthropic's server speaks it."""

from __future__ import annotations

from collections.abc import Mapping

from fluid_build.copilot.llm.testing.faults import Fault
from fluid_build.copilot.llm.testing.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    as_arguments,
    asks_for_stream,
    bearer_token,
    transient_words,
)
from fluid_build.json_types import JsonValue


def _reply(reply: Reply, request: RequestBody) -> dict[str, JsonValue]:
    content: list[dict[str, JsonValue]] = []
    forced = request.get("tool_choice", {})
    if forced.get("type") == "tool" or (forced.get("type") == "any" and not reply.tool_calls):
        name = forced.get("name", request["tools"][-1]["name"])
        content.append(
            {
                "type": "tool_use",
                "id": "toolu_answer",
                "name": name,
                "input": as_arguments(reply.text),
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


def _fault(fault: Fault, key: str) -> dict[str, JsonValue]:
    message, code = transient_words(fault)
    if fault.kind == "auth":
        message, code = f"Incorrect API key provided: {key}.", "authentication_error"
    elif fault.kind == "overflow":
        message, code = "prompt is too long: 1 > 0 maximum", "invalid_request_error"
    elif fault.kind == "quota":
        message, code = "You exceeded your current quota.", "billing_error"
    return {"type": "error", "error": {"type": code, "message": message}}


def _key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or bearer_token(headers)


FORMAT = WireFormat(
    name="anthropic",
    matches=lambda path: path.endswith("/v1/messages"),
    key_in=_key,
    reply=_reply,
    fault=_fault,
    is_stream=asks_for_stream,
)
