"""Google's Gemini API (``POST /v1beta/models/MODEL:generateContent``).

The older models don't combine tools with structured output; with both, the answer is the arguments
of a function that the model must call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote

from fluid_build.copilot.llm.alternating_turns import Turn, TurnPart, alternate, split_system
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
from fluid_build.copilot.messages import ToolCall, ToolResult
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_STOP_REASONS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
}


class GeminiProvider(LlmProvider):
    """Google's Gemini models."""

    name = "gemini"
    default_base_url = "https://generativelanguage.googleapis.com"
    key_variables = ("GEMINI_API_KEY",)
    fast_model = "gemini-2.5-flash"

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return ``x-goog-api-key``; in the address, the key would end up in logs."""
        return {"x-goog-api-key": key}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the generateContent request. The provider caches without being asked."""
        system, messages = split_system(prompt)
        body: dict[str, JsonValue] = {"contents": _contents(alternate(messages, self.name))}
        if system:
            body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
        declarations = _declarations(prompt)
        if declarations:
            body["tools"] = [{"functionDeclarations": declarations}]
            if prompt.response_schema is not None:
                body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY"}}
        body["generationConfig"] = _generation_config(prompt)
        body = merge_extra(body, prompt.extra)
        model = quote(prompt.model.removeprefix("models/"), safe="")
        return LlmRequest(self.endpoint(f"/v1beta/models/{model}:generateContent"), body)

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return text, calls and usage of the first candidate; a blocked prompt is a refusal."""
        usage = _usage(body.get("usageMetadata"))
        model = str(body.get("modelVersion", ""))
        candidates = body.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, Mapping):
            feedback = body.get("promptFeedback")
            if isinstance(feedback, Mapping) and feedback.get("blockReason"):
                return LlmResponse("", (), usage, "refused", model)
            raise self.unreadable("no candidates")
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        shown = [p for p in parts or [] if isinstance(p, Mapping) and not p.get("thought")]
        text = "".join(str(part.get("text", "")) for part in shown)
        calls = _calls(shown, body)
        stop = _STOP_REASONS.get(str(candidate.get("finishReason")), "other")
        if prompt.response_schema is not None and prompt.tools:
            answer = next((c for c in calls if c.name == prompt.answer_name), None)
            if answer is not None:
                text, calls = json.dumps(answer.arguments, ensure_ascii=False), []
        return LlmResponse(
            text, tuple(calls), usage, "tool_calls" if calls and stop == "end" else stop, model
        )


def _contents(turns: list[Turn]) -> list[dict[str, JsonValue]]:
    calls = [part for turn in turns for part in turn.parts if isinstance(part, ToolCall)]
    names = {call.id: call.name for call in calls}
    return [
        {"role": "user" if turn.is_user else "model", "parts": _parts(turn, names)}
        for turn in turns
    ]


def _parts(turn: Turn, names: Mapping[str, str]) -> list[dict[str, JsonValue]]:
    parts: list[dict[str, JsonValue]] = [_result_part(result, names) for result in turn.results]
    return parts + [_part(part) for part in turn.parts]


def _part(part: TurnPart) -> dict[str, JsonValue]:
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, ToolCall):
        written: dict[str, JsonValue] = {
            "functionCall": {"name": part.name, "args": part.arguments}
        }
        if part.signature is not None:  # without it, the model refuses its own call
            written["thoughtSignature"] = part.signature
        return written
    raise UsageError("Gemini can't be sent this part of a message yet.")


def _result_part(result: ToolResult, names: Mapping[str, str]) -> dict[str, JsonValue]:
    name = result.name or names.get(result.call_id, result.call_id)
    key = "error" if result.is_error else "result"
    return {"functionResponse": {"name": name, "response": {key: result.content}}}


def _declarations(prompt: LlmPrompt) -> list[JsonObject]:
    specs = prompt.tool_specs
    if specs and prompt.response_schema is not None:
        specs.append(prompt.answer_tool)
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": dict(tool.input_schema),
        }
        for tool in specs
    ]


def _generation_config(prompt: LlmPrompt) -> dict[str, JsonValue]:
    config: dict[str, JsonValue] = {"maxOutputTokens": prompt.max_output_tokens}
    if prompt.temperature is not None:
        config["temperature"] = prompt.temperature
    if prompt.response_schema is not None and not prompt.tools:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = dict(prompt.response_schema)
    return config


def _calls(parts: list[JsonObject], body: JsonObject) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for index, part in enumerate(parts):
        function = part.get("functionCall")
        if isinstance(function, Mapping):
            arguments = function.get("args")
            signature = part.get("thoughtSignature")
            calls.append(
                ToolCall(
                    str(function.get("id") or call_id(body, index)),
                    str(function.get("name", "")),
                    dict(arguments) if isinstance(arguments, Mapping) else {},
                    signature if isinstance(signature, str) else None,
                )
            )
    return calls


def _usage(usage: JsonValue) -> Usage | None:
    """Return the usage; thinking is output, and cached tokens are part of the prompt."""
    if not isinstance(usage, Mapping):
        return None
    return Usage(
        whole_number(usage.get("promptTokenCount"))
        + whole_number(usage.get("toolUsePromptTokenCount")),
        whole_number(usage.get("candidatesTokenCount"))
        + whole_number(usage.get("thoughtsTokenCount")),
        whole_number(usage.get("cachedContentTokenCount")),
    )
