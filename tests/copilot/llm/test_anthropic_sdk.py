"""Anthropic's own client against the fault server, plain and streamed, blocking and not."""

import asyncio

import anthropic
import pytest
from pydantic import BaseModel

from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.messages import ToolCall
from tests.fault_server import (
    LoopbackServer,
    Reply,
    context_overflow,
    cut_body,
    cut_stream,
    overloaded,
    quota_exhausted,
    rate_limit,
    server_error,
    stream_error,
    unauthorized,
)

MODEL = "claude-opus-5"
OLDER = "claude-opus-4-5"
"""A model whose thinking has a budget."""
HELLO = [{"role": "user", "content": "hello"}]
TOOL = {"name": "read_rows", "input_schema": {"type": "object"}}
CALLS = [ToolCall("toolu_1", "read_rows", {"table": "ä"}), ToolCall("toolu_2", "read_rows", {})]
WHOLE = Reply("I look.", CALLS, Usage(100, 7, 40, 20), thinking="hm, which table?")


class Key(BaseModel):
    """An answer."""

    column: str
    rows: int = 0


def request(**options):
    return {"model": MODEL, "max_tokens": 2000, "messages": HELLO, **options}


def client_of(server, **options):
    options = options or {"api_key": server.key}
    http = anthropic.DefaultHttpxClient(verify=False)  # reading certificates is slow
    url = server.base_url("anthropic")
    return anthropic.Anthropic(base_url=url, http_client=http, max_retries=0, timeout=5, **options)


def async_client_of(server):
    http = anthropic.DefaultAsyncHttpxClient(verify=False)
    url = server.base_url("anthropic")
    return anthropic.AsyncAnthropic(
        base_url=url, http_client=http, max_retries=0, timeout=5, api_key=server.key
    )


def ask_sync(server, **options):
    with client_of(server) as client:
        return client.messages.create(**request(**options))


def ask_async(server, **options):
    async def ask():
        async with async_client_of(server) as client:
            return await client.messages.create(**request(**options))

    return asyncio.run(ask())


def stream_sync(server, **options):
    with client_of(server) as client, client.messages.stream(**request(**options)) as stream:
        return "".join(stream.text_stream), stream.get_final_message()


def stream_async(server, **options):
    async def read():
        async with (
            async_client_of(server) as client,
            client.messages.stream(**request(**options)) as stream,
        ):
            text = "".join([part async for part in stream.text_stream])
            return text, await stream.get_final_message()

    return asyncio.run(read())


both = pytest.mark.parametrize("ask", [ask_sync, ask_async])
both_streams = pytest.mark.parametrize("stream", [stream_sync, stream_async])


@both
def test_an_answer_is_read(ask):
    """Thinking, text, calls, the reason to stop and all tokens."""
    with LoopbackServer([WHOLE]) as server:
        message = ask(server, tools=[TOOL])
    thinking, text, *uses = message.content
    assert (thinking.thinking, text.text) == ("hm, which table?", "I look.")
    assert [(use.id, use.name, use.input) for use in uses] == [
        (call.id, call.name, call.arguments) for call in CALLS
    ]
    assert message.stop_reason == "tool_use"
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens) == (40, 7)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (40, 20)


@both_streams
def test_a_stream_is_the_same_answer(stream):
    """The client puts the events together as the server took the message apart."""
    with LoopbackServer([WHOLE, WHOLE]) as server:
        text, message = stream(server, tools=[TOOL])
        whole = ask_sync(server, tools=[TOOL])
    assert text == "I look."
    assert message.to_dict() | {"usage": None} == whole.to_dict() | {"usage": None}
    assert message.usage.output_tokens == 7


@pytest.mark.parametrize(
    "options",
    [
        {"api_key": "k-1"},
        {"auth_token": "k-1"},
        {"api_key": "unused", "default_headers": {"x-api-key": "k-1"}},
    ],
)
def test_both_ways_to_authenticate_are_accepted(options):
    """A bearer token, or x-api-key, which counts where both are sent; another key doesn't."""
    with (
        LoopbackServer([Reply("yes"), Reply()], key="k-1") as server,
        client_of(server, **options) as client,
    ):
        assert client.messages.create(**request()).content[0].text == "yes"
        server.key = "changed"
        with pytest.raises(anthropic.AuthenticationError):
            client.messages.create(**request())


def test_a_structured_answer_is_parsed():
    """The client's own schema is closed enough for the server."""
    with LoopbackServer([Reply('{"column": "id", "rows": 3}')]) as server:
        with client_of(server) as client:
            message = client.messages.parse(**request(), output_format=Key)
        sent = server.requests[0].body["output_config"]["format"]["schema"]
    assert message.parsed_output == Key(column="id", rows=3)
    assert sent["additionalProperties"] is False


@both
def test_a_tool_loop_goes_on_with_its_thinking(ask):
    """And is refused without it."""
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "1, 2"} for call in CALLS]
    thinking = {"type": "enabled", "budget_tokens": 1024}
    options = {"model": OLDER, "tools": [TOOL], "thinking": thinking}
    with LoopbackServer([WHOLE, Reply("id")]) as server:
        answer = ask(server, **options).to_param()
        talk = [*HELLO, answer, {"role": "user", "content": results}]
        assert ask(server, messages=talk, **options).content[0].text == "id"
        without_thinking = {**answer, "content": answer["content"][1:]}
        with pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
            ask(server, messages=[HELLO[0], without_thinking, talk[2]], **options)


@both
@pytest.mark.parametrize(
    ("fault", "error", "status"),
    [
        (rate_limit(), anthropic.RateLimitError, 429),
        (quota_exhausted(), anthropic.types.EnforcedSpendLimitReachedError, 429),
        (server_error(), anthropic.InternalServerError, 500),
        (overloaded(), anthropic.OverloadedError, 529),
        (unauthorized(401), anthropic.AuthenticationError, 401),
        (unauthorized(403), anthropic.PermissionDeniedError, 403),
        (context_overflow(), anthropic.BadRequestError, 400),
    ],
)
def test_each_failure_is_the_clients_own_error(ask, fault, error, status):
    """By status, type and code."""
    with LoopbackServer([fault]) as server, pytest.raises(error) as caught:
        ask(server)
    assert caught.value.status_code == status


@both_streams
def test_a_failure_within_a_stream_is_the_clients_error(stream):
    """The status was 200 by then; a cut connection isn't an API error."""
    with LoopbackServer([stream_error(), cut_stream()]) as server:
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            stream(server)
        with pytest.raises(Exception, match="incomplete chunked read"):
            stream(server)


@both
def test_a_body_that_is_cut_off_is_a_connection_error(ask):
    """The client would retry."""
    with LoopbackServer([cut_body()]) as server, pytest.raises(anthropic.APIConnectionError):
        ask(server)


ROUND = {"type": "tool_use", "id": "t1", "name": "read_rows", "input": {}}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"extra_body": {"temperature": 1.0}}, "temperature: Extra inputs are not permitted"),
        ({"extra_body": {"made_up": 1}}, "made_up: Extra inputs are not permitted"),
        ({"messages": [{"role": "user", "content": 3}]}, "one of messages"),
        ({"messages": []}, "at least one message is required"),
        ({"extra_headers": {"anthropic-version": "2022-01-01"}}, "is not a valid version"),
        (
            {"extra_headers": {"anthropic-version": "2023-06-01"}, "extra_body": {"top_p": 1}},
            "`top_p` is deprecated for this model",
        ),
        (
            {"model": "claude-opus-5-5", "tools": [TOOL], "tool_choice": {"type": "any"}},
            "tool_choice forces tool use is not compatible with this model",
        ),
        (
            {
                "tools": [TOOL],
                "tool_choice": {"type": "any"},
                "thinking": {"type": "enabled", "budget_tokens": 1024},
            },
            "Thinking may not be enabled when tool_choice forces tool use",
        ),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking.type.adaptive"),
        (
            {"model": OLDER, "thinking": {"type": "enabled", "budget_tokens": 9}},
            "greater than or equal to 1024",
        ),
        (
            {"model": OLDER, "thinking": {"type": "enabled", "budget_tokens": 2000}},
            "`max_tokens` must be greater",
        ),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
            "'additionalProperties' must be explicitly set to false",
        ),
        (
            {"messages": [*HELLO, {"role": "assistant", "content": [ROUND]}, *HELLO]},
            "`tool_use` ids were found without `tool_result` blocks",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "t9", "content": "1"}],
                    }
                ]
            },
            "unexpected `tool_use_id` found in `tool_result` blocks: t9",
        ),
        (
            {
                "messages": [
                    *HELLO,
                    {
                        "role": "assistant",
                        "content": [{"type": "thinking", "thinking": "hm", "signature": "forged"}],
                    },
                    *HELLO,
                ]
            },
            "Invalid `signature` in `thinking` block",
        ),
        ({"messages": [{"role": "user", "content": " "}]}, "non-whitespace text"),
        ({"messages": [*HELLO, {"role": "assistant", "content": "So: "}]}, "trailing whitespace"),
        ({"messages": [{"role": "assistant", "content": "I"}]}, 'must use the "user" role'),
        (
            {
                "system": [
                    {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
                    for _ in range(5)
                ]
            },
            "A maximum of 4 blocks with cache_control",
        ),
    ],
)
def test_a_request_that_the_real_server_refuses_is_refused(options, words):
    """With the words that its users quote."""
    with LoopbackServer() as server, pytest.raises(anthropic.BadRequestError, match=words):
        ask_sync(server, **options)


def test_a_token_from_the_environment_is_sent_as_bearer(monkeypatch):
    """Where no key is set, by our own client."""
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "gateway-token-1")
    with LoopbackServer([Reply("yes")], key="gateway-token-1") as server:
        provider = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(provider) as client:
            assert client.complete_sync(LlmPrompt("test-model", HELLO)).text == "yes"
        assert server.requests[0].headers["authorization"] == "Bearer gateway-token-1"
