"""The check of requests against the SDKs' types: what fits passes, and nothing else does."""

import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from ollama._types import ChatRequest, Tool
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

from tests.copilot.llm.sdk_types import check_request

MESSAGES = {
    "model": "claude-opus-5",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be exact.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"any": [1]}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "x"}],
                }
            ],
        },
    ],
    "tools": [{"name": "look", "input_schema": {"type": "object", "additionalProperties": False}}],
    "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
}
CHAT = {
    "model": "gpt-5",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"a": {}}}}],
}
RESPONSES = {
    "model": "gpt-5",
    "input": [
        {"role": "user", "content": "hello"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
    ],
    "text": {"format": {"type": "json_schema", "name": "a", "schema": {}, "strict": True}},
}
OLLAMA = {
    "model": "llama3.2",
    "stream": False,
    "messages": [{"role": "user", "content": "hello"}],
    "format": {"type": "object"},
    "options": {"num_ctx": 2048},
    "tools": [{"type": "function", "function": {"name": "look", "description": "Looks."}}],
}
REQUESTS = [
    (MESSAGES, MessageCreateParamsNonStreaming),
    (CHAT, CompletionCreateParamsNonStreaming),
    (RESPONSES, ResponseCreateParamsNonStreaming),
    (OLLAMA, ChatRequest),
]


@pytest.mark.parametrize(("body", "sdk_type"), REQUESTS)
def test_a_request_of_the_sdks_type_passes(body, sdk_type):
    """Nested unions and lists included."""
    check_request(body, sdk_type)


@pytest.mark.parametrize(("body", "sdk_type"), REQUESTS)
def test_an_unknown_key_is_refused(body, sdk_type):
    """With its name."""
    with pytest.raises(AssertionError, match=r"body\.modle isn't a key of"):
        check_request({**body, "modle": "x"}, sdk_type)


@pytest.mark.parametrize(
    ("sdk_type", "body", "place"),
    [
        (
            MessageCreateParamsNonStreaming,
            {
                **MESSAGES,
                "messages": [{"role": "user", "content": [{"type": "text", "text": "a", "b": 1}]}],
            },
            r"messages\[0\]\.content\[0\]\.b isn't a key of TextBlock",
        ),
        (
            MessageCreateParamsNonStreaming,
            {**MESSAGES, "output_config": {"format": {"type": "json_schema", "schemas": {}}}},
            r"output_config\.format\.schemas isn't a key",
        ),
        (
            CompletionCreateParamsNonStreaming,
            {**CHAT, "tools": [{"type": "function", "function": {"name": "a", "schema": {}}}]},
            r"tools\[0\]\.function\.schema isn't a key",
        ),
        (
            ResponseCreateParamsNonStreaming,
            {**RESPONSES, "reasoning": {"effort": "low", "budget": 1}},
            r"reasoning\.budget isn't a key",
        ),
        (ChatRequest, {**OLLAMA, "options": {"num_context": 1}}, r"options\.num_context"),
    ],
)
def test_an_unknown_key_is_refused_where_it_is_nested(sdk_type, body, place):
    """With its path, in the branch of the union that was meant."""
    with pytest.raises(AssertionError, match=place):
        check_request(body, sdk_type)


def test_a_missing_key_is_refused():
    """TypedDicts whose annotations are strings don't see their own ``Required``."""
    body = {key: value for key, value in MESSAGES.items() if key != "max_tokens"}
    with pytest.raises(AssertionError, match=r"body\.max_tokens is missing"):
        check_request(body, MessageCreateParamsNonStreaming)


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": "100"}, {"max_tokens": True}, {"messages": {}}, {"system": 3}]
)
def test_a_value_of_another_type_is_refused(wrong):
    """Nothing is converted."""
    with pytest.raises(AssertionError, match=next(iter(wrong))):
        check_request({**MESSAGES, **wrong}, MessageCreateParamsNonStreaming)


def test_an_open_type_may_have_further_keys():
    """Ollama's type of a JSON schema has few of its keywords."""
    parameters = {"type": "object", "additionalProperties": False}
    body = {**OLLAMA, "tools": [{"function": {"name": "look", "parameters": parameters}}]}
    with pytest.raises(AssertionError, match="additionalProperties"):
        check_request(body, ChatRequest)
    check_request(body, ChatRequest, open_types=(Tool.Function.Parameters,))


def test_a_model_with_aliases_has_their_names():
    """As google-genai writes them on the wire."""
    types = pytest.importorskip("google.genai.types")
    content = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
    check_request(content, types.Content)
    with pytest.raises(AssertionError, match=r"parts\[0\]\.function_call isn't a key"):
        check_request({"parts": [{"function_call": {"name": "look"}}]}, types.Content)
    with pytest.raises(AssertionError, match=r"mode isn't one of"):
        check_request({"mode": "SOMETIMES"}, types.FunctionCallingConfig)
