"""The generateContent API as Google's server speaks it."""

from __future__ import annotations

from collections.abc import Mapping

from fluid_build.copilot.llm.testing.faults import Fault
from fluid_build.copilot.llm.testing.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    as_arguments,
    transient_words,
)
from fluid_build.json_types import JsonValue


def _reply(reply: Reply, request: RequestBody) -> dict[str, JsonValue]:
    parts: list[dict[str, JsonValue]] = []
    forced = "toolConfig" in request and not reply.tool_calls
    if forced:
        name = request["tools"][0]["functionDeclarations"][-1]["name"]
        parts.append({"functionCall": {"name": name, "args": as_arguments(reply.text)}})
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


def _fault(fault: Fault, key: str) -> dict[str, JsonValue]:
    message, code = transient_words(fault)
    if fault.kind == "auth":
        message, code = f"Incorrect API key provided: {key}.", "UNAUTHENTICATED"
    elif fault.kind == "overflow":
        message = "The input token count (1) exceeds the maximum number of tokens allowed (0)."
        code = "INVALID_ARGUMENT"
    elif fault.kind == "quota":
        message, code = "You exceeded your current quota.", "RESOURCE_EXHAUSTED"
    error: dict[str, JsonValue] = {"code": fault.status, "message": message, "status": code}
    if fault.kind == "quota":
        violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
        error["details"] = [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
        ]
    return {"error": error}


def _key(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    return headers.get("x-goog-api-key") or query.get("key", "")


FORMAT = WireFormat(
    name="gemini",
    matches=lambda path: path.endswith((":generateContent", ":streamGenerateContent")),
    key_in=_key,
    reply=_reply,
    fault=_fault,
    is_stream=lambda path, _body: path.endswith(":streamGenerateContent"),
)
