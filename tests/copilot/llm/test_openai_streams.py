"""Streams of OpenAI's two APIs: the events, and the same answer as in one piece."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import ProviderServerError
from fluid_build.copilot.errors import ProviderError
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.streaming import (
    ServerSentEvents,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import ToolCall
from tests.fault_server import Reply, stream_error
from tests.fault_server.wire import FORMATS

APIS = {"openai-chat": "openai", "openai-responses": "openai-responses"}
both_apis = pytest.mark.parametrize("api", APIS)
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
PROMPT = LlmPrompt("gpt-6-sol", [{"role": "user", "content": "hello"}])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
replies = st.builds(
    Reply,
    text=texts,
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            st.uuids().map(str),
            st.sampled_from(["look", "read"]),
            st.dictionaries(texts, texts | st.integers(), max_size=3),
        ),
        max_size=3,
        unique_by=lambda call: call.id,
    ),
    usage=st.none() | st.builds(Usage, *[st.integers(0, 9)] * 4),
    stop_reason=st.sampled_from(["end", "length", "refused"]),
    thinking=texts,
)


def read(api, *documents, prompt=PROMPT):
    reader = make_provider(api).stream_reader(prompt)
    return reader, [event for document in documents for event in reader.read(document)]


def received(api, reply):
    provider, wire = make_provider(api), FORMATS[APIS[api]]
    body = provider.stream_request(PROMPT).body
    return ServerSentEvents().feed(b"".join(wire.stream(reply, body)))


def joined(events, kind):
    return "".join(event.text for event in events if isinstance(event, kind))


@both_apis
@given(reply=replies)
def test_a_stream_gives_the_same_answer_as_one_piece(api, reply):
    """And its events add up to it."""
    provider = make_provider(api)
    body = FORMATS[APIS[api]].reply(reply, provider.build_request(PROMPT).body)
    whole = provider.parse_response(body, PROMPT)
    reader, events = read(api, *received(api, reply))
    assert reader.is_complete
    assert reader.response() == whole
    assert reader.usage == whole.usage
    assert joined(events, TextEvent) == whole.text
    assert joined(events, ThinkingEvent) == whole.thinking
    assert tuple(e.call for e in events if isinstance(e, ToolCallEvent)) == whole.tool_calls
    assert [e.usage for e in events if isinstance(e, UsageEvent)] == [whole.usage] * bool(
        whole.usage
    )


@both_apis
def test_a_stream_that_ends_early_is_not_complete(api):
    """Whatever was received before."""
    documents = received(api, Reply("half of it"))
    reader, events = read(api, *documents[:-2])
    assert events
    assert not reader.is_complete


def test_an_error_within_responses_is_raised():
    """An event of its own, flat or nested, or a response that failed."""
    chunk = FORMATS["openai-responses"].stream_failure(stream_error())
    error = {"code": "server_error", "message": "It broke."}
    for document in (
        *ServerSentEvents().feed(chunk),
        {"type": "error", "error": error},
        {"type": "response.failed", "response": {"status": "failed", "error": error}},
    ):
        with pytest.raises(ProviderServerError):
            read("openai-responses", document)
    with pytest.raises(ProviderError):
        read("openai-responses", {"type": "error"})


def chunk(finish_reason=None, **delta):
    return {"id": "x", "choices": [{"delta": delta, "finish_reason": finish_reason}]}


def call_part(arguments="", **fields):
    function = {"arguments": arguments, **({"name": "look"} if "id" in fields else {})}
    return {**fields, "function": function}


@pytest.mark.parametrize("has_index", [True, False])
def test_calls_arrive_in_parts(has_index):
    """Mixed with others by their indexes, or one after the other where a server sends none."""
    first, second = ({"index": 0}, {"index": 1}) if has_index else ({}, {})
    parts = [
        call_part(id="c1", **first),
        call_part('{"a"', **first),
        call_part(": 1}", **first),
        call_part('{"a": 2}', id="c2", **second),
    ]
    reader, events = read(
        "openai-chat", *(chunk(tool_calls=[part]) for part in parts), chunk("tool_calls")
    )
    calls = (ToolCall("c1", "look", {"a": 1}), ToolCall("c2", "look", {"a": 2}))
    assert reader.response().tool_calls == calls
    assert events == [ToolCallEvent(call) for call in calls]


def test_a_call_without_an_id_gets_the_same_one_in_event_and_answer():
    """Some compatible servers send none; the usage comes after the event."""
    usage = {"id": "x", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    part = {"index": 0, "function": {"name": "look", "arguments": "{}"}}
    reader, events = read("openai-chat", chunk(tool_calls=[part]), chunk("stop"), usage)
    assert events[0].call == reader.response().tool_calls[0]
    assert events[0].call.id


def test_reasoning_details_are_put_together():
    """The pieces of an entry have its index; what comes later is added to it."""
    start = {"type": "reasoning.text", "index": 0}
    parts = [
        {**start, "text": "Hm"},
        {**start, "text": ".", "signature": None},
        {**start, "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x"},
    ]
    chunks = [chunk(reasoning_details=[part], reasoning=part.get("text")) for part in parts]
    reader, events = read("openrouter", *chunks, chunk("stop", content="4"))
    answer = reader.response()
    assert joined(events, ThinkingEvent) == answer.thinking == "Hm."
    assert answer.provider_blocks[0].block["reasoning_details"] == [
        {**start, "text": "Hm.", "signature": "s"},
        parts[3],
    ]


def test_the_parts_of_the_thinking_are_separated():
    """In the events as in the answer."""
    item = {
        "type": "reasoning",
        "summary": [{"text": "One."}, {"text": "Two."}],
        "content": [{"text": "Three."}],
    }
    start = {"output_index": 0, "delta": "Tw", "summary_index": 1}
    kind = "response.reasoning_summary_text.delta"
    reader, events = read(
        "openai-responses",
        {"type": kind, "output_index": 0, "delta": "One.", "summary_index": 0},
        {"type": kind, **start},
        {"type": kind, **start, "delta": "o."},
        {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "Three."},
        {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
    )
    assert joined(events, ThinkingEvent) == reader.response().thinking == "One.\n\nTwo.\n\nThree."


def test_a_stream_whose_end_has_no_items_has_those_it_sent():
    """Some servers leave them out of the last event."""
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    reader, _ = read(
        "openai-responses",
        {"type": "response.output_item.done", "item": call},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    )
    assert reader.response().tool_calls == (ToolCall("c1", "look"),)


def test_the_commentary_of_a_structured_answer_streams_as_thinking():
    """As it is read in one piece."""
    parts = [{"type": "output_text", "text": "I look."}]
    message = {"type": "message", "phase": "commentary", "content": parts}
    prompt = LlmPrompt("gpt-6-sol", PROMPT.messages, response_schema=SCHEMA)
    reader, events = read(
        "openai-responses",
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "I look."},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "{}"},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": [message, {"type": "message", "content": [{"text": "{}"}]}],
            },
        },
        prompt=prompt,
    )
    assert events == [ThinkingEvent("I look."), TextEvent("{}")]
    assert (reader.response().text, reader.response().thinking) == ("{}", "I look.")


json_values = st.recursive(
    st.none() | st.integers() | st.sampled_from(["a", "c1", "stop", "message", "function_call"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["delta", "content", "tool_calls", "function", "arguments", "name", "id", "index",
             "finish_reason", "reasoning_details", "type", "text", "output", "error", "usage"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=15,
)  # fmt: skip


@both_apis
@given(
    documents=st.lists(
        st.dictionaries(
            st.sampled_from(["choices", "usage", "id", "model", "item", "response", "delta"]),
            json_values,
        ),
        max_size=4,
    ),
    kind=st.sampled_from(["response.completed", "response.output_item.done", "x"]),
)
def test_any_documents_are_read_or_refused_with_a_typed_error(api, documents, kind):
    """A stranger's stream never breaks the reader in another way."""
    try:
        reader, _ = read(api, *({"type": kind, **document} for document in documents))
        if reader.is_complete:
            json.dumps(reader.response().as_message())
    except ProviderError:
        return
