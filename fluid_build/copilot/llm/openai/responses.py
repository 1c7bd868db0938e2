"""OpenAI's Responses API, without any state on the server.

Current models refuse tools on Chat Completions. Answers aren't stored: what the model reasoned
goes back with the conversation, encrypted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from fluid_build.copilot.llm.base import LlmPrompt, LlmRequest, LlmResponse, ToolSpec, merge_extra
from fluid_build.copilot.llm.openai.api import (
    OpenAIServer,
    check_extra,
    data_url,
    file_name,
    has_cache_options,
    is_reasoning_model,
    never_reasons,
    refuse_attachments,
    restore_answer,
    sampling_parameters,
)
from fluid_build.copilot.llm.openai.responses_answer import (
    FORMAT_NAME,
    PHASE_MARK,
    ResponsesStreamReader,
    read_answer,
)
from fluid_build.copilot.llm.streaming import StreamReader
from fluid_build.copilot.llm.strict_schema import harden
from fluid_build.copilot.messages import (
    Attachment,
    Message,
    ToolCall,
    ToolResult,
    answer_parts,
    content_parts,
    text_of,
)
from fluid_build.copilot.messages import tool_results as results_of
from fluid_build.json_types import JsonObject, JsonValue

_ENCRYPTED_REASONING = "reasoning.encrypted_content"
_FIXED = ("model", "input", "stream", "background", "conversation", "previous_response_id", "store")


class OpenAIResponsesProvider(OpenAIServer):
    """OpenAI's Responses API, of OpenAI, Azure, or a server that uses the same format."""

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the request for an answer that the server doesn't store."""
        check_extra(prompt.extra, _FIXED)
        for message in prompt.messages:
            self.check_images(message)
        body: dict[str, JsonValue] = {
            "model": prompt.model,
            "input": _render_messages(prompt),
            "max_output_tokens": prompt.max_output_tokens,
            "store": False,
            **sampling_parameters(prompt, _effort(prompt)),
        }
        if prompt.system.strip():
            body["instructions"] = prompt.system
        if prompt.tools:
            body["tools"] = [_render_tool(tool) for tool in prompt.tool_specs]
        if prompt.response_schema is not None:
            body["text"] = {"format": self._text_format(prompt, prompt.response_schema)}
        if not prompt.cache_prompt and has_cache_options(prompt.model):
            # "If there are no explicit breakpoints, the request does not use prompt caching."
            body["prompt_cache_options"] = {"mode": "explicit"}
        return LlmRequest(self.endpoint("/responses"), _with_extra(body, prompt))

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the same request with a stream as its answer."""
        request = self.build_request(prompt)
        return LlmRequest(request.url, {**request.body, "stream": True}, request.headers)

    def stream_reader(self, prompt: LlmPrompt) -> StreamReader:
        """Return a reader for one streamed answer."""
        return ResponsesStreamReader(
            lambda body: self.parse_response(body, prompt),
            self.failure,
            is_structured=prompt.response_schema is not None,
        )

    def _text_format(self, prompt: LlmPrompt, schema: JsonObject) -> dict[str, JsonValue]:
        return {
            "type": "json_schema",
            "name": prompt.answer_name,
            "schema": harden(schema) if self.strict_schema else dict(schema),
            "strict": self.strict_schema or harden(schema) == schema,
        }

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return text, calls, reasoning and usage. Raises ``ProviderError`` for a failed answer."""
        if body.get("error") or body.get("status") == "failed":
            raise self.failure({"type": "response.failed", "response": body})
        output = body.get("output")
        if not isinstance(output, list):
            raise self.unreadable("no output")
        answer = read_answer(body, output, is_structured=prompt.response_schema is not None)
        answer = replace(answer, provider=self.name)
        if prompt.response_schema is None or not self.strict_schema:
            return answer
        if answer.stop_reason == "refused":
            return answer
        return replace(answer, text=restore_answer(answer.text, prompt.response_schema))


def _render_tool(tool: ToolSpec) -> dict[str, JsonValue]:
    """Return a tool, strict if its schema is as strict mode wants it without any change."""
    parameters = dict(tool.input_schema)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        "strict": harden(parameters) == parameters,
    }


def _with_extra(body: dict[str, JsonValue], prompt: LlmPrompt) -> dict[str, JsonValue]:
    """Return the body with ``extra``, and its ``include`` added to ours."""
    merged = merge_extra(body, prompt.extra)
    if is_reasoning_model(prompt.model):  # other models refuse to include what they don't have
        included = prompt.extra.get("include")
        names = list(included) if isinstance(included, list) else []
        merged["include"] = list(dict.fromkeys([*names, _ENCRYPTED_REASONING]))
    return merged


def _effort(prompt: LlmPrompt) -> JsonValue:
    reasoning = prompt.extra.get("reasoning")
    return reasoning.get("effort") if isinstance(reasoning, Mapping) else None


def _render_messages(prompt: LlmPrompt) -> list[dict[str, JsonValue]]:
    items: list[dict[str, JsonValue]] = []
    for message in prompt.messages:
        items += [_render_result(result) for result in results_of(message)]
        items += _render_message(message)
    if never_reasons(prompt.model):
        # such a model refuses the reasoning that another one wrote earlier in the conversation
        items = [item for item in items if item.get("type") != "reasoning"]
    return items


def _render_result(result: ToolResult) -> dict[str, JsonValue]:
    output: JsonValue = result.content
    if result.attachments:
        parts: list[str | Attachment] = [result.content] if result.content else []
        output = [_render_part(part) for part in (*parts, *result.attachments)]
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _render_message(message: Message) -> list[dict[str, JsonValue]]:
    role = message.get("role", "user")
    if role == "assistant":
        return _render_answer(message)
    parts = content_parts(message)
    if not parts:
        return []
    content: JsonValue = text_of(message)
    if any(isinstance(part, Attachment) for part in parts):
        if role != "user":
            refuse_attachments(parts, "A system message")
        content = [_render_part(part) for part in parts]
    return [{"type": "message", "role": role, "content": content}]


def _render_part(part: str | Attachment) -> dict[str, JsonValue]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.kind == "image":
        return {"type": "input_image", "detail": "auto", "image_url": data_url(part)}
    if part.url:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": file_name(part), "file_data": data_url(part)}


def _render_answer(message: Message) -> list[dict[str, JsonValue]]:
    """Return an answer's items in their order, each text with the phase that it had."""
    refuse_attachments(content_parts(message), "An assistant's message")
    items: list[dict[str, JsonValue]] = []
    phase: JsonValue = None
    for part in answer_parts(message, FORMAT_NAME):
        if isinstance(part, str | ToolCall):
            items.append(_render_text_or_call(part, phase))
        elif part.block.get("type") == PHASE_MARK:
            phase = part.block.get("phase")
        elif _can_be_returned(part.block):
            items.append(dict(part.block))
    while items and items[-1].get("type") == "reasoning":
        # a reasoning item "without its required following item", of an answer cut off, is refused
        items.pop()
    return items


def _render_text_or_call(part: str | ToolCall, phase: JsonValue) -> dict[str, JsonValue]:
    if isinstance(part, str):
        item: dict[str, JsonValue] = {"type": "message", "role": "assistant", "content": part}
        return item | {"phase": phase} if phase else item
    arguments = json.dumps(part.arguments, ensure_ascii=False)
    return {
        "type": "function_call",
        "call_id": part.id,
        "name": part.name,
        "arguments": arguments,
    }


def _can_be_returned(item: JsonObject) -> bool:
    """Return whether the item has its content, because the server stores none by its id."""
    if item.get("type") != "reasoning":
        return True
    return bool(item.get("encrypted_content") or item.get("content"))
