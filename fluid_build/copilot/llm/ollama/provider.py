"""Ollama's own API (``POST /api/chat``), for models on the user's machine.

The server silently cuts a prompt at its own default length, so each request says how much context
it needs (``num_ctx``). The field names are those of ollama 0.6.3, the official client; what the
server makes of them is in its source (``server/routes.go``, August 2026).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from fluid_build.copilot.context.token_budget import estimate_message_tokens, estimate_tokens
from fluid_build.copilot.llm.alternating_turns import split_system
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    LlmRequest,
    LlmResponse,
    StopReason,
    Usage,
    call_id,
    check_image_type,
    merge_extra,
    whole_number,
)
from fluid_build.copilot.llm.streaming import (
    JsonLines,
    StreamEvent,
    StreamFrames,
    StreamReader,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import (
    Attachment,
    Message,
    ProviderBlock,
    ToolCall,
    ToolResult,
    content_parts,
    provider_blocks,
    read_arguments,
    text_of,
    tool_calls,
)
from fluid_build.copilot.messages import tool_results as results_of
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue


class _OllamaStream(StreamReader):
    """A reader of one streamed answer.

    ``parse`` reads the assembled body, ``read_usage`` its usage, which only the last line has.
    """

    def __init__(
        self,
        parse: Callable[[JsonObject], LlmResponse],
        read_usage: Callable[[JsonObject], Usage | None],
    ) -> None:
        self._parse, self._read_usage = parse, read_usage
        self._body: dict[str, JsonValue] = {}
        self._role = "assistant"
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[JsonValue] = []

    def read(self, document: JsonObject) -> list[StreamEvent]:
        """Return the events of the next line; calls come with the last one."""
        self._body |= {key: value for key, value in document.items() if key != "message"}
        message = document.get("message")
        events = self._message_events(message) if isinstance(message, Mapping) else []
        if document.get("done") is True and not self.is_complete:
            self.is_complete = True
            self.usage = self._read_usage(document)
            events += [ToolCallEvent(call) for call in self.response().tool_calls]
            events += [UsageEvent(self.usage)] if self.usage is not None else []
        return events

    def response(self) -> LlmResponse:
        """Return the whole answer."""
        message: dict[str, JsonValue] = {
            "role": self._role,
            "content": "".join(self._content),
        }
        if self._thinking:
            message["thinking"] = "".join(self._thinking)
        if self._calls:
            message["tool_calls"] = self._calls
        return self._parse({**self._body, "message": message})

    def _message_events(self, message: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        self._role = str(message.get("role") or self._role)
        if thinking := message.get("thinking"):
            self._thinking.append(str(thinking))
            events.append(ThinkingEvent(str(thinking)))
        if content := message.get("content"):
            self._content.append(str(content))
            events.append(TextEvent(str(content)))
        calls = message.get("tool_calls")
        self._calls += calls if isinstance(calls, list) else []
        return events


_SMALLEST_CONTEXT = 4096
_ASK_FOR_JSON = "When you need no more tools, answer with JSON alone that follows this schema: "
"""The instruction where there are tools: ``format`` constrains the answer from its first token, so
that models without thinking can't call tools, and others are refused (ollama/ollama#17957)."""
_FIELDS = frozenset(
    {
        "format", "keep_alive", "logprobs", "messages", "model", "options", "shift", "stream",
        "think", "tools", "top_logprobs", "truncate",
    }
)  # fmt: skip
"""Of the official client's ``ChatRequest``, and the server's (``api/types.go``)."""
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/webp")
"""The types that Ollama supports and tests (ollama/ollama#17755); others depend on the model."""
_STOP_REASONS: dict[str, StopReason] = {"stop": "end", "length": "length"}


class OllamaProvider(LlmProvider):
    """Models that Ollama serves on the user's machine, once they have been pulled."""

    name = "ollama"
    default_base_url = "http://localhost:11434"
    key_variables: ClassVar[tuple[str, ...]] = ("OLLAMA_API_KEY",)
    needs_key = False
    stream_frames: ClassVar[type[StreamFrames]] = JsonLines

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return a bearer token, for Ollama's cloud and for proxies that ask for one."""
        return {"authorization": f"Bearer {key}"}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the chat request, to be answered in one piece."""
        return LlmRequest(self.endpoint("/api/chat"), _body(prompt, is_stream=False))

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the chat request, to be answered in lines of JSON."""
        return LlmRequest(self.endpoint("/api/chat"), _body(prompt, is_stream=True))

    def stream_reader(self, prompt: LlmPrompt) -> StreamReader:
        """Return a reader for one streamed answer."""
        return _OllamaStream(lambda body: self.parse_response(body, prompt), _usage)

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:  # noqa: ARG002 - the format needs no prompt
        """Return text, calls, thinking and usage of a chat answer."""
        message = body.get("message")
        if not isinstance(message, Mapping):
            raise self.unreadable("no message")
        calls = _read_calls(message, body)
        stop = _STOP_REASONS.get(str(body.get("done_reason", "stop")), "other")
        thinking = str(message.get("thinking") or "")
        return LlmResponse(
            str(message.get("content") or ""),
            tuple(calls),
            _usage(body),
            "tool_calls" if calls and stop == "end" else stop,
            str(body.get("model", "")),
            thinking,
            (ProviderBlock({"thinking": thinking}),) if thinking else (),
            self.name,
            self.name,
        )


def _body(prompt: LlmPrompt, *, is_stream: bool) -> dict[str, JsonValue]:
    """Return the body. The context's length is ours to guess and the user's to set."""
    options: dict[str, JsonValue] = {"num_predict": prompt.max_output_tokens}
    if prompt.temperature is not None:
        options["temperature"] = prompt.temperature
    body: dict[str, JsonValue] = {
        "model": prompt.model,
        "messages": _messages(prompt),
        "stream": is_stream,
        "options": options,
    }
    if prompt.tools:
        body["tools"] = [tool.as_function() for tool in prompt.tool_specs]
    if prompt.response_schema is not None and not prompt.tools:
        body["format"] = dict(prompt.response_schema)
    unknown = [name for name in prompt.extra if name not in _FIELDS]
    if unknown:
        raise UsageError(
            f"Ollama has no field {unknown[0]!r} in its requests, and would ignore it.",
            hint="Put a model's parameters into extra.options.",
        )
    body = merge_extra(body, prompt.extra)
    merged = body["options"]
    if isinstance(merged, Mapping):
        body["options"] = {"num_ctx": _context_needed(prompt), **merged}
    return body


def _messages(prompt: LlmPrompt) -> list[dict[str, JsonValue]]:
    """Return the messages, with one system message in front: some templates allow no other."""
    system, messages = split_system(prompt)
    if prompt.response_schema is not None and prompt.tools:
        schema = json.dumps(prompt.response_schema, ensure_ascii=False)
        system.append(_ASK_FOR_JSON + schema)
    rendered: list[dict[str, JsonValue]] = []
    if system:
        rendered.append({"role": "system", "content": "\n\n".join(system)})
    names = {c.id: c.name for message in messages for c in tool_calls(message)}
    for message in messages:
        rendered += _message(message, names)
    return rendered


def _message(message: Message, names: Mapping[str, str]) -> list[dict[str, JsonValue]]:
    """Return a message as one entry, or several where it has results and text."""
    rendered = [_result(result, names) for result in results_of(message)]
    entry: dict[str, JsonValue] = {
        "role": message.get("role", "user"),
        "content": text_of(message),
        **_thinking(message),
    }
    entry |= _images(part for part in content_parts(message) if isinstance(part, Attachment))
    if calls := tool_calls(message):
        entry["role"] = "assistant"
        entry["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ]
    is_empty = not entry["content"] and entry.keys() <= {"role", "content"}
    return rendered if rendered and is_empty else [*rendered, entry]


def _result(result: ToolResult, names: Mapping[str, str]) -> dict[str, JsonValue]:
    return {
        "role": "tool",
        "tool_name": result.name or names.get(result.call_id, ""),
        "content": result.content,
        **_images(result.attachments),
    }


def _thinking(message: Message) -> dict[str, JsonValue]:
    """Return the thinking, which models that call tools were trained to see again."""
    blocks = provider_blocks(message, OllamaProvider.name)
    texts = [str(block.block["thinking"]) for block in blocks if "thinking" in block.block]
    return {"thinking": "".join(texts)} if texts else {}


def _images(attachments: Iterable[Attachment]) -> dict[str, JsonValue]:
    images: list[JsonValue] = [_image(attachment) for attachment in attachments]
    return {"images": images} if images else {}


def _image(attachment: Attachment) -> str:
    if attachment.kind != "image":
        raise UsageError(
            "Ollama takes no documents, only images.", hint="Put the document's text in a message."
        )
    check_image_type(attachment, "Ollama", _IMAGE_TYPES)
    if not attachment.data:
        raise UsageError(
            "Ollama doesn't fetch images from an address.", hint="Give the image as base64 data."
        )
    return attachment.data


def _read_calls(message: JsonObject, body: JsonObject) -> list[ToolCall]:
    entries = message.get("tool_calls")
    return [
        ToolCall(
            str(entry.get("id") or call_id(body, index)),
            str(entry["function"].get("name", "")),
            read_arguments(entry["function"].get("arguments")),
        )
        for index, entry in enumerate(entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("function"), Mapping)
    ]


def _context_needed(prompt: LlmPrompt) -> int:
    """Return room for prompt and answer, in powers of two: a new length reloads the model."""
    needed = estimate_tokens(prompt.system) + prompt.max_output_tokens
    needed += sum(map(estimate_message_tokens, prompt.messages))
    needed += sum(
        estimate_tokens(f"{tool.name} {tool.description} {tool.input_schema}")
        for tool in prompt.tool_specs
    )
    size = _SMALLEST_CONTEXT
    while size < needed:
        size *= 2
    return min(size, prompt.context_window) if prompt.context_window else size


def _usage(body: JsonObject) -> Usage | None:
    if "prompt_eval_count" not in body and "eval_count" not in body:
        return None
    return Usage(whole_number(body.get("prompt_eval_count")), whole_number(body.get("eval_count")))
