"""OpenAI's Chat Completions API, which most other servers offer too.

``FLUID_OPENAI_STRICT_SCHEMA=1`` turns strict structured output on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmRequest,
    LlmResponse,
    StopReason,
    call_id,
    costs_more,
    merge_extra,
)
from fluid_build.copilot.llm.openai.api import (
    OpenAIServer,
    check_extra,
    data_url,
    file_name,
    is_reasoning_model,
    read_usage,
    refuse_attachments,
    restore_answer,
    sampling_parameters,
)
from fluid_build.copilot.llm.openai.chat_stream import ChatStreamReader
from fluid_build.copilot.llm.streaming import StreamReader
from fluid_build.copilot.llm.strict_schema import harden
from fluid_build.copilot.messages import (
    Attachment,
    Message,
    ProviderBlock,
    ToolCall,
    content_parts,
    provider_blocks,
    read_arguments,
    text_of,
    tool_calls,
)
from fluid_build.copilot.messages import tool_results as results_of
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

FORMAT_NAME = "openai-chat"

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refused",
}
_FIXED = ("model", "messages", "stream", "best_of", "functions", "function_call", "modalities")
_CHARGED_EXTRA = ("models", "plugins", "web_search_options")
"""OpenRouter's list of other models that may answer, and searches, which cost extra each."""


class OpenAIChatProvider(OpenAIServer):
    """OpenAI's Chat Completions, and servers that use the same format."""

    thinking_to_return: ClassVar[tuple[str, ...]] = ("reasoning_details", "reasoning_content")
    """The fields of an answer's thinking that the server wants back, the preferred first.

    OpenRouter documents ``reasoning_details`` ("Reasoning Tokens"), DeepSeek ``reasoning_content``
    ("Thinking Mode"), whose API refuses a tool's results without it.
    """

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the Chat Completions request. The provider caches without being asked."""
        check_extra(prompt.extra, _FIXED)
        for name in _CHARGED_EXTRA:
            if prompt.extra.get(name):
                raise costs_more(name, "Leave it out.")
        body: dict[str, JsonValue] = {
            "model": prompt.model,
            "messages": self._messages(prompt),
            self._limit_name(prompt): prompt.max_output_tokens,
            **sampling_parameters(prompt, prompt.extra.get("reasoning_effort")),
        }
        if prompt.tools:
            body["tools"] = [tool.as_function() for tool in prompt.tool_specs]
        if prompt.response_schema is not None:
            body["response_format"] = self._response_format(prompt)
        return LlmRequest(self.endpoint("/chat/completions"), merge_extra(body, prompt.extra))

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the same request with a stream as its answer, which ends with the usage."""
        request = self.build_request(prompt)
        body = merge_extra(request.body, {"stream_options": {"include_usage": True}})
        return LlmRequest(request.url, {**body, "stream": True}, request.headers)

    def stream_reader(self, prompt: LlmPrompt) -> StreamReader:
        """Return a reader for one streamed answer."""
        return ChatStreamReader(lambda body: self.parse_response(body, prompt))

    def _limit_name(self, prompt: LlmPrompt) -> str:
        """Return the name of the output limit.

        Reasoning models take only the new one, and not all other servers know it.
        """
        is_new = self.is_openais_own or is_reasoning_model(prompt.model)
        return "max_completion_tokens" if is_new else "max_tokens"

    def _messages(self, prompt: LlmPrompt) -> list[dict[str, JsonValue]]:
        # OpenAI's own models never show their thinking here, and refuse unknown fields.
        returned = () if self.is_openais_own else self.thinking_to_return
        rendered: list[dict[str, JsonValue]] = []
        if prompt.system.strip():
            rendered.append({"role": "system", "content": prompt.system})
        for message in prompt.messages:
            self.check_images(message)
            rendered += _render_message(message, returned)
        return rendered

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
        if isinstance(choice, Mapping) and choice.get("error"):
            raise self.failure(choice)  # as OpenRouter reports that a model failed
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
            raise self.unreadable("no choices")
        refusal = message.get("refusal")
        text = str(refusal) if refusal else _read_content(message)
        if prompt.response_schema is not None and self.strict_schema and not refusal:
            text = restore_answer(text, prompt.response_schema)
        calls = tuple(_read_calls(message, body))
        return LlmResponse(
            text,
            calls,
            read_usage(body.get("usage"), "prompt_tokens", "completion_tokens"),
            "refused" if refusal else _stop_reason(choice, calls),
            str(body.get("model", "")),
            _read_thinking(message),
            tuple(self._blocks(message)),
            FORMAT_NAME,
            self.name,
        )

    def _blocks(self, message: JsonObject) -> list[ProviderBlock]:
        field = next((name for name in self.thinking_to_return if message.get(name)), None)
        return [ProviderBlock({field: message[field]})] if field else []


def _render_message(message: Message, returned: Sequence[str]) -> list[dict[str, JsonValue]]:
    """Return a message as one entry, or several where it has results and text."""
    rendered: list[dict[str, JsonValue]] = [
        {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": result.only_text("OpenAI"),
        }
        for result in results_of(message)
    ]
    role = message.get("role", "user")
    if role == "assistant":
        rendered.append(_render_answer(message, returned))
    else:
        content = _render_content(message)
        if content or not rendered:
            rendered.append({"role": role, "content": content})
    return rendered


def _render_answer(message: Message, returned: Sequence[str]) -> dict[str, JsonValue]:
    refuse_attachments(content_parts(message), "An assistant's message")
    text, calls = text_of(message), tool_calls(message)
    answer: dict[str, JsonValue] = {
        "role": "assistant",
        "content": (text or None) if calls else text,
    }
    if calls:
        answer["tool_calls"] = [_render_call(call) for call in calls]
    for part in provider_blocks(message, FORMAT_NAME):
        answer |= {name: value for name, value in part.block.items() if name in returned}
    return answer


def _render_call(call: ToolCall) -> dict[str, JsonValue]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _render_content(message: Message) -> str | list[dict[str, JsonValue]]:
    parts = content_parts(message)
    if all(isinstance(part, str) for part in parts):
        return text_of(message)
    if message.get("role") != "user":
        refuse_attachments(parts, "A system message")
    return [
        {"type": "text", "text": part} if isinstance(part, str) else _render_attachment(part)
        for part in parts
    ]


def _render_attachment(attachment: Attachment) -> dict[str, JsonValue]:
    """Return an image, or a document as ``ChatCompletionContentPartParam`` takes it."""
    if attachment.kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(attachment)}}
    if attachment.url:
        raise UsageError(
            "Chat Completions takes no documents by URL.",
            hint="Send the document's data, or use the Responses API (openai-responses).",
        )
    file: JsonObject = {"filename": file_name(attachment), "file_data": data_url(attachment)}
    return {"type": "file", "file": file}


def _stop_reason(choice: JsonObject, calls: Sequence[ToolCall]) -> StopReason:
    stop = _STOP_REASONS.get(str(choice.get("finish_reason")), "other")
    # some compatible servers say "stop" after calls too
    return "tool_calls" if stop == "end" and calls else stop


def _read_content(message: JsonObject) -> str:
    """Return the text, or the texts of content parts, which some compatible servers send."""
    content = message.get("content")
    return content if isinstance(content, str) else text_of(message)


def _read_thinking(message: JsonObject) -> str:
    """Return the thinking: vLLM and OpenRouter call it ``reasoning``, DeepSeek and xAI don't."""
    texts = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in texts if isinstance(text, str) and text), "")


def _read_calls(message: JsonObject, body: JsonObject) -> list[ToolCall]:
    entries = message.get("tool_calls")
    calls: list[ToolCall] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if isinstance(function, Mapping):
            source: JsonObject = {"id": body.get("id"), "message": message}
            calls.append(
                ToolCall(
                    str(entry.get("id") or call_id(source, index)),
                    str(function.get("name", "")),
                    read_arguments(function.get("arguments")),
                )
            )
    return calls
