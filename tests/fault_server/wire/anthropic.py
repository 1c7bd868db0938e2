"""The Messages API as Anthropic's server speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault
from tests.fault_server.wire.anthropic_rules import refuse, sign
from tests.fault_server.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    as_arguments,
    asks_for_stream,
    bearer_token,
    split_text,
)

_Block: TypeAlias = dict[str, Any]

_REFUSAL: _Block = {"type": "refusal", "category": None, "explanation": "policy"}
_WORDS = {
    "rate_limit": (
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50 requests per minute.",
    ),
    "quota": ("rate_limit_error", "You have reached your specified API usage limits."),
    "overloaded": ("overloaded_error", "Overloaded"),
    "stream_error": ("overloaded_error", "Overloaded"),
    "overflow": ("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"),
    "invalid": ("invalid_request_error", "the request is invalid"),
}
"""The type and message of each failure; all others are the server's own."""


def _reply(reply: Reply, request: RequestBody) -> _Block:
    content = _content(reply, request)
    is_call = any(block["type"] == "tool_use" for block in content)
    stop = {"length": "max_tokens", "refused": "refusal"}.get(reply.stop_reason, "end_turn")
    body: _Block = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": "tool_use" if is_call else stop,
        "stop_sequence": None,
        "stop_details": _REFUSAL if reply.stop_reason == "refused" else None,
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


def _content(reply: Reply, request: RequestBody) -> list[_Block]:
    """Return the blocks of the answer; a forced tool gets the text as its arguments."""
    content: list[_Block] = []
    if reply.thinking:
        content.append(
            {
                "type": "thinking",
                "thinking": reply.thinking,
                "signature": sign(reply.thinking, request),
            }
        )
    choice = request.get("tool_choice", {})
    if choice.get("type") == "tool" or (choice.get("type") == "any" and not reply.tool_calls):
        name = choice.get("name", request["tools"][-1]["name"])
        arguments = as_arguments(reply.text)
        content.append({"type": "tool_use", "id": "toolu_answer", "name": name, "input": arguments})
    elif reply.text:
        content.append({"type": "text", "text": reply.text, "citations": None})
    content += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments}
        for c in reply.tool_calls
    ]
    return content


def _stream(reply: Reply, request: RequestBody) -> list[bytes]:
    """Return the events of the same message: each block starts empty and grows by deltas.

    Source: the SDK's ``RawMessageStreamEvent``; pings may come at any place.
    """
    body = _reply(reply, request)
    usage = body.pop("usage", None)
    start = {**body, "content": [], "stop_reason": None, "stop_sequence": None}
    if isinstance(usage, dict):
        start["usage"] = {**usage, "output_tokens": 1}
    events = [_event("message_start", message=start), _event("ping")]
    for index, block in enumerate(body["content"]):
        empty, deltas = _as_deltas(block)
        events.append(_event("content_block_start", index=index, content_block=empty))
        events += [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(_event("content_block_stop", index=index))
    delta = {name: body[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    events.append(_event("message_delta", delta=delta, **({"usage": usage} if usage else {})))
    return [*events, _event("message_stop")]


def _as_deltas(block: _Block) -> tuple[_Block, list[_Block]]:
    """Return the block as it starts, and what is added to it."""
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": part} for part in split_text(block["text"])]
        return {**block, "text": ""}, deltas
    if block["type"] == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": part} for part in split_text(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    if block["type"] == "tool_use":
        text = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
        # the first delta of a call is empty
        deltas = [
            {"type": "input_json_delta", "partial_json": part} for part in ["", *split_text(text)]
        ]
        return {**block, "input": {}}, deltas
    return block, []


def _event(kind: str, **fields: JsonValue) -> bytes:
    document = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {document}\n\n".encode()


def _stream_fault(fault: Fault) -> bytes:
    document = json.dumps(_fault(fault, ""), ensure_ascii=False)
    return f"event: error\ndata: {document}\n\n".encode()


def _fault(fault: Fault, key: str) -> _Block:
    """Return the body of a refusal. Source: the SDK's ``types/shared``, and its ``error_code``."""
    code, message = _WORDS.get(fault.kind, ("api_error", "Internal server error"))
    if fault.kind == "auth":
        code = "permission_error" if fault.status == 403 else "authentication_error"
        message = f"invalid x-api-key: {key}"
    error: _Block = {"type": code, "message": fault.message or message}
    if fault.kind == "quota":
        error["details"] = {"error_code": "enforced_spend_limit_reached"}
    return {"type": "error", "error": error, "request_id": "req_1"}


def _key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or bearer_token(headers)


FORMAT = WireFormat(
    name="anthropic",
    matches=lambda path: path.endswith("/v1/messages"),
    key_in=_key,
    reply=_reply,
    fault=_fault,
    is_stream=asks_for_stream,
    stream=_stream,
    stream_fault=_stream_fault,
    refuse=refuse,
)
