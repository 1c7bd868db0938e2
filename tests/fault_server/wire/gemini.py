"""The generateContent API as Google's server speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fluid_build.copilot.messages import ToolCall
from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault
from tests.fault_server.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    as_arguments,
    bearer_token,
    split_text,
)
from tests.fault_server.wire.gemini_rules import refuse, signs_calls

_SIGNATURE = "c2lnbmF0dXJl"
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    504: "DEADLINE_EXCEEDED",
}
_MESSAGES = {
    "rate_limit": "Resource has been exhausted (e.g. check quota).",
    "quota": "You exceeded your current quota, please check your plan and billing details.",
    "overloaded": "The model is overloaded. Please try again later.",
    "stream_error": "The model is overloaded. Please try again later.",
    "overflow": "The input token count (1048577) exceeds the maximum number of tokens allowed "
    "(1048576).",
    "server": "An internal error has occurred. Please retry.",
}


def _reply(reply: Reply, request: RequestBody) -> dict[str, JsonValue]:
    return _document(reply, _parts(reply, request), is_last=True)


def _stream(reply: Reply, request: RequestBody) -> list[bytes]:
    """Return events of one part each; a text comes in pieces, the end with the last part."""
    parts: list[dict[str, JsonValue]] = []
    for part in _parts(reply, request):
        pieces = split_text(str(part["text"])) if part.get("text") else []
        parts += [{**part, "text": piece} for piece in pieces] or [part]
    last = len(parts) - 1
    return [
        _event(_document(reply, [part], is_last=number == last))
        for number, part in enumerate(parts)
    ] or [_event(_document(reply, [], is_last=True))]


def _event(document: dict[str, JsonValue]) -> bytes:
    return f"data: {json.dumps(document, ensure_ascii=False)}\r\n\r\n".encode()


def _parts(reply: Reply, request: RequestBody) -> list[dict[str, JsonValue]]:
    parts: list[dict[str, JsonValue]] = []
    if reply.thinking:
        parts.append({"text": reply.thinking, "thought": True})
    calling = request.get("toolConfig", {}).get("functionCallingConfig", {})
    if calling.get("mode") == "ANY" and not reply.tool_calls:
        name = request["tools"][0]["functionDeclarations"][-1]["name"]
        parts.append({"functionCall": {"name": name, "args": as_arguments(reply.text)}})
    elif reply.text:
        parts.append({"text": reply.text})
    parts += [_call(call) for call in reply.tool_calls]
    if reply.tool_calls and signs_calls(str(request.get(":path"))):
        first = parts[-len(reply.tool_calls)]
        first.setdefault("thoughtSignature", _SIGNATURE)
    if reply.thinking and not reply.tool_calls:
        parts.append({"text": "", "thoughtSignature": _SIGNATURE})
    return parts


def _call(call: ToolCall) -> dict[str, JsonValue]:
    function: dict[str, JsonValue] = {"name": call.name, "args": call.arguments}
    if call.id:
        function["id"] = call.id
    part: dict[str, JsonValue] = {"functionCall": function}
    if call.signature is not None:
        part["thoughtSignature"] = call.signature
    return part


def _document(
    reply: Reply, parts: list[dict[str, JsonValue]], *, is_last: bool
) -> dict[str, JsonValue]:
    candidate: dict[str, JsonValue] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if is_last:
        stops = {"length": "MAX_TOKENS", "refused": "SAFETY", "other": "OTHER"}
        candidate["finishReason"] = stops.get(reply.stop_reason, "STOP")
    body: dict[str, JsonValue] = {
        "candidates": [candidate],
        "modelVersion": reply.model,
        "responseId": "r1",
    }
    if reply.usage is not None:
        usage = reply.usage
        counts: dict[str, JsonValue] = {"promptTokenCount": usage.input_tokens}
        if is_last:
            counts["candidatesTokenCount"] = usage.output_tokens
            counts["totalTokenCount"] = usage.input_tokens + usage.output_tokens
        if usage.cached_tokens:
            counts["cachedContentTokenCount"] = usage.cached_tokens
        body["usageMetadata"] = counts
    return body


def _fault(fault: Fault, key: str) -> dict[str, JsonValue]:
    message = fault.message or _MESSAGES.get(fault.kind, "The request failed.")
    details: list[dict[str, JsonValue]] = []
    if fault.kind == "auth":
        message = f"API key not valid. Please pass a valid API key: {key}."
        details = [{"@type": _type("ErrorInfo"), "reason": "API_KEY_INVALID"}]
    elif fault.kind == "quota":
        violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
        details = [{"@type": _type("QuotaFailure"), "violations": [violation]}]
    status = _STATUSES.get(fault.status, "UNAVAILABLE")
    error: dict[str, JsonValue] = {"code": fault.status, "message": message, "status": status}
    if details:
        error["details"] = details
    return {"error": error}


def _type(name: str) -> str:
    return f"type.googleapis.com/google.rpc.{name}"


def _key(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Return the key, from the header, from the address, or as a bearer token for Vertex AI."""
    return headers.get("x-goog-api-key") or query.get("key") or bearer_token(headers)


FORMAT = WireFormat(
    name="gemini",
    matches=lambda path: path.endswith((":generateContent", ":streamGenerateContent")),
    key_in=_key,
    reply=_reply,
    fault=_fault,
    is_stream=lambda path, _body: path.endswith(":streamGenerateContent"),
    stream=_stream,
    refuse=refuse,
)
