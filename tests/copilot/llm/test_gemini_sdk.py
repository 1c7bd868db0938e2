"""Google's own client against the fault server, plain and streamed, blocking and not."""

import asyncio

import httpx
import pytest
from google import genai
from google.genai import errors, types

from fluid_build.copilot.llm.base import Usage
from fluid_build.copilot.messages import ToolCall
from tests.fault_server import (
    LoopbackServer,
    Reply,
    context_overflow,
    overloaded,
    quota_exhausted,
    rate_limit,
    server_error,
    stream_error,
)

MODEL = "gemini-3-pro-preview"
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}}
TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="read_rows", parameters_json_schema=SCHEMA)
        ]
    )
]
CALL = ToolCall("f1", "read_rows", {"key": "ä"})


def client_of(server, key=None):
    options = types.HttpOptions(base_url=server.base_url("gemini"), timeout=5000)
    return genai.Client(api_key=key or server.key, http_options=options)


def ask_sync(server, contents="hello", model=MODEL, **config):
    with client_of(server) as client:
        return client.models.generate_content(model=model, contents=contents, config=config or None)


def ask_async(server, contents="hello", model=MODEL, **config):
    async def ask():
        async with client_of(server).aio as client:
            return await client.models.generate_content(
                model=model, contents=contents, config=config or None
            )

    return asyncio.run(ask())


def stream_sync(server):
    with client_of(server) as client:
        return list(client.models.generate_content_stream(model=MODEL, contents="hello"))


def stream_async(server):
    async def read():
        async with client_of(server).aio as client:
            stream = await client.models.generate_content_stream(model=MODEL, contents="hello")
            return [chunk async for chunk in stream]

    return asyncio.run(read())


both = pytest.mark.parametrize("ask", [ask_sync, ask_async])
both_streams = pytest.mark.parametrize("stream", [stream_sync, stream_async])


@both
@pytest.mark.parametrize("model", [MODEL, f"models/{MODEL}"])
def test_an_answer_is_read(ask, model):
    """Text, thoughts, the reason to stop and all tokens."""
    with LoopbackServer([Reply("4", thinking="2 + 2", usage=Usage(12, 3, 5))]) as server:
        response = ask(server, model=model)
        assert server.requests[0].path == f"/v1/models/{MODEL}:generateContent"
    assert response.text == "4"
    assert response.candidates[0].content.parts[0].thought
    assert response.candidates[0].finish_reason == types.FinishReason.STOP
    usage = response.usage_metadata
    counts = (
        usage.prompt_token_count,
        usage.cached_content_token_count,
        usage.candidates_token_count,
    )
    assert counts == (12, 5, 3)


def test_the_client_for_vertex_ai_is_answered_too():
    """It has another path, and settings that the Gemini API doesn't know."""
    with LoopbackServer() as server:
        options = types.HttpOptions(base_url=server.base_url("gemini"), timeout=5000)
        with genai.Client(vertexai=True, api_key=server.key, http_options=options) as client:
            config = {"audio_timestamp": True, "labels": {"job": "a"}}
            response = client.models.generate_content(model=MODEL, contents="hello", config=config)
        assert response.text == "ok"
        assert "/publishers/google/models/" in server.requests[0].path


@both
def test_a_call_and_its_result_make_the_round(ask):
    """The client sends the call back with its id and its signature, which the server checks."""
    with LoopbackServer([Reply("", [CALL]), Reply("done")]) as server:
        first = ask(server, tools=TOOLS)
        call = first.function_calls[0]
        assert (call.id, call.name, call.args) == ("f1", "read_rows", {"key": "ä"})
        result = types.Part.from_function_response(name=call.name, response={"output": "1"})
        result.function_response.id = call.id
        question = types.Content(role="user", parts=[types.Part(text="hello")])
        talk = [
            question,
            first.candidates[0].content,
            types.Content(role="user", parts=[result]),
        ]
        assert ask(server, talk, tools=TOOLS).text == "done"
        sent = server.requests[1].body["contents"][1]["parts"][0]
    assert sent["functionCall"]["id"] == "f1"
    assert sent["thoughtSignature"]


@both
def test_a_structured_answer_is_read(ask):
    """By its JSON schema, for Gemini 3 with tools too."""
    config = {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
    with LoopbackServer([Reply('{"key": "id"}'), Reply('{"key": "id"}')]) as server:
        assert ask(server, **config).parsed == {"key": "id"}
        assert ask(server, tools=TOOLS, **config).parsed == {"key": "id"}


@both_streams
def test_a_stream_is_read(stream):
    """Text and thoughts in pieces, whole calls, and the tokens at the end."""
    with LoopbackServer([Reply("many words", [CALL], thinking="hm", usage=Usage(9, 2))]) as server:
        chunks = stream(server)
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
    assert "".join(p.text for p in parts if p.text and not p.thought) == "many words"
    assert "".join(p.text for p in parts if p.thought) == "hm"
    assert [p.function_call.name for p in parts if p.function_call] == ["read_rows"]
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert chunks[-1].usage_metadata.candidates_token_count == 2


@both
@pytest.mark.parametrize(
    ("fault", "kind", "code", "status"),
    [
        (rate_limit(), errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        (quota_exhausted(), errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        (context_overflow(), errors.ClientError, 400, "INVALID_ARGUMENT"),
        (server_error(500), errors.ServerError, 500, "INTERNAL"),
        (server_error(503), errors.ServerError, 503, "UNAVAILABLE"),
        (overloaded(), errors.ServerError, 529, "UNAVAILABLE"),
    ],
)
def test_a_failure_is_the_clients_own_error(ask, fault, kind, code, status):
    """With Google's status."""
    with LoopbackServer([fault]) as server, pytest.raises(kind) as caught:
        ask(server)
    assert (caught.value.code, caught.value.status) == (code, status)


@both_streams
def test_a_failure_within_a_stream_is_the_clients_own_error(stream):
    """Google reports it as an event."""
    with LoopbackServer([stream_error()]) as server, pytest.raises(errors.ServerError):
        stream(server)


def test_a_wrong_key_is_refused():
    """In Google's words."""
    with (
        LoopbackServer() as server,
        client_of(server, key="wrong") as client,
        pytest.raises(errors.ClientError) as caught,
    ):
        client.models.generate_content(model=MODEL, contents="hello")
    assert caught.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"


@pytest.mark.parametrize("where", ["header", "address", "token"])
def test_a_key_may_be_sent_in_each_of_googles_ways(where):
    """Its header, its query parameter, and the bearer token of Vertex AI."""
    body = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    with LoopbackServer() as server:
        headers = {
            "header": {"x-goog-api-key": server.key},
            "token": {"authorization": f"Bearer {server.key}"},
        }.get(where, {})
        query = {"key": server.key} if where == "address" else {}
        url = f"{server.base_url('gemini')}/v1beta/models/m:generateContent"
        assert httpx.post(url, json=body, headers=headers, params=query).status_code == 200


def call(**options):
    return {"functionCall": {"name": "f", "args": {}}, **options}


RESULT = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
QUESTION = {"role": "user", "parts": [{"text": "a"}]}
ANSWER = {"role": "model", "parts": [{"text": "b"}]}
DECLARED = [{"functionDeclarations": [{"name": "f"}]}]
JSON = {"responseMimeType": "application/json"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"contents": []}, "contents is not specified"),
        ({"contents": [QUESTION], "stream": True}, 'Unknown name "stream"'),
        ({"contents": [QUESTION], "generationConfig": {"maxTokens": 1}}, 'Unknown name "maxTok'),
        ({"contents": [{"role": "user", "parts": [{"txt": "a"}]}]}, 'Unknown name "txt"'),
        ({"contents": [{"role": "assistant", "parts": [{"text": "a"}]}]}, "valid role"),
        ({"contents": [{"role": "user", "parts": []}]}, "must not be empty"),
        ({"contents": [QUESTION, {"role": "model", "parts": [call()]}]}, "followed by a function"),
        ({"contents": [QUESTION, RESULT]}, "number of function response parts"),
        (
            {"contents": [QUESTION, ANSWER, {"role": "model", "parts": [call()]}, RESULT]},
            "immediately after a user turn",
        ),
        (
            {"contents": [QUESTION, {"role": "model", "parts": [call()]}, RESULT]},
            "missing a thought_signature",
        ),
        (
            {"contents": [QUESTION], "generationConfig": {"responseJsonSchema": {}}},
            "response mime type",
        ),
        (
            {"contents": [QUESTION], "tools": [{"functionDeclarations": [{"name": "1 f"}]}]},
            "Invalid function name",
        ),
    ],
)
def test_a_request_that_google_refuses_is_refused(body, words):
    """In its words, with its status."""
    status, error = refusal(body, MODEL)
    assert (status, error["status"]) == (400, "INVALID_ARGUMENT")
    assert words in error["message"]


def test_models_before_gemini_3_refuse_tools_with_a_schema_and_need_no_signature():
    """As they do."""
    both_kinds = {"contents": [QUESTION], "tools": DECLARED, "generationConfig": JSON}
    assert "is unsupported" in refusal(both_kinds, "gemini-2.5-pro")[1]["message"]
    assert refusal(both_kinds, MODEL)[0] == 200
    unsigned = {"contents": [QUESTION, {"role": "model", "parts": [call()]}, RESULT]}
    assert refusal(unsigned, "gemini-2.5-pro")[0] == 200


def test_newer_models_refuse_a_conversation_that_ends_with_an_answer():
    """As they do since 3.2."""
    open_answer = {"contents": [QUESTION, ANSWER]}
    assert refusal(open_answer, MODEL)[0] == 200
    words = refusal(open_answer, "gemini-3.8-flash")[1]["message"]
    assert "ending with a model turn" in words


def refusal(body, model):
    with LoopbackServer() as server:
        url = f"{server.base_url('gemini')}/v1beta/models/{model}:generateContent"
        response = httpx.post(url, json=body, headers={"x-goog-api-key": server.key})
    return response.status_code, response.json().get("error")
