"""Streams of a hostile server: every reader reads them, or refuses them with a typed error."""

import contextlib
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.gemini import GeminiProvider
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.streaming import TextEvent
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.untrusted_json import read_json
from tests.fault_server import LoopbackServer, Reply

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOL = {"name": "t", "description": "", "input_schema": {"type": "object"}}

MODELS = {
    "anthropic": "claude-opus-4-6",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5",
    "gemini": "gemini-3-pro",
    "ollama": "llama3",
}
STREAMS = {
    "anthropic": [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "citations_delta", "citation": {"a": 1}},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "q", "name": "t", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"a": 3}},
        {"type": "message_stop"},
    ],
    "openai-chat": [
        {
            "id": "x",
            "choices": [
                {
                    "delta": {
                        "content": "a",
                        "reasoning": "z",
                        "reasoning_details": [{"index": 0, "type": "t", "text": "a"}],
                        "tool_calls": [
                            {"index": 0, "id": "a", "function": {"name": "t", "arguments": "{"}}
                        ],
                    }
                }
            ],
        },
        {
            "choices": [
                {
                    "delta": {
                        "reasoning_details": [{"index": 0, "type": "t", "text": "a"}],
                        "tool_calls": [{"index": 0, "function": {"arguments": "}"}}],
                    }
                }
            ]
        },
        {"choices": [{"finish_reason": "stop", "delta": {}}]},
        {"choices": [], "usage": {"prompt_tokens": 1}},
    ],
    "openai-responses": [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "message", "phase": "commentary"},
        },
        {"type": "response.output_text.delta", "output_index": 0, "delta": "x"},
        {"type": "response.reasoning_text.delta", "output_index": 1, "delta": "x"},
        {
            "type": "response.output_item.done",
            "item": {"type": "function_call", "name": "t", "arguments": "{}"},
        },
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": [], "usage": {"input_tokens": 1}},
        },
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "y", "thought": True, "thoughtSignature": "s"},
                            {"functionCall": {"name": "t", "args": {}}},
                        ]
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 1},
        },
    ],
    "ollama": [
        {"message": {"role": "assistant", "content": "x", "thinking": "t"}},
        {"message": {"tool_calls": [{"function": {"name": "t", "arguments": {}}}]}},
        {"done": True, "eval_count": 3},
    ],
}
"""A good stream of each format."""


def deepest():
    """Return a list in a list in a list, as deep as the decoder of documents allows."""
    value: list = []
    with contextlib.suppress(ValueError):
        for depth in range(10, 1000):
            value = read_json("[" * depth + "]" * depth)
    return value


HOSTILE = [
    None, True, 0, -1, 10**30, 1e308, float("inf"), float("nan"), "", "x", "\ud800", "[" * 100_000,
    [], {}, [1], {"a": 1}, [None], [{}], [[]],
]  # fmt: skip

streams = pytest.mark.parametrize("name", STREAMS)


def places(value, path=()):
    """Return the paths of all values within ``value``."""
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def replaced(stream, path, value):
    """Return a stream with another value at ``path``."""
    stream = copy.deepcopy(stream)
    holder = stream
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return stream


def read(name, documents, *, is_structured=True):
    """Read the documents, and what they add up to."""
    schema = SCHEMA if is_structured else None
    prompt = LlmPrompt(MODELS[name], [], tools=[TOOL], response_schema=schema, schema_name="A")
    reader = make_provider(name).stream_reader(prompt)
    try:
        for document in documents:
            reader.read(document)
        if reader.is_complete:
            reader.response().as_message()
    except AgentExecutionError:
        return


@streams
@pytest.mark.parametrize("is_structured", [True, False])
def test_a_value_of_a_wrong_type_is_read_or_refused(name, is_structured):
    """At any place of a good stream, each of the values that a decoder may return."""
    for path in places(STREAMS[name]):
        if len(path) > 1:
            for value in [*HOSTILE, deepest()]:
                documents = replaced(STREAMS[name], path, value)
                read(name, documents, is_structured=is_structured)


@streams
@given(order=st.lists(st.integers(0, 9), max_size=12))
def test_documents_in_any_order_are_read_or_refused(name, order):
    """Also those that come twice, or never."""
    documents = STREAMS[name]
    read(name, [copy.deepcopy(documents[number % len(documents)]) for number in order])


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses", "gemini", "ollama"])
@pytest.mark.parametrize("is_stream", [False, True])
def test_arguments_nested_without_end_are_refused_or_sent_back(wire, is_stream):
    """They can't break the request after them, which is redacted and written."""
    model = MODELS.get(wire, "gpt-4.1")
    call = ToolCall("c1", "t", {"a": json.loads("[" * 700 + "]" * 700)})
    question = {"role": "user", "content": "Go."}
    script = [Reply("", [call])] * 3 + [Reply("Done.")]
    with LoopbackServer(script) as server:
        provider = make_provider(wire, server.base_url(wire))
        with LlmClient(provider, api_key=server.key, sleep_sync=lambda _: None) as client:
            try:
                if is_stream:
                    with client.stream_sync(LlmPrompt(model, [question])) as stream:
                        list(stream)
                    answer = stream.response
                else:
                    answer = client.complete_sync(LlmPrompt(model, [question]))
            except AgentExecutionError:
                return
            [refused] = answer.tool_calls
            assert refused.arguments.keys() == {"_raw"}
            result = {"role": "tool", "tool_call_id": refused.id, "content": "wrong"}
            talk = [question, answer.as_message(), result]
            client.complete_sync(LlmPrompt(model, talk))


def test_gemini_s_null_text_is_no_text():
    """A part may have the field without a value."""
    reader = GeminiProvider().stream_reader(LlmPrompt("gemini-3-pro", []))
    part = {"candidates": [{"content": {"parts": [{"text": None}]}, "finishReason": "STOP"}]}
    assert [event for event in reader.read(part) if isinstance(event, TextEvent)] == []
    assert reader.response().text == ""
