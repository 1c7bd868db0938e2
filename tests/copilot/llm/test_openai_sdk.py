"""The official OpenAI client against the fault server, over both APIs and both ways to sign in."""

import asyncio
import json

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.streaming import ServerSentEvents
from fluid_build.copilot.messages import ToolCall
from tests.fault_server import (
    Reply,
    context_overflow,
    cut_stream,
    dropped_connection,
    quota_exhausted,
    rate_limit,
    server_error,
    stream_error,
    unauthorized,
)
from tests.fault_server.wire import FORMATS

MODEL = "gpt-6-sol"
MESSAGES = [{"role": "user", "content": "hello"}]
PARAMETERS = {"type": "object", "properties": {"table": {"type": "string"}}}
TOOL = {"type": "function", "name": "look", "parameters": PARAMETERS, "strict": False}
CHAT_TOOL = {"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}
CALL = ToolCall("c1", "look", {"table": "ä"})


class Key(BaseModel):
    key: str


@pytest.fixture
def serve(bench):
    return bench.serve


def connect(server, **options):
    return openai.OpenAI(
        base_url=server.base_url("openai"), api_key=server.key, max_retries=0, **options
    )


def in_loop(server, ask):
    async def run():
        async with openai.AsyncOpenAI(
            base_url=server.base_url("openai"), api_key=server.key, max_retries=0
        ) as client:
            return await ask(client)

    return asyncio.run(run())


def test_a_response_is_created(serve):
    """Text, thinking, calls and usage as the SDK reads them."""
    reply = Reply("I look.", [CALL], Usage(1000, 10, 600, 300), thinking="Hm.")
    with connect(serve(reply)) as client:
        response = client.responses.create(model=MODEL, input="hello", tools=[TOOL], store=False)
    reasoning, message, call = response.output
    assert reasoning.summary[0].text == "Hm."
    assert message.content[0].text == response.output_text == "I look."
    assert (call.call_id, json.loads(call.arguments)) == ("c1", {"table": "ä"})
    assert response.usage.input_tokens_details.cache_write_tokens == 300
    assert (response.status, response.error) == ("completed", None)


def test_a_conversation_goes_on_with_all_that_the_response_had(serve):
    """The SDK's own items go back; without the reasoning the server refuses the call."""
    server = serve(Reply("", [CALL], thinking="Hm."), Reply("Done."), Reply("unreached"))
    result = {"type": "function_call_output", "call_id": "c1", "output": "1"}
    with connect(server) as client:
        first = client.responses.create(model=MODEL, input="hello", tools=[TOOL], store=False)
        items = [item.model_dump(exclude_none=True) for item in first.output]
        second = client.responses.create(model=MODEL, input=[*items, result], tools=[TOOL])
        assert second.output_text == "Done."
        with pytest.raises(openai.BadRequestError, match="required 'reasoning' item"):
            client.responses.create(model=MODEL, input=[*items[1:], result], tools=[TOOL])


def test_a_response_is_parsed(serve):
    """The SDK's strict schema is accepted."""
    with connect(serve(Reply('{"key": "id"}'))) as client:
        response = client.responses.parse(model=MODEL, input="hello", text_format=Key)
    assert response.output_parsed == Key(key="id")


def test_a_response_streams(serve):
    """The SDK's helper puts the same response together."""
    server = serve(Reply("I look.", [CALL], thinking="Hm."))
    with (
        connect(server) as client,
        client.responses.stream(model=MODEL, input="hello", tools=[TOOL]) as stream,
    ):
        events = list(stream)
        response = stream.get_final_response()
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == response.output_text == "I look."
    assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_a_refusal_streams(serve):
    """As a part of its own."""
    server = serve(Reply("I can't.", stop_reason="refused"))
    with connect(server) as client, client.responses.stream(model=MODEL, input="x") as stream:
        deltas = [event.delta for event in stream if event.type == "response.refusal.delta"]
        response = stream.get_final_response()
    assert "".join(deltas) == response.output[0].content[0].refusal == "I can't."


def test_a_completion_is_created(serve):
    """Text, calls and usage as the SDK reads them."""
    reply = Reply("I look.", [CALL], Usage(1000, 10, 600, 300))
    with connect(serve(reply)) as client:
        completion = client.chat.completions.create(
            model="gpt-4.1", messages=MESSAGES, tools=[CHAT_TOOL]
        )
    [choice] = completion.choices
    assert (choice.message.content, choice.finish_reason) == ("I look.", "tool_calls")
    assert json.loads(choice.message.tool_calls[0].function.arguments) == {"table": "ä"}
    assert completion.usage.prompt_tokens_details.cache_write_tokens == 300


def test_a_completion_is_parsed(serve):
    """The SDK's strict schema is accepted."""
    with connect(serve(Reply('{"key": "id"}'))) as client:
        completion = client.chat.completions.parse(
            model=MODEL, messages=MESSAGES, response_format=Key
        )
    assert completion.choices[0].message.parsed == Key(key="id")


def test_a_completion_streams(serve):
    """The SDK's helper puts the same completion together, with the usage at the end."""
    server = serve(Reply("I look.", [CALL]))
    with (
        connect(server) as client,
        client.chat.completions.stream(
            model="gpt-4.1",
            messages=MESSAGES,
            tools=[CHAT_TOOL],
            stream_options={"include_usage": True},
        ) as stream,
    ):
        events = list(stream)
        completion = stream.get_final_completion()
    deltas = [event.delta for event in events if event.type == "content.delta"]
    assert "".join(deltas) == completion.choices[0].message.content == "I look."
    assert completion.choices[0].message.tool_calls[0].id == "c1"
    assert completion.usage.prompt_tokens == 12


def test_the_async_client_does_all_of_it(serve):
    """Both APIs, plain, parsed and streamed."""

    async def ask(client):
        response = await client.responses.create(model=MODEL, input="hello")
        parsed = await client.responses.parse(model=MODEL, input="hello", text_format=Key)
        async with client.responses.stream(model=MODEL, input="hello") as stream:
            streamed = await stream.get_final_response()
        chat = client.chat.completions
        completion = await chat.create(model=MODEL, messages=MESSAGES)
        async with chat.stream(model=MODEL, messages=MESSAGES) as chunks:
            final = await chunks.get_final_completion()
        return (
            response.output_text,
            parsed.output_parsed,
            streamed.output_text,
            completion.choices[0].message.content,
            final.choices[0].message.content,
        )

    server = serve(*map(Reply, ["a", '{"key": "b"}', "c", "d", "e"]))
    assert in_loop(server, ask) == ("a", Key(key="b"), "c", "d", "e")


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_azures_client_signs_in_with_its_own_header(serve, api):
    """The key isn't in a bearer token."""
    server = serve(Reply("hi"))
    with openai.AzureOpenAI(
        base_url=server.base_url("openai"),
        api_key=server.key,
        api_version="preview",
        max_retries=0,
    ) as client:
        if api == "chat":
            completion = client.chat.completions.create(model="m", messages=MESSAGES)
            text = completion.choices[0].message.content
        else:
            text = client.responses.create(model="m", input="hello").output_text
    assert text == "hi"
    assert server.requests[0].headers["api-key"] == server.key


def create(client, api, **options):
    if api == "chat":
        return client.chat.completions.create(model="gpt-4.1", messages=MESSAGES, **options)
    return client.responses.create(model="gpt-4.1", input="hello", **options)


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("fault", "error", "code"),
    [
        (unauthorized(), openai.AuthenticationError, "invalid_api_key"),
        (unauthorized(403), openai.PermissionDeniedError, "invalid_api_key"),
        (rate_limit(1), openai.RateLimitError, "rate_limit_exceeded"),
        (quota_exhausted(), openai.RateLimitError, "insufficient_quota"),
        (context_overflow(), openai.BadRequestError, "context_length_exceeded"),
        (server_error(503), openai.InternalServerError, None),
        (dropped_connection(), openai.APIConnectionError, None),
    ],
)
def test_each_fault_is_the_sdks_own_error(serve, api, fault, error, code):
    """With the code that the real server sends."""
    with connect(serve(fault)) as client, pytest.raises(error) as caught:
        create(client, api)
    assert caught.value.code == code


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_stream_that_breaks_off_is_a_connection_error(serve, api):
    """In both APIs."""
    with connect(serve(cut_stream())) as client, pytest.raises(openai.APIConnectionError):
        list(create(client, api, stream=True))


def test_an_error_within_a_stream_reaches_the_client(serve):
    """As an error in Chat Completions, as an event in Responses."""
    with connect(serve(stream_error(), stream_error())) as client:
        with pytest.raises(openai.APIError, match="overloaded"):
            list(create(client, "chat", stream=True))
        *_, last = create(client, "responses", stream=True)
    assert (last.type, last.code) == ("error", "server_error")


def calls_without_result(api):
    if api == "chat":
        function = {"name": "look", "arguments": "{}"}
        call = {"id": "c1", "type": "function", "function": function}
        return {"messages": [*MESSAGES, {"role": "assistant", "tool_calls": [call]}]}
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    return {"input": [*MESSAGES, call]}


def results_without_call(api):
    if api == "chat":
        return {"messages": [{"role": "tool", "tool_call_id": "c1", "content": "1"}]}
    return {"input": [{"type": "function_call_output", "call_id": "c1", "output": "1"}]}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
OPEN_SCHEMA = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("api", "options", "words"),
    [
        ("chat", {"max_tokens": 10}, "Use 'max_completion_tokens' instead"),
        ("chat", {"temperature": 0.2}, "'temperature' does not support 0.2"),
        ("chat", {"tools": [CHAT_TOOL]}, "use /v1/responses or set reasoning_effort"),
        ("chat", {"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
        ("chat", calls_without_result("chat"), "did not have response messages: c1"),
        ("chat", results_without_call("chat"), "must be a response to a preceeding message"),
        (
            "chat",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "a", "schema": OPEN_SCHEMA, "strict": True},
                }
            },
            "'additionalProperties' is required",
        ),
        ("responses", {"temperature": 0.2}, "'temperature' is not supported"),
        ("responses", {"extra_body": {"max_tokens": 1}}, "Unknown parameter: 'max_tokens'"),
        (
            "responses",
            {"model": "gpt-4.1", "include": ["reasoning.encrypted_content"]},
            "Encrypted content is not supported",
        ),
        ("responses", calls_without_result("responses"), "No tool output found for function call"),
        ("responses", results_without_call("responses"), "No tool call found for function call"),
        ("responses", {"input": [REASONING]}, "without its required following item"),
        (
            "responses",
            {"input": [{"type": "reasoning", "id": "rs_1", "summary": []}, *MESSAGES]},
            "not persisted when `store` is set to false",
        ),
        (
            "responses",
            {
                "text": {
                    "format": {
                        "type": "json_schema",
                        "name": "a",
                        "schema": OPEN_SCHEMA,
                        "strict": True,
                    }
                }
            },
            "'additionalProperties' is required",
        ),
    ],
)
def test_what_the_real_server_refuses_is_refused(serve, api, options, words):
    """In its words."""
    with connect(serve()) as client, pytest.raises(openai.BadRequestError, match=words):
        if api == "chat":
            client.chat.completions.create(**{"model": MODEL, "messages": MESSAGES, **options})
        else:
            client.responses.create(**{"model": MODEL, "input": "hello", **options})


@pytest.mark.parametrize("stop_reason", ["end", "length", "refused"])
@pytest.mark.parametrize(
    ("wire", "whole", "event"),
    [
        ("openai", ChatCompletion, ChatCompletionChunk),
        ("openai-responses", Response, ResponseStreamEvent),
    ],
)
def test_what_the_server_sends_has_the_sdks_types(wire, whole, event, stop_reason):
    """Validated, which the client itself doesn't do: in one piece, and each event of a stream."""
    usage = Usage(1000, 10, 600, 300)
    reply = Reply("I look.", [CALL], usage, thinking="Hm.", stop_reason=stop_reason)
    request = {"stream_options": {"include_usage": True}}
    TypeAdapter(whole).validate_python(FORMATS[wire].reply(reply, request))
    for document in ServerSentEvents().feed(b"".join(FORMATS[wire].stream(reply, request))):
        TypeAdapter(event).validate_python(document)


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses"])
def test_our_requests_pass_the_servers_checks(bench, api):
    """A whole tool loop with thinking and a structured answer."""
    server = bench.serve(Reply("I look.", [CALL], thinking="Hm."), Reply('{"key": "id"}'))
    tools = [{"name": "look", "description": "Looks.", "input_schema": PARAMETERS}]
    model = "gpt-5.2" if api == "openai-chat" else MODEL
    prompt = LlmPrompt(model, MESSAGES, tools=tools, temperature=0.2)
    with bench.client(api, server.base_url("openai")) as client:
        first = client.complete_sync(prompt)
        result = {"role": "tool", "tool_call_id": "c1", "content": "1"}
        schema = Key.model_json_schema()
        talk = [*MESSAGES, first.as_message(), result]
        last = client.complete_sync(LlmPrompt(model, talk, tools=tools, response_schema=schema))
    assert last.as_json() == {"key": "id"}
    assert make_provider(api).name == "openai"
