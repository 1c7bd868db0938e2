"""OpenAI's Chat Completions API, which most other servers offer too.

``base_url`` may be Azure (``https://NAME.openai.azure.com/openai/v1``), vLLM, OpenRouter or LM
Studio; ``fluid_build.copilot.llm.providers`` has their names. ``FLUID_OPENAI_STRICT_SCHEMA=1``
turns strict structured output on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlsplit

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
from fluid_build.copilot.llm.strict_schema import harden, restore, strict_schema_enabled
from fluid_build.copilot.messages import Message, ToolCall, read_arguments, text_of, tool_calls
from fluid_build.copilot.messages import tool_results as results_of
from fluid_build.json_types import JsonObject, JsonValue

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refused",
}


class OpenAIProvider(LlmProvider):
    """OpenAI, and servers that use its format."""

    name = "openai"
    default_base_url = "https://api.openai.com/v1"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    fast_model = "gpt-4.1-nano"

    def __init__(self, base_url: str | None = None, *, strict_schema: bool | None = None) -> None:
        super().__init__(base_url)
        self.strict_schema = (
            strict_schema_enabled(os.environ) if strict_schema is None else strict_schema
        )
        self._host = urlsplit(self.base_url).hostname or ""

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return a bearer token; ``api-key`` for Azure."""
        return {"api-key": key} if self._is_azure else {"authorization": f"Bearer {key}"}

    @property
    def _is_azure(self) -> bool:
        return self._host.endswith(".azure.com")

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the Chat Completions request. The provider caches without being asked."""
        body: dict[str, JsonValue] = {"model": prompt.model, "messages": _messages(prompt)}
        # compatible servers know only the older name
        own = self._is_azure or self._host == "api.openai.com"
        body["max_completion_tokens" if own else "max_tokens"] = prompt.max_output_tokens
        if prompt.temperature is not None:
            body["temperature"] = prompt.temperature
        if prompt.tools:
            body["tools"] = [tool.as_function() for tool in prompt.tool_specs]
        if prompt.response_schema is not None:
            body["response_format"] = self._response_format(prompt)
        body = merge_extra(body, prompt.extra)
        return LlmRequest(self.endpoint("/chat/completions"), body)

    def _response_format(self, prompt: LlmPrompt) -> dict[str, JsonValue]:
        schema = prompt.response_schema or {}
        return {
            "type": "json_schema",
            "json_schema": {
                "name": prompt.answer_name,
                "schema": harden(schema) if self.strict_schema else dict(schema),
                "strict": self.strict_schema,
            },
        }

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return text, calls and usage of the first choice."""
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
            raise self.unreadable("no choices")
        refusal = message.get("refusal")
        text = str(refusal) if refusal else _content(message)
        if prompt.response_schema is not None and self.strict_schema and not refusal:
            text = _restored(text, prompt.response_schema)
        stop = _STOP_REASONS.get(str(choice.get("finish_reason")), "other")
        return LlmResponse(
            text,
            tuple(_calls(message, body)),
            _usage(body.get("usage")),
            "refused" if refusal else stop,
            str(body.get("model", "")),
        )


def _messages(prompt: LlmPrompt) -> list[dict[str, JsonValue]]:
    rendered: list[dict[str, JsonValue]] = []
    if prompt.system.strip():
        rendered.append({"role": "system", "content": prompt.system})
    for message in prompt.messages:
        rendered += _message(message)
    return rendered


def _message(message: Message) -> list[dict[str, JsonValue]]:
    """Return a message as one entry, or several where it has results and text."""
    rendered: list[dict[str, JsonValue]] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
        for result in results_of(message)
    ]
    text, calls = text_of(message), tool_calls(message)
    if calls:
        rendered.append(
            {
                "role": "assistant",
                "content": text or None,
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {
                            "name": call.name,
                            "arguments": json.dumps(call.arguments, ensure_ascii=False),
                        },
                    }
                    for call in calls
                ],
            }
        )
    elif text or not rendered:
        rendered.append({"role": message.get("role", "user"), "content": text})
    return rendered


def _content(message: JsonObject) -> str:
    """Return the text, or the texts of content parts, which some compatible servers send."""
    content = message.get("content")
    return content if isinstance(content, str) else text_of(message)


def _calls(message: JsonObject, body: JsonObject) -> list[ToolCall]:
    entries = message.get("tool_calls")
    calls: list[ToolCall] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if isinstance(function, Mapping):
            calls.append(
                ToolCall(
                    str(entry.get("id") or call_id(body, index)),
                    str(function.get("name", "")),
                    read_arguments(function.get("arguments")),
                )
            )
    return calls


def _restored(text: str, schema: JsonObject) -> str:
    """Return the answer in the shape of the caller's own schema, without strict mode's."""
    try:
        return json.dumps(restore(json.loads(text), schema), ensure_ascii=False)
    except (ValueError, RecursionError):  # validation reports it, with the text as it came
        return text


def _usage(usage: JsonValue) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(
        whole_number(usage.get("prompt_tokens")),
        whole_number(usage.get("completion_tokens")),
        whole_number(cached),
    )
