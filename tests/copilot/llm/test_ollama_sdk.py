"""Ollama's own client against the fault server, plain and streamed, blocking and not."""

import asyncio

import httpx
import ollama
import pytest

from fluid_build.copilot.llm.base import Usage
from fluid_build.copilot.messages import ToolCall
from tests.fault_server import (
    LoopbackServer,
    Reply,
    context_overflow,
    overloaded,
    rate_limit,
    server_error,
    stream_error,
)

ASK = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "read_rows", "description": "Reads."}}
CALL = ToolCall("c1", "read_rows", {"table": "ä"})


@pytest.fixture(autouse=True)
def _no_proxy_to_the_loopback(monkeypatch):
    """The client reads the environment's proxies."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def ask_sync(server, **options):
    with ollama.Client(server.base_url("ollama"), timeout=5) as client:
        return client.chat(**{"model": "llama3.2", "messages": ASK, **options})


def ask_async(server, **options):
    async def ask():
        async with ollama.AsyncClient(server.base_url("ollama"), timeout=5) as client:
            return await client.chat(**{"model": "llama3.2", "messages": ASK, **options})

    return asyncio.run(ask())


def stream_sync(server):
    with ollama.Client(server.base_url("ollama"), timeout=5) as client:
        return list(client.chat(model="llama3.2", messages=ASK, stream=True))


def stream_async(server):
    async def read():
        async with ollama.AsyncClient(server.base_url("ollama"), timeout=5) as client:
            stream = await client.chat(model="llama3.2", messages=ASK, stream=True)
            return [part async for part in stream]

    return asyncio.run(read())


both = pytest.mark.parametrize("ask", [ask_sync, ask_async])
both_streams = pytest.mark.parametrize("stream", [stream_sync, stream_async])


@both
def test_an_answer_is_read(ask):
    """Text, thinking, calls, the reason to stop and both counts of tokens."""
    reply = Reply("4", [CALL], Usage(12, 3), thinking="2 + 2", stop_reason="length")
    with LoopbackServer([reply]) as server:
        response = ask(server, tools=[TOOL], think=True, options={"num_ctx": 8192})
    assert (response.message.content, response.message.thinking) == ("4", "2 + 2")
    function = response.message.tool_calls[0].function
    assert (function.name, function.arguments) == ("read_rows", {"table": "ä"})
    assert (response.done, response.done_reason) == (True, "length")
    assert (response.prompt_eval_count, response.eval_count) == (12, 3)


@both
def test_a_call_and_its_result_make_the_round(ask):
    """The client's own message goes back as it is."""
    with LoopbackServer([Reply("", [CALL], thinking="hm"), Reply("done")]) as server:
        first = ask(server, tools=[TOOL])
        result = {"role": "tool", "tool_name": "read_rows", "content": "1"}
        assert ask(server, messages=[*ASK, first.message, result]).message.content == "done"


@both
def test_a_structured_answer_is_read(ask):
    """The schema is the format."""
    with LoopbackServer([Reply('{"key": "id"}')]) as server:
        response = ask(server, format={"type": "object"})
    assert response.message.content == '{"key": "id"}'


@both_streams
def test_a_stream_is_read(stream):
    """Text and thinking in pieces, whole calls, and the tokens at the end."""
    with LoopbackServer([Reply("many words", [CALL], Usage(9, 2), thinking="hm")]) as server:
        parts = stream(server)
    assert "".join(part.message.content for part in parts) == "many words"
    assert "".join(part.message.thinking or "" for part in parts) == "hm"
    assert [c.function.name for part in parts for c in part.message.tool_calls or ()] == [
        "read_rows"
    ]
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].eval_count == 2


@both
@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (rate_limit(), 429, "too many requests"),
        (context_overflow(), 400, "longer than the context length"),
        (server_error(500), 500, "terminated"),
        (overloaded(), 529, "server busy"),
    ],
)
def test_a_failure_is_the_clients_own_error(ask, fault, status, words):
    """In the server's words."""
    with LoopbackServer([fault]) as server, pytest.raises(ollama.ResponseError, match=words) as err:
        ask(server)
    assert err.value.status_code == status


@both_streams
def test_a_failure_within_a_stream_is_the_clients_own_error(stream):
    """It is the last line."""
    with LoopbackServer([stream_error()]) as server, pytest.raises(ollama.ResponseError):
        stream(server)


@both
def test_a_model_that_was_not_pulled_is_not_found(ask):
    """In the server's words."""
    with LoopbackServer() as server, pytest.raises(ollama.ResponseError, match="not found") as err:
        ask(server, model="missing-model")
    assert err.value.status_code == 404


@pytest.mark.parametrize("is_right", [True, False])
def test_a_key_is_checked_where_one_is_sent(monkeypatch, is_right):
    """The client sends OLLAMA_API_KEY as a bearer token; a server at home needs none."""
    with LoopbackServer() as server:
        monkeypatch.setenv("OLLAMA_API_KEY", server.key if is_right else "wrong")
        if is_right:
            assert ask_sync(server).message.content == "ok"
        else:
            with pytest.raises(ollama.ResponseError, match="unauthorized"):
                ask_sync(server)


@pytest.mark.parametrize(
    ("messages", "options", "words"),
    [
        (ASK, {"format": "xml"}, "invalid format"),
        ([{"role": "robot", "content": "a"}], {}, "invalid role"),
        ([{"role": "user", "content": [{"text": "a"}]}], {}, "content of type string"),
    ],
)
def test_a_request_that_the_server_cannot_decode_is_refused(messages, options, words):
    """In its words."""
    body = {"model": "m", "messages": messages, "stream": False, **options}
    with LoopbackServer() as server:
        response = httpx.post(f"{server.base_url('ollama')}/api/chat", json=body)
    assert response.status_code == 400
    assert words in response.json()["error"]
