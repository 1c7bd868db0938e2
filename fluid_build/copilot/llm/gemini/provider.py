"""Google's Gemini API (``POST /v1beta/models/MODEL:generateContent``).

Since Gemini 3, a model may call tools and end with a structured answer. Older models refuse both
together ("Function calling with a response mime type: 'application/json' is unsupported",
googleapis/python-genai#867): for them the answer is the arguments of a function that they must
call.

The field names and the reasons to stop are those of google-genai 3.4 (``google.genai.types``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import quote, urlsplit

from fluid_build.copilot.errors import ProviderError, ProviderServerError
from fluid_build.copilot.llm.alternating_turns import (
    Turn,
    alternate,
    end_with_user,
    split_system,
)
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    LlmRequest,
    LlmResponse,
    StopReason,
    Usage,
    costs_more,
    merge_extra,
    whole_number,
)
from fluid_build.copilot.llm.gemini.parts import AnswerParts, read_parts, render_parts, result_part
from fluid_build.copilot.llm.gemini.stream import GeminiStream
from fluid_build.copilot.llm.streaming import StreamReader
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_STOP_REASONS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "TOO_MANY_TOOL_CALLS": "length",  # of the server's own tools: it gave up before the answer
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
    "ESCALATION": "refused",
    "PUP_LIMITED_DISABLED": "refused",
    "MODEL_ARMOR": "refused",
}
"""All others of ``FinishReason`` are "other", but for those below."""
_MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})
"""Answers that the model got wrong by chance: the same request may well succeed."""
_SIGNATURE_LOST = "MISSING_THOUGHT_SIGNATURE"

_VERSIONED_PATH = re.compile(r"(?:/v\d+(?:alpha|beta)?\d*|/publishers/[^/]+)/?$")
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_FIRST_WITH_BOTH = (3, 0)
"""The first version that takes tools together with a schema, signs calls, and sees results."""
_FIRST_WITHOUT_PREFILL = (3, 2)
"""The first version that refuses a conversation that ends with an answer ("Requests ending with a
model turn are not supported", pipecat-ai/pipecat#5821); older ones complete that answer."""
_ACCESS_TOKEN_START = "ya29."

_CHEAP_TIERS = ("standard", "flex", "unspecified")
"""Service tiers that cost no more than the listed price: of the SDK's ``ServiceTier``."""

_OWN_NAMES: dict[str, frozenset[str]] = {
    "": frozenset({"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}),
    "generationConfig": frozenset(
        {"maxOutputTokens", "candidateCount", "responseMimeType", "responseJsonSchema"}
    ),
}
"""What we set. Google also reads these names in snake case, which would bypass ``merge_extra``."""


class GeminiProvider(LlmProvider):
    """Google's Gemini models, from the Gemini API or from Vertex AI.

    A ``base_url`` that ends in a version or a publisher is used as it is: Vertex AI's is
    ``https://aiplatform.googleapis.com/v1/projects/P/locations/L/publishers/google``.
    """

    name = "gemini"
    default_base_url = "https://generativelanguage.googleapis.com"
    key_variables: ClassVar[tuple[str, ...]] = ("GEMINI_API_KEY",)
    fast_model = "gemini-2.5-flash"
    """From 2026-12-01 on, Google answers with gemini-3.5-flash-lite, at the same price
    (ai.google.dev/gemini-api/docs/deprecations)."""

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return ``x-goog-api-key``, or a bearer token where the key is an access token.

        In the address, the key would end up in logs.
        """
        if key.startswith(_ACCESS_TOKEN_START):
            return {"authorization": f"Bearer {key}"}
        return {"x-goog-api-key": key}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the generateContent request. The provider caches without being asked."""
        return LlmRequest(self._url(prompt.model, "generateContent"), self._body(prompt))

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the streamGenerateContent request, to be answered in server-sent events."""
        url = self._url(prompt.model, "streamGenerateContent")
        return LlmRequest(f"{url}{'&' if '?' in url else '?'}alt=sse", self._body(prompt))

    def stream_reader(self, prompt: LlmPrompt) -> StreamReader:
        """Return a reader for one streamed answer."""
        answer_name = prompt.answer_name if _is_forced(prompt) else None
        return GeminiStream(lambda body: self.parse_response(body, prompt), _usage, answer_name)

    def _url(self, model: str, method: str) -> str:
        path = f"models/{quote(model.removeprefix('models/'), safe='')}"
        if model.startswith("tunedModels/"):
            path = f"tunedModels/{quote(model.removeprefix('tunedModels/'), safe='')}"
        version = "" if _VERSIONED_PATH.search(urlsplit(self.base_url).path) else "/v1beta"
        return self.endpoint(f"{version}/{path}:{method}")

    def _body(self, prompt: LlmPrompt) -> dict[str, JsonValue]:
        system, messages = split_system(prompt)
        turns = alternate(messages, self.name)
        body: dict[str, JsonValue] = {"contents": _contents(turns, _version(prompt.model))}
        if system:
            body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
        declarations = _declarations(prompt)
        if declarations:
            body["tools"] = [{"functionDeclarations": declarations}]
        if _is_forced(prompt):
            body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY"}}
        body["generationConfig"] = _generation_config(prompt)
        _check_extra(prompt.extra)
        return merge_extra(body, prompt.extra)

    def reported_usage(self, body: JsonObject) -> Usage | None:
        """Return the usage of a malformed answer."""
        return _usage(body.get("usageMetadata"))

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return text, calls and usage of the first candidate; a blocked prompt is a refusal.

        Raises ``ProviderServerError``, which is retried, for a malformed answer.
        """
        usage = _usage(body.get("usageMetadata"))
        model = str(body.get("modelVersion", ""))
        candidates = body.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, Mapping):
            feedback = body.get("promptFeedback")
            if isinstance(feedback, Mapping) and feedback.get("blockReason"):
                text = str(feedback.get("blockReasonMessage") or "")
                return LlmResponse(
                    text,
                    usage=usage,
                    stop_reason="refused",
                    model=model,
                    format_name=self.name,
                    provider=self.name,
                )
            raise self.unreadable("no candidates")
        reason = str(candidate.get("finishReason"))
        self._check_finish(reason, candidate)
        content = candidate.get("content")
        parts = read_parts(content.get("parts") if isinstance(content, Mapping) else None, body)
        if _is_forced(prompt):
            parts = _with_answer_as_text(parts, prompt.answer_name)
        stop = _STOP_REASONS.get(reason, "other")
        text = parts.text
        if stop == "refused" and not text:
            text = str(candidate.get("finishMessage") or "")
        return LlmResponse(
            text,
            tuple(parts.calls),
            usage,
            "tool_calls" if parts.calls and stop == "end" else stop,
            model,
            parts.thinking,
            tuple(parts.blocks),
            self.name,
            self.name,
        )

    def _check_finish(self, reason: str, candidate: JsonObject) -> None:
        message = str(candidate.get("finishMessage") or "")
        detail = f": {message}" if message else ""
        if reason in _MALFORMED:
            raise ProviderServerError(
                f"{self.name} sent a malformed answer ({reason}){detail}.",
                provider=self.name,
                status_code=200,
                error_code=reason,
                hint="If it keeps happening, simplify the tools' schemas or choose another model.",
            )
        if reason == _SIGNATURE_LOST:
            raise ProviderError(
                f"{self.name} misses a thought signature in the conversation{detail}.",
                provider=self.name,
                status_code=200,
                error_code=reason,
                hint="Keep answers in the conversation as as_message returns them.",
            )


def _version(model: str) -> tuple[int, int]:
    """Return the version in the model's name; zeros where it has none, as for tuned models."""
    match = _VERSION.search(model)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _is_forced(prompt: LlmPrompt) -> bool:
    """Return whether the structured answer is the arguments of a function."""
    has_both = prompt.response_schema is not None and bool(prompt.tools)
    return has_both and _version(prompt.model) < _FIRST_WITH_BOTH


def _contents(turns: list[Turn], version: tuple[int, int]) -> list[dict[str, JsonValue]]:
    if version >= _FIRST_WITHOUT_PREFILL:
        turns = end_with_user(turns)
    calls = [part for turn in turns for part in turn.parts if isinstance(part, ToolCall)]
    names = {call.id: call.name for call in calls}
    contents: list[dict[str, JsonValue]] = []
    for turn in turns:
        for result in turn.results if version < _FIRST_WITH_BOTH else ():
            result.only_text("Gemini before version 3")
        parts: list[JsonValue] = [result_part(result, names) for result in turn.results]
        parts += render_parts(turn.parts, sign_calls=version >= _FIRST_WITH_BOTH)
        contents.append({"role": "user" if turn.is_user else "model", "parts": parts})
    return contents


def _declarations(prompt: LlmPrompt) -> list[JsonObject]:
    specs = prompt.tool_specs
    if _is_forced(prompt):
        specs.append(prompt.answer_tool)
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": gemini_schema(tool.input_schema),
        }
        for tool in specs
    ]


def _generation_config(prompt: LlmPrompt) -> dict[str, JsonValue]:
    config: dict[str, JsonValue] = {"maxOutputTokens": prompt.max_output_tokens}
    if prompt.temperature is not None:
        config["temperature"] = prompt.temperature
    if prompt.response_schema is not None and not _is_forced(prompt):
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = gemini_schema(prompt.response_schema)
    return config


def _check_extra(extra: JsonObject) -> None:
    """Raise ``UsageError`` for what would change the cost or the form of the answer."""
    for name in ("model", "stream"):
        if name in extra:
            raise _replaces(name)
    for name in ("serviceTier", "service_tier"):
        if str(extra.get(name, _CHEAP_TIERS[0])).lower() not in _CHEAP_TIERS:
            raise costs_more(name, f"Use one of {', '.join(_CHEAP_TIERS)}.")
    config = extra.get("generationConfig")
    for prefix, values in (("", extra), ("generationConfig", config)):
        if not isinstance(values, Mapping):
            continue
        for name in values:
            head, *words = name.split("_")
            if words and head + "".join(map(str.capitalize, words)) in _OWN_NAMES[prefix]:
                raise _replaces(f"{prefix}.{name}".lstrip("."))
    if isinstance(config, Mapping) and config.get("candidateCount") not in (None, 1):
        raise _replaces("generationConfig.candidateCount")
    tools = extra.get("toolConfig")
    calling = tools.get("functionCallingConfig") if isinstance(tools, Mapping) else None
    if isinstance(calling, Mapping) and "streamFunctionCallArguments" in calling:
        raise _replaces("toolConfig.functionCallingConfig.streamFunctionCallArguments")


def _replaces(name: str) -> UsageError:
    return UsageError(
        f"extra.{name} would replace what the prompt sets.",
        hint="Set it through the prompt's own fields, or leave it out.",
    )


def _with_answer_as_text(parts: AnswerParts, answer_name: str) -> AnswerParts:
    answer = next((call for call in parts.calls if call.name == answer_name), None)
    if answer is None:
        return parts
    text = json.dumps(answer.arguments, ensure_ascii=False)
    return AnswerParts(text, parts.thinking)


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


# JSON schemas in the form that Gemini reads.

_SCHEMAS_BY_NAME = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_SCHEMA = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames"})
_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})


def gemini_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """Return ``schema`` with ``$ref`` alone in its place, and ``const`` as an ``enum``."""
    node = {name: _convert(name, value) for name, value in schema.items()}
    if "const" in node:
        value = node.pop("const")
        node.setdefault("enum", [value])
        if isinstance(value, str):
            node.setdefault("type", "string")
    if "$ref" in node and any(not name.startswith("$") for name in node):
        reference = {"$ref": node.pop("$ref")}
        return {**node, "anyOf": [reference]} if "anyOf" not in node else node | reference
    return node


def _convert(name: str, value: JsonValue) -> JsonValue:
    if name in _SCHEMAS_BY_NAME and isinstance(value, Mapping):
        return {key: _convert_schema(inner) for key, inner in value.items()}
    if name in _SCHEMAS and isinstance(value, list):
        return [_convert_schema(inner) for inner in value]
    return _convert_schema(value) if name in _SCHEMA else value


def _convert_schema(value: JsonValue) -> JsonValue:
    return gemini_schema(value) if isinstance(value, Mapping) else value
