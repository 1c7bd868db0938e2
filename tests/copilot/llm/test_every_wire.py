"""Each wire format end to end: the client over real sockets against the fault server.

The server is as strict as the provider, so a request that it answers is one that the provider
takes. What only one format does is tested next to its provider.
"""

import asyncio
import json

import pytest
from pydantic import BaseModel

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import (
    AnswerCutOffError,
    AnswerRefusedError,
    ContextOverflowError,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    RateLimitError,
)
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.anthropic import AnthropicProvider
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.gemini import GeminiProvider
from fluid_build.copilot.llm.ollama import OllamaProvider
from fluid_build.copilot.llm.openai import OpenAIProvider
from fluid_build.copilot.llm.openai.responses import OpenAIResponsesProvider
from fluid_build.copilot.llm.providers import VllmProvider
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from tests.fault_server import (
    LoopbackServer,
    Reply,
    context_overflow,
    invalid_request,
    overloaded,
    quota_exhausted,
    rate_limit,
    server_error,
    stream_error,
    unauthorized,
    unfinished_stream,
)

WIRES = {
    "anthropic": (AnthropicProvider, "claude-opus-5"),
    "openai": (OpenAIProvider, "gpt-4.1"),
    "openai-responses": (OpenAIResponsesProvider, "gpt-5.2"),
    "gemini": (GeminiProvider, "gemini-3-pro-preview"),
    "gemini-2": (GeminiProvider, "gemini-2.5-pro"),
    "ollama": (OllamaProvider, "llama3.2"),
}
every_wire = pytest.mark.parametrize("wire", WIRES)

ASK = [{"role": "user", "content": "Find the key."}]
TOOL = {
    "name": "read_rows",
    "description": "Reads rows.",
    "input_schema": {
        "type": "object",
        "properties": {"table": {"type": "string"}},
        "required": ["table"],
        "additionalProperties": False,
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "note": {"type": "string"}},
    "required": ["key"],
}
CALLS = [
    ToolCall("c1", "read_rows", {"table": "ä"}),
    ToolCall("c2", "read_rows", {"table": "b"}),
]
IMAGE = {"type": "image", "media_type": "image/png", "data": "aGk="}
DOCUMENT = {"type": "document", "media_type": "application/pdf", "data": "aGk=", "name": "a.pdf"}


def client_of(server, wire, tracker=None):
    provider_class, _ = WIRES[wire]
    name = provider_class.name
    return LlmClient(
        provider_class(server.base_url(name)),
        api_key=server.key,
        timeout=10.0,
        tracker=tracker or RunCostTracker(bus=EventBus()),
        sleep=no_sleep,
        sleep_sync=lambda _seconds: None,
        draw=lambda: 0.0,
    )


async def no_sleep(_seconds):
    pass


def prompt_of(wire, messages=ASK, **options):
    return LlmPrompt(WIRES[wire][1], messages, **options)


def ask_sync(server, wire, messages=ASK, tracker=None, **options):
    with client_of(server, wire, tracker) as client:
        return client.complete_sync(prompt_of(wire, messages, **options))


def ask_async(server, wire, messages=ASK, tracker=None, **options):
    async def ask():
        async with client_of(server, wire, tracker) as client:
            return await client.complete(prompt_of(wire, messages, **options))

    return asyncio.run(ask())


def stream_sync(server, wire, messages=ASK, tracker=None, **options):
    with (
        client_of(server, wire, tracker) as client,
        client.stream_sync(prompt_of(wire, messages, **options)) as stream,
    ):
        return list(stream)


def stream_async(server, wire, messages=ASK, tracker=None, **options):
    async def read():
        async with (
            client_of(server, wire, tracker) as client,
            client.stream(prompt_of(wire, messages, **options)) as stream,
        ):
            return [event async for event in stream]

    return asyncio.run(read())


def streamed_answer(*arguments, **options):
    return stream_sync(*arguments, **options)[-1].response


ways = pytest.mark.parametrize(
    "ask",
    [ask_sync, ask_async, streamed_answer],
    ids=["blocking", "async", "streamed"],
)
streams = pytest.mark.parametrize("stream", [stream_sync, stream_async], ids=["blocking", "async"])


@every_wire
@ways
def test_text_arrives_with_its_tokens(ask, wire):
    """With a system text, a temperature and a conversation behind it."""
    talk = [
        *ASK,
        {"role": "assistant", "content": "Which table?"},
        {"role": "user", "content": "All of them."},
        {"role": "system", "content": "Now answer."},
    ]
    with LoopbackServer([Reply("id", usage=Usage(12, 3))]) as server:
        answer = ask(server, wire, talk, system="Be exact.", max_output_tokens=500)
        sent = json.dumps(server.requests[0].body)
    assert (answer.text, answer.stop_reason, answer.usage) == ("id", "end", Usage(12, 3))
    assert "Be exact." in sent
    assert "Now answer." in sent


COUNTED = {
    "anthropic": Usage(100, 10, 40, 20),
    "openai": Usage(100, 10, 40, 20),
    "openai-responses": Usage(100, 10, 40, 20),
    "gemini": Usage(100, 10, 40),
    "gemini-2": Usage(100, 10, 40),
    "ollama": Usage(100, 10),
}


@every_wire
@ways
def test_tokens_of_the_cache_are_read_where_a_provider_counts_them(ask, wire):
    """The input is the whole prompt, cached or not."""
    with LoopbackServer([Reply("id", usage=Usage(100, 10, 40, 20))]) as server:
        assert ask(server, wire).usage == COUNTED[wire]


@every_wire
@ways
def test_an_answer_without_usage_is_charged_at_its_reserve(ask, wire):
    """The run's cost is never short of what was spent."""
    tracker = RunCostTracker(bus=EventBus())
    with LoopbackServer([Reply("id", usage=None)]) as server:
        assert ask(server, wire, tracker=tracker).usage is None
    assert tracker.breakdown.missing_usage_calls == 1
    assert (tracker.total_usd > 0) is (wire != "ollama")


@every_wire
@ways
def test_tools_are_called_and_their_results_go_back(ask, wire):
    """Two calls, one of which fails, through JSON as a checkpoint saves them."""
    reply = Reply("I look.", CALLS, thinking="hm")
    with LoopbackServer([reply, Reply("done")]) as server:
        first = ask(server, wire, tools=[TOOL], **thinking_of(wire))
        assert [(call.name, call.arguments) for call in first.tool_calls] == [
            (call.name, call.arguments) for call in CALLS
        ]
        assert (first.text, first.stop_reason) == ("I look.", "tool_calls")
        message = json.loads(json.dumps(first.as_message()))
        ids = [call.id for call in first.tool_calls]
        results = [
            {"role": "tool", "tool_call_id": ids[0], "content": "1, 2"},
            {"role": "tool", "tool_call_id": ids[1], "content": "no table", "is_error": True},
        ]
        talk = [*ASK, message, *results]
        assert ask(server, wire, talk, tools=[TOOL], **thinking_of(wire)).text == "done"
        sent = json.dumps(server.requests[1].body, ensure_ascii=False)
    assert "1, 2" in sent
    assert "no table" in sent


def thinking_of(wire):
    """Return how a prompt turns thinking on, where the API wants it to be turned on."""
    extra = {
        "anthropic": {"thinking": {"type": "adaptive"}},
        "openai-responses": {"reasoning": {"summary": "auto"}},
        "gemini": {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        "gemini-2": {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        "ollama": {"think": True},
    }
    return {"extra": extra.get(wire, {})}


@every_wire
@ways
def test_thinking_goes_back_as_it_came(ask, wire):
    """The provider's own blocks are in the next request, in their order, and nowhere else."""
    reply = Reply("I look.", CALLS, thinking="It may be the id.")
    with LoopbackServer([reply, Reply("done"), Reply("done")]) as server:
        first = ask(server, wire, tools=[TOOL], **thinking_of(wire))
        assert first.thinking == "It may be the id."
        assert first.format_name
        blocks = [block.block for block in first.provider_blocks]
        assert blocks
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": "1"} for call in first.tool_calls
        ]
        talk = [*ASK, json.loads(json.dumps(first.as_message())), *results]
        ask(server, wire, talk, tools=[TOOL], **thinking_of(wire))
        other = next(name for name in WIRES if WIRES[name][0].name != WIRES[wire][0].name)
        ask(server, other, talk, tools=[TOOL])
        sent, sent_elsewhere = (request.body for request in server.requests[1:])
    echoed = [node for node in nodes_of(sent) if any(is_part(block, node) for block in blocks)]
    assert len(echoed) >= len(blocks)
    assert "It may be the id." not in json.dumps(sent_elsewhere)


def nodes_of(value):
    """Yield each object in a body."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from nodes_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nodes_of(inner)


def is_part(block, node):
    return bool(block) and all(node.get(key) == value for key, value in block.items())


@every_wire
@ways
@pytest.mark.parametrize("tools", [[], [TOOL]], ids=["alone", "with tools"])
def test_a_structured_answer_follows_its_schema(ask, tools, wire):
    """Whatever the provider makes of the schema, the answer has the caller's shape."""
    with LoopbackServer([Reply('{"key": "id"}')]) as server:
        answer = ask(server, wire, tools=tools, response_schema=SCHEMA)
    assert answer.as_json() == {"key": "id"}
    assert (answer.tool_calls, answer.stop_reason) == ((), "end")


@every_wire
@ways
def test_a_tool_may_come_before_the_structured_answer(ask, wire):
    """The model decides."""
    replies = [Reply("", [CALLS[0]]), Reply('{"key": "id"}')]
    options = {"tools": [TOOL], "response_schema": SCHEMA}
    with LoopbackServer(replies) as server:
        first = ask(server, wire, **options)
        assert [call.name for call in first.tool_calls] == ["read_rows"]
        result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "1"}
        last = ask(server, wire, [*ASK, first.as_message(), result], **options)
    assert last.as_json() == {"key": "id"}


@every_wire
@ways
@pytest.mark.parametrize("block", [IMAGE, DOCUMENT], ids=["image", "document"])
def test_an_attachment_is_sent_or_refused(ask, block, wire):
    """It never vanishes."""
    content = [{"type": "text", "text": "What is it?"}, block]
    talk = [{"role": "user", "content": content}]
    with LoopbackServer([Reply("a key")]) as server:
        if (wire, block["type"]) == ("ollama", "document"):
            with pytest.raises(UsageError, match="documents"):
                ask(server, wire, talk)
            assert not server.requests
        else:
            assert ask(server, wire, talk).text == "a key"
            assert "aGk=" in json.dumps(server.requests[0].body)


@every_wire
@pytest.mark.parametrize("role", ["assistant", "system"])
def test_an_image_that_is_not_the_users_is_sent_or_refused(role, wire):
    """Only Ollama takes images of an assistant."""
    talk = [{"role": role, "content": [{"type": "text", "text": "Look."}, IMAGE]}, *ASK]
    with LoopbackServer() as server:
        if (wire, role) == ("ollama", "assistant"):
            ask_sync(server, wire, talk)
            assert server.requests[0].body["messages"][0]["images"] == ["aGk="]
        else:
            with pytest.raises(UsageError, match=f"{role}.*image"):
                ask_sync(server, wire, talk)
            assert not server.requests


@every_wire
def test_an_image_in_a_tools_result_is_sent_or_refused(wire):
    """Chat Completions and Gemini before version 3 take text only."""
    calls = [CALLS[0].as_entry()]
    content = [{"type": "text", "text": "a plot"}, IMAGE]
    talk = [
        *ASK,
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": CALLS[0].id, "content": content},
    ]
    with LoopbackServer() as server:
        if wire in ("openai", "gemini-2"):
            with pytest.raises(UsageError, match="no image in a tool's result"):
                ask_sync(server, wire, talk, tools=[TOOL])
            assert not server.requests
        else:
            ask_sync(server, wire, talk, tools=[TOOL])
            sent = json.dumps(server.requests[0].body)
            assert "a plot" in sent
            assert "aGk=" in sent


@every_wire
def test_an_image_of_a_type_that_is_not_taken_is_refused(wire):
    """With the types that are, before anything is sent."""
    image = {"type": "image", "media_type": "image/bmp", "data": "aGk="}
    talk = [{"role": "user", "content": [image]}]
    with LoopbackServer() as server, pytest.raises(UsageError, match="image/bmp") as caught:
        ask_sync(server, wire, talk)
    assert "image/png" in caught.value.hint
    assert not server.requests


def test_a_users_own_server_decides_about_images():
    """VLLM, for example, takes what its image library reads."""
    image = {"type": "image", "media_type": "image/bmp", "data": "aGk="}
    prompt = LlmPrompt("m", [{"role": "user", "content": [image]}])
    body = VllmProvider().build_request(prompt).body
    assert "data:image/bmp;base64,aGk=" in json.dumps(body)


@every_wire
def test_an_unknown_block_is_refused(wire):
    """Before anything is sent."""
    with LoopbackServer() as server, pytest.raises(UsageError, match="video"):
        ask_sync(server, wire, [{"role": "user", "content": [{"type": "video", "data": "aGk="}]}])
    assert not server.requests


EXTRA = {
    "anthropic": {"metadata": {"user_id": "u1"}},
    "openai": {"metadata": {"job": "u1"}},
    "openai-responses": {"metadata": {"job": "u1"}},
    "gemini": {"generationConfig": {"seed": 7, "thinkingConfig": {"thinkingLevel": "LOW"}}},
    "gemini-2": {"generationConfig": {"seed": 7}},
    "ollama": {"options": {"seed": 7}, "keep_alive": "1m"},
}
LIMITS = {
    "anthropic": {"max_tokens": 10**6},
    "openai": {"max_completion_tokens": 10**6},
    "openai-responses": {"max_output_tokens": 10**6},
    "gemini": {"generationConfig": {"maxOutputTokens": 10**6}},
    "gemini-2": {"generationConfig": {"candidateCount": 8}},
    "ollama": {"options": {"num_predict": 10**6}},
}


@every_wire
@ways
def test_extra_is_merged_deeply(ask, wire):
    """Next to what the prompt sets in the same object."""
    with LoopbackServer() as server:
        ask(server, wire, extra=EXTRA[wire], max_output_tokens=77)
        body = server.requests[0].body
    assert contains(body, EXTRA[wire])
    assert "77" in json.dumps(body)


def contains(body, extra):
    return all(
        contains(body[name], value) if isinstance(value, dict) else body[name] == value
        for name, value in extra.items()
    )


@every_wire
@ways
@pytest.mark.parametrize("what", ["limit", "model", "stream"])
def test_extra_cannot_change_what_an_answer_costs_or_how_it_is_read(ask, what, wire):
    """It is refused by name, before anything is sent."""
    extra = {"limit": LIMITS[wire], "model": {"model": "dearer"}, "stream": {"stream": "yes"}}[what]
    with LoopbackServer() as server, pytest.raises(UsageError, match=r"extra\."):
        ask(server, wire, extra=extra)
    assert not server.requests


class Folder(BaseModel):
    """A recursive model, so its schema's root is a reference."""

    name: str
    inner: list["Folder"] = []


@every_wire
def test_a_recursive_schema_has_a_type_at_its_root(wire):
    """As an answer's schema and as a tool's; providers refuse others."""
    schema = Folder.model_json_schema()
    assert "type" not in schema
    with LoopbackServer([Reply('{"name": "a", "inner": []}')]) as server:
        answer = ask_sync(server, wire, response_schema=schema)
        assert answer.as_json() == {"name": "a", "inner": []}
        ask_sync(server, wire, tools=[{**TOOL, "input_schema": schema}])


PROVIDER_NAMES = {wire: wire.partition("-")[0] for wire in EXTRA}
DEARER = [
    ("anthropic", {"speed": "fast"}),
    ("anthropic", {"inference_geo": "us"}),
    ("anthropic", {"fallbacks": [{"model": "claude-opus-5"}]}),
    ("anthropic", {"cache_control": {"type": "ephemeral", "ttl": "1h"}}),
    ("anthropic", {"tools": [{"name": "t", "cache_control": {"ttl": "1h"}}]}),
    ("openai", {"service_tier": "priority"}),
    ("openai", {"web_search_options": {"search_context_size": "high"}}),
    ("openai", {"models": ["dearer"]}),
    ("openai-responses", {"service_tier": "fast"}),
    ("openai-responses", {"prompt_cache_options": {"ttl": "12h"}}),
    ("gemini", {"serviceTier": "priority"}),
    ("gemini", {"service_tier": "PRIORITY"}),
]


@pytest.mark.parametrize(("wire", "extra"), DEARER)
def test_extra_cannot_change_what_tokens_cost(wire, extra):
    """Calls are reserved and charged at the listed price."""
    with LoopbackServer() as server, pytest.raises(UsageError, match="listed price"):
        ask_sync(server, wire, extra=extra)
    assert not server.requests


@pytest.mark.parametrize(
    ("wire", "extra"),
    [
        ("anthropic", {"speed": "standard", "cache_control": {"type": "ephemeral", "ttl": "5m"}}),
        ("openai", {"service_tier": "flex"}),
        ("gemini", {"serviceTier": "flex"}),
    ],
)
def test_extra_may_choose_the_listed_price_or_less(wire, extra):
    """Such options are sent."""
    with LoopbackServer() as server:
        ask_sync(server, wire, extra=extra, cache_prompt=False)
        assert contains(server.requests[0].body, extra)


@every_wire
@ways
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_an_answer_that_is_cut_off_says_so(ask, schema, wire):
    """As an error of its own where it should have been an object."""
    with LoopbackServer([Reply('{"key": "i', stop_reason="length")]) as server:
        answer = ask(server, wire, response_schema=schema)
    assert answer.stop_reason == "length"
    with pytest.raises(AnswerCutOffError) as caught:
        answer.as_json()
    assert (caught.value.provider, caught.value.model) == (PROVIDER_NAMES[wire], "test-model")


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "ollama"])
@ways
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_an_answer_that_was_refused_says_so(ask, schema, wire):
    """With the model's words; Ollama's models have no refusal of their own."""
    with LoopbackServer([Reply("I can't do that.", stop_reason="refused")]) as server:
        answer = ask(server, wire, response_schema=schema)
    assert (answer.stop_reason, answer.text) == ("refused", "I can't do that.")
    with pytest.raises(AnswerRefusedError) as caught:
        answer.as_json()
    assert (caught.value.provider, caught.value.model) == (PROVIDER_NAMES[wire], "test-model")


PERMANENT = [
    (unauthorized(), ProviderAuthError),
    (context_overflow(), ContextOverflowError),
    (quota_exhausted(), RateLimitError),
    (invalid_request("no such field"), ProviderError),
]


@ways
@pytest.mark.parametrize(
    ("wire", "fault", "kind"),
    [
        pytest.param(wire, fault, kind, id=f"{wire}-{fault.kind}")
        for wire in WIRES
        for fault, kind in PERMANENT
        if (wire, fault.kind) != ("ollama", "quota")  # it has no code for it
    ],
)
def test_a_permanent_failure_has_its_type(ask, fault, kind, wire):
    """It is raised at once."""
    with LoopbackServer([fault]) as server, pytest.raises(ProviderError) as caught:
        ask(server, wire)
    assert type(caught.value) is kind
    assert not caught.value.retryable
    assert len(server.requests) == 1


@every_wire
@ways
@pytest.mark.parametrize(
    "fault", [rate_limit(), server_error(500), overloaded()], ids=lambda fault: fault.kind
)
def test_a_failure_that_passes_is_retried(ask, fault, wire):
    """Also before the first event of a stream."""
    with LoopbackServer([fault, Reply("id")]) as server:
        assert ask(server, wire).text == "id"
        assert len(server.requests) == 2


@every_wire
@streams
def test_a_stream_is_the_same_answer_in_events(stream, wire):
    """Text and thinking in pieces, whole calls, the tokens, and the answer at the end."""
    reply = Reply("many words", CALLS, Usage(12, 3), thinking="some thoughts")
    options = {"tools": [TOOL], **thinking_of(wire)}
    with LoopbackServer([reply, reply]) as server:
        events = stream(server, wire, **options)
        whole = ask_sync(server, wire, **options)
    assert joined(events, TextEvent) == "many words"
    assert joined(events, ThinkingEvent) == "some thoughts"
    assert len([event for event in events if isinstance(event, TextEvent)]) > 1
    assert [e.call for e in events if isinstance(e, ToolCallEvent)] == [*whole.tool_calls]
    assert [e.usage for e in events if isinstance(e, UsageEvent)][-1] == Usage(12, 3)
    assert isinstance(events[-1], AnswerEvent)
    assert events[-1].response == whole


def joined(events, kind):
    return "".join(event.text for event in events if isinstance(event, kind))


@every_wire
@streams
def test_a_failure_within_a_stream_has_its_type(stream, wire):
    """The provider's own report, or an end that comes too early, after what had arrived."""
    for fault in (stream_error(), unfinished_stream()):
        with LoopbackServer([fault]) as server, pytest.raises(ProviderServerError):
            stream(server, wire)
        assert len(server.requests) == 1


@every_wire
def test_leaving_a_stream_early_settles_for_it(wire):
    """By what was reported so far, else by the reserve; a model at home costs nothing."""
    tracker = RunCostTracker(bus=EventBus())
    with (
        LoopbackServer([Reply("word " * 200)]) as server,
        client_of(server, wire, tracker) as client,
    ):
        with client.stream_sync(prompt_of(wire)) as stream:
            next(event for event in stream if isinstance(event, TextEvent))
        figures = tracker.breakdown
    assert [row.calls for row in figures.rows] == [1]
    assert figures.reserved_usd == 0
    assert (figures.total_usd > 0) is (wire != "ollama")
