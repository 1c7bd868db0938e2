"""Anthropic's requests against the official SDK's types, and what is read from its answers."""

import base64
import json
import logging
import re

import pytest
from anthropic.types.beta.message_create_params import (
    MessageCreateParamsNonStreaming as BetaRequest,
)
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from anthropic.types.stop_reason import StopReason
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.errors import AnswerCutOffError, AnswerRefusedError, ProviderServerError
from fluid_build.copilot.llm.anthropic import AnthropicProvider
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.streaming import (
    ServerSentEvents,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from tests.copilot.context.conversations import conversations
from tests.copilot.llm.sdk_types import check_request
from tests.fault_server import Reply
from tests.fault_server.wire import FORMATS

WIRE = FORMATS["anthropic"]
TOOL = {
    "name": "read_rows",
    "description": "Reads rows.",
    "input_schema": {"type": "object", "properties": {"table": {"type": "string"}}},
}
SCHEMA = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "rows": {"type": "integer", "minimum": 0}},
    "required": ["key"],
}
ASK = [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Find the key."}]
CALLS = [ToolCall("c1", "read_rows", {"table": "a"}), ToolCall("c2", "read_rows", {"table": "b"})]
RESULTS = [
    {"role": "tool", "tool_call_id": "c1", "content": "1, 2"},
    {"role": "tool", "tool_call_id": "c2", "content": "no such table", "is_error": True},
]


def build(model="claude-opus-5", messages=ASK, **options):
    """Return the request, once the SDK's types and the server's rules accept it."""
    request = AnthropicProvider().build_request(LlmPrompt(model, messages, **options))
    is_current = request.headers["anthropic-version"] == "2026-10-21"
    if is_current:
        has_beta = "anthropic-beta" in request.headers
        check_request(request.body, BetaRequest if has_beta else MessageCreateParamsNonStreaming)
    assert WIRE.refuse(request.headers, request.body) is None
    return request


def answer(reply, **options):
    prompt = LlmPrompt("claude-opus-5", ASK, **options)
    return read(WIRE.reply(reply, AnthropicProvider().build_request(prompt).body), prompt)


def read(body, prompt=None):
    return AnthropicProvider().parse_response(body, prompt or LlmPrompt("claude-opus-5", ASK))


def message(*content, **fields):
    return {"model": "m", "stop_reason": "end_turn", "content": list(content), **fields}


def test_a_request_says_the_current_version_and_where_it_goes():
    """The version is the SDK's own."""
    request = build()
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert request.headers == {"anthropic-version": "2026-10-21"}


def test_tools_and_system_and_the_last_turn_end_a_cached_prefix():
    """Three breakpoints of the four that are allowed."""
    body = build(tools=[TOOL]).body
    marked = [body["tools"][-1], body["system"][-1], body["messages"][-1]["content"][-1]]
    assert all(part["cache_control"] == {"type": "ephemeral"} for part in marked)
    assert str(body).count("cache_control") == 3
    assert "cache_control" not in str(build(cache_prompt=False).body)


def test_a_later_system_message_is_the_users():
    """There is one system field; an instruction at the end still comes last."""
    talk = [*ASK, answer(Reply("", CALLS)).as_message(), *RESULTS]
    body = build(messages=[*talk, {"role": "system", "content": "Now answer."}]).body
    assert [block["text"] for block in body["system"]] == ["Be exact."]
    last = body["messages"][-1]
    assert last["role"] == "user"
    assert [block["type"] for block in last["content"]] == ["tool_result", "tool_result", "text"]
    assert last["content"][1]["is_error"] is True
    assert last["content"][2]["text"] == "Now answer."


@given(conversations(max_turns=8), st.booleans())
def test_any_conversation_is_accepted(messages, is_cached):
    """In either spelling of tool use, and whoever speaks last."""
    body = build(messages=messages, cache_prompt=is_cached, tools=[TOOL]).body
    assert body["messages"][0]["role"] == "user"


@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-sonnet-5", "claude-haiku-5-5"])
def test_a_conversation_that_ends_with_an_answer_goes_on_with_the_users_turn(model):
    """Claude 4.6 and later refuse to complete an answer."""
    talk = [*ASK, {"role": "assistant", "content": "So far: a, "}]
    last = build(model, talk, cache_prompt=False).body["messages"][-1]
    assert last == {"role": "user", "content": [{"type": "text", "text": "Continue."}]}
    plain = {"model": model, "max_tokens": 9, "messages": [*ASK[1:], talk[-1]]}
    headers = {"anthropic-version": "2026-10-21"}
    plain["messages"][-1] = {"role": "assistant", "content": "So far: a,"}
    assert "assistant message prefill" in WIRE.refuse(headers, plain)


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-4-5-20250929", "m"])
def test_an_older_model_completes_the_answer(model):
    """Models of other companies keep what they are sent, too."""
    talk = [*ASK, {"role": "assistant", "content": "So far: a, "}]
    last = build(model, talk, cache_prompt=False).body["messages"][-1]
    assert last["content"] == [{"type": "text", "text": "So far: a,"}]


def test_a_paused_answer_goes_back_as_it_is():
    """The API goes on with its own tool's call, without a turn of the user's."""
    turn = read(message(SEARCH, stop_reason="pause_turn")).as_message()
    assert build(messages=[*ASK, turn]).body["messages"][-1]["role"] == "assistant"
    turn = read(message(SEARCH, SEARCH_RESULT)).as_message()
    assert build(messages=[*ASK, turn]).body["messages"][-1]["role"] == "user"


def test_ids_from_elsewhere_are_made_safe_on_both_sides():
    """A call and its result keep the same id."""
    names = ["call:1/x", "call.1/x", ""]
    calls = [{"id": name, "name": "t", "arguments": {}} for name in names]
    talk = [
        *ASK,
        {"role": "assistant", "content": "", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": name, "content": "r"} for name in names),
    ]
    messages = build(messages=talk).body["messages"]
    ids = [block["id"] for block in messages[1]["content"]]
    assert ids == [block["tool_use_id"] for block in messages[2]["content"]]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(r"[\w-]+", name) for name in ids)


def test_a_structured_answer_is_asked_for_by_a_closed_schema():
    """No forced tool: current models refuse it. Constraints go into the description."""
    body = build(response_schema=SCHEMA, tools=[TOOL]).body
    assert "tool_choice" not in body
    assert [tool["name"] for tool in body["tools"]] == ["read_rows"]
    schema = body["output_config"]["format"]["schema"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["rows"]["description"] == "(minimum: 0)"


def test_a_structured_answer_comes_back_in_the_prompts_own_shape():
    """An optional property that is null is left out again."""
    reply = Reply(json.dumps({"key": "id", "rows": None}))
    response = answer(reply, response_schema=SCHEMA)
    assert response.as_json() == {"key": "id"}


@pytest.mark.parametrize("model", ["claude-3-7-sonnet-latest", "anthropic/claude-sonnet-4-0"])
def test_an_older_model_gets_a_forced_tool(model):
    """It doesn't know output_config."""
    body = build(model, response_schema=SCHEMA).body
    assert body["tool_choice"] == {"type": "tool", "name": "answer"}
    assert "output_config" not in body
    assert build(model, response_schema=SCHEMA, tools=[TOOL]).body["tool_choice"]["type"] == "any"


def test_an_older_model_that_thinks_gets_the_tool_without_force():
    """The API refuses a forced tool while a model thinks."""
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    body = build("claude-sonnet-4-0", response_schema=SCHEMA, extra=thinking).body
    assert "tool_choice" not in body
    assert [tool["name"] for tool in body["tools"]] == ["answer"]


def test_a_schema_that_cannot_be_compiled_becomes_a_tool():
    """A tree, for example. The input of the tool is the answer."""
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["children"],
    }
    body = build(response_schema=tree).body
    assert "output_config" not in body
    assert body["tools"][0]["input_schema"] == tree
    call = {"type": "tool_use", "id": "t", "name": "answer", "input": {"children": []}}
    prompt = LlmPrompt("claude-opus-5", ASK, response_schema=tree)
    response = read(message(call, stop_reason="tool_use"), prompt)
    assert (response.as_json(), response.tool_calls) == ({"children": []}, ())


@pytest.mark.parametrize(
    ("model", "version", "is_sent"),
    [
        ("claude-opus-4-7", "2026-10-21", False),
        ("claude-haiku-5-5", "2026-10-21", False),
        ("claude-sonnet-4-6", "2023-06-01", True),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "2023-06-01", True),
        ("someone-elses-model", "2023-06-01", True),
    ],
)
def test_a_temperature_goes_only_to_models_that_take_it(model, version, is_sent):
    """And only in the version of the API that has it."""
    request = build(model, temperature=0.2)
    assert request.headers["anthropic-version"] == version
    assert ("temperature" in request.body) is is_sent


def test_a_temperature_that_is_not_sent_is_logged(caplog):
    """Once for a model."""
    with caplog.at_level(logging.WARNING):
        build("claude-opus-4-8", temperature=0.2)
        build("claude-opus-4-8", temperature=0.2)
    assert [record.getMessage() for record in caplog.records] == [
        "claude-opus-4-8 takes no temperature: the one that is set isn't sent."
    ]


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"stream": True}, "extra.stream"),
        ({"betas": "a-1"}, "extra.betas"),
        ({"betas": ["a-1\r\nx: y"]}, "extra.betas"),
        ({"top_p": 0.5}, "extra.top_p"),
        ({"max_tokens": 9}, "extra.max_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1000}}, "budget_tokens is 1000"),
        ({"thinking": {"type": "enabled", "budget_tokens": 4096}}, "budget_tokens is 4096"),
        ({"output_config": {"format": {"type": "text"}}}, "extra.output_config.format.type"),
    ],
)
def test_an_extra_that_would_be_refused_or_change_the_answer_is_refused(extra, words):
    """By name."""
    with pytest.raises(UsageError, match=words):
        build(extra=extra, response_schema=SCHEMA)


def test_extra_configures_thinking_effort_and_betas():
    """Next to the schema of a structured answer; betas become a header."""
    thinking = {"type": "adaptive", "display": "summarized"}
    extra = {"thinking": thinking, "output_config": {"effort": "low"}, "betas": ["a-1", "b-2"]}
    request = build(extra=extra, response_schema=SCHEMA)
    assert request.body["thinking"] == thinking
    assert request.body["output_config"].keys() == {"effort", "format"}
    assert request.headers["anthropic-beta"] == "a-1,b-2"
    assert "betas" not in request.body


def test_a_key_and_a_token_have_headers_of_their_own(monkeypatch):
    """A token is OAuth's, or what ANTHROPIC_AUTH_TOKEN says."""
    headers = AnthropicProvider().auth_headers
    assert headers("sk-ant-api03-x") == {"x-api-key": "sk-ant-api03-x"}
    assert headers("sk-ant-oat01-x") == {"authorization": "Bearer sk-ant-oat01-x"}
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "gateway-1")
    assert headers("gateway-1") == {"authorization": "Bearer gateway-1"}


PIXEL = base64.b64encode(b"\x89PNG").decode()


def test_images_and_documents_are_sent():
    """In base64 or by address; plain text as text."""
    content = [
        {"type": "text", "text": "Compare."},
        {"type": "image", "media_type": "image/png", "data": PIXEL},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "document", "media_type": "application/pdf", "data": PIXEL, "name": "terms"},
        {"type": "document", "url": "https://example.org/a.pdf"},
        {"type": "document", "media_type": "text/plain", "data": "aGk="},
    ]
    blocks = build(messages=[{"role": "user", "content": content}]).body["messages"][0]["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "image"] + ["document"] * 3
    assert blocks[1]["source"] == {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert blocks[3]["title"] == "terms"
    assert blocks[5]["source"]["data"] == "hi"


@pytest.mark.parametrize(
    ("kind", "media_type", "data"),
    [
        ("image", "image/tiff", PIXEL),
        ("document", "application/msword", PIXEL),
        ("document", "text/plain", PIXEL),
    ],
)
def test_other_attachments_are_refused(kind, media_type, data):
    """With what Anthropic takes."""
    block = {"type": kind, "media_type": media_type, "data": data}
    with pytest.raises(UsageError, match="type "):
        build(messages=[{"role": "user", "content": [block]}])


def test_a_tools_result_may_have_images_and_documents():
    """Next to its text."""
    call = ToolCall("c1", "read_rows", {})
    image = {"type": "image", "media_type": "image/png", "data": PIXEL}
    result = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": [{"type": "text", "text": "a plot"}, image],
    }
    talk = [*ASK, answer(Reply("", [call])).as_message(), result]
    (block,) = build(messages=talk, cache_prompt=False).body["messages"][-1]["content"]
    assert [part["type"] for part in block["content"]] == ["text", "image"]
    assert block["content"][1]["source"]["media_type"] == "image/png"


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s1"}
REDACTED = {"type": "redacted_thinking", "data": "e1"}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
SEARCH_RESULT = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def use(identifier):
    return {"type": "tool_use", "id": identifier, "name": "read_rows", "input": {"table": "a"}}


def test_thinking_and_the_apis_own_blocks_go_back_unchanged_and_in_their_place():
    """After a round trip through JSON, as checkpoints make it."""
    text = {"type": "text", "text": "I look.\n"}
    blocks = [THINKING, SEARCH, SEARCH_RESULT, text, REDACTED, use("c1"), THINKING, use("c2")]
    response = read(message(*blocks, stop_reason="tool_use"))
    assert (response.text, response.thinking) == ("I look.\n", "hmhm")
    turn = json.loads(json.dumps(response.as_message()))
    request = AnthropicProvider().build_request(LlmPrompt("claude-opus-5", [*ASK, turn, *RESULTS]))
    check_request(request.body, MessageCreateParamsNonStreaming)
    assert request.body["messages"][1]["content"] == blocks


def test_thinking_stays_when_the_text_was_shortened():
    """Compaction shortens texts; the blocks keep their order."""
    text = {"type": "text", "text": "A long story."}
    turn = read(message(THINKING, text, REDACTED, use("c1"))).as_message() | {"content": "A"}
    request = AnthropicProvider().build_request(LlmPrompt("m", [*ASK, turn, RESULTS[0]]))
    kinds = [block["type"] for block in request.body["messages"][1]["content"]]
    assert kinds == ["thinking", "text", "redacted_thinking", "tool_use"]


def test_thinking_in_another_format_is_not_sent():
    """It means nothing to this API."""
    turn = answer(Reply("yes", thinking="hm")).as_message()
    turn["provider_blocks"]["format"] = "gemini"
    body = build(messages=[*ASK, turn, {"role": "user", "content": "and?"}]).body
    assert [block["type"] for block in body["messages"][1]["content"]] == ["text"]


def test_a_tool_loop_keeps_its_thinking_in_front_of_its_calls():
    """The server refuses the loop otherwise, which the test of the rules shows."""
    extra = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    turn = answer(Reply("", CALLS, thinking="hm")).as_message()
    build("claude-sonnet-4-5", [*ASK, turn, *RESULTS], extra=extra, tools=[TOOL])
    bare = {name: value for name, value in turn.items() if name != "provider_blocks"}
    prompt = LlmPrompt("claude-sonnet-4-5", [*ASK, bare, *RESULTS], extra=extra, tools=[TOOL])
    request = AnthropicProvider().build_request(prompt)
    assert "Expected `thinking`" in WIRE.refuse(request.headers, request.body)


def test_the_server_refuses_bound_thinking_after_a_change():
    """Unless the request lets it drop the thinking, as ours do."""
    prompt = LlmPrompt("claude-opus-5-5", ASK)
    body = AnthropicProvider().build_request(prompt).body
    turn = read(WIRE.reply(Reply("yes", thinking="hm"), body), prompt).as_message()
    last = {"role": "user", "content": "and?"}
    changed = build("claude-opus-5-5", [{"role": "user", "content": "Another."}, turn, last])
    plain = {name: value for name, value in changed.body.items() if name != "thinking"}
    assert "bound to a different conversation" in WIRE.refuse(changed.headers, plain)
    same = build("claude-opus-5-5", [*ASK, turn, last])
    plain = {name: value for name, value in same.body.items() if name != "thinking"}
    assert WIRE.refuse(same.headers, plain) is None


def test_models_that_bind_thinking_to_the_conversation_may_drop_it():
    """The runtime shortens conversations, and the API would refuse the rest of them."""
    turn = answer(Reply("", CALLS, thinking="hm")).as_message()
    talk = [*ASK, turn, *RESULTS]
    request = build("claude-opus-5-5", talk)
    assert request.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert request.body["thinking"] == {"type": "adaptive", "block_binding": binding}
    summarized = {"thinking": {"type": "adaptive", "display": "summarized"}}
    thinking = build("claude-opus-5-5", talk, extra=summarized).body["thinking"]
    assert thinking == {**summarized["thinking"], "block_binding": binding}
    for other in (build("claude-opus-5-5"), build("claude-opus-5", talk)):
        assert "thinking" not in other.body


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "refused"),
        ("pause_turn", "other"),
    ],
)
def test_every_reason_to_stop_is_known(reason, stop_reason):
    """Those that the SDK has."""
    assert reason in StopReason.__args__
    assert len(StopReason.__args__) == 7
    assert read(message(stop_reason=reason)).stop_reason == stop_reason


def test_a_paused_turn_goes_back_as_it_is():
    """The model goes on from there."""
    turn = read(message(SEARCH, stop_reason="pause_turn")).as_message()
    body = AnthropicProvider().build_request(LlmPrompt("m", [*ASK, turn], cache_prompt=False)).body
    assert body["messages"][-1] == {"role": "assistant", "content": [SEARCH]}


def test_a_refusal_has_the_explanation_where_the_model_said_nothing():
    """A structured answer that was refused is an error of its own."""
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    response = read(message(stop_reason="refusal", stop_details=details))
    assert (response.stop_reason, response.text) == ("refused", "Not this.")
    with pytest.raises(AnswerRefusedError):
        response.as_json()
    with pytest.raises(AnswerCutOffError):
        answer(Reply('{"key', stop_reason="length"), response_schema=SCHEMA).as_json()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 1, "output_tokens": 2}, Usage(1, 2)),
        (
            {
                "input_tokens": 1,
                "output_tokens": 2,
                "cache_read_input_tokens": 3,
                "cache_creation_input_tokens": 9,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 4,
                    "ephemeral_1h_input_tokens": 5,
                },
            },
            Usage(13, 2, 3, 9),
        ),
        (
            {
                "input_tokens": 1,
                "output_tokens": 2,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 4,
                    "ephemeral_1h_input_tokens": 5,
                },
            },
            Usage(10, 2, 0, 9),
        ),
    ],
)
def test_usage_counts_what_was_read_from_and_written_to_the_cache(usage, expected):
    """Writes count once, however they are split."""
    assert read(message(usage=usage)).usage == expected


def stream(reply, **options):
    """Return the events of a streamed reply, and the reader."""
    provider = AnthropicProvider()
    prompt = LlmPrompt("claude-opus-5", ASK, **options)
    request = provider.stream_request(prompt)
    check_request(request.body, MessageCreateParamsStreaming)
    reader, frames = provider.stream_reader(prompt), ServerSentEvents()
    chunks = WIRE.stream(reply, request.body)
    events = [e for chunk in chunks for d in frames.feed(chunk) for e in reader.read(d)]
    return events, reader


usages = st.none() | st.tuples(*[st.integers(0, 999)] * 4).map(
    lambda n: Usage(n[0] + n[2] + n[3], n[1], n[2], n[3])
)
replies = st.builds(
    Reply,
    text=st.text(max_size=30),
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            st.text("abc", min_size=1),
            st.just("read_rows"),
            st.dictionaries(st.text(), st.integers() | st.text()),
        ),
        max_size=3,
    ),
    usage=usages,
    stop_reason=st.sampled_from(["end", "length", "refused"]),
    thinking=st.text(max_size=30),
)


@given(replies, st.sampled_from([{}, {"tools": [TOOL]}, {"response_schema": SCHEMA}]))
def test_a_streamed_answer_is_the_answer_in_one_piece(reply, options):
    """Text, thinking, calls, usage and the blocks that go back."""
    events, reader = stream(reply, **options)
    assert reader.is_complete
    whole = answer(reply, **options)
    assert reader.response() == whole
    assert reader.usage == whole.usage
    assert "".join(e.text for e in events if isinstance(e, TextEvent)) == reply.text
    assert "".join(e.text for e in events if isinstance(e, ThinkingEvent)) == whole.thinking
    assert tuple(e.call for e in events if isinstance(e, ToolCallEvent)) == whole.tool_calls


def test_usage_is_reported_at_once_and_again_at_the_end():
    """The prompt's tokens first, then the answer's."""
    events, _ = stream(Reply("hi", usage=Usage(100, 7, 40, 20)))
    reports = [e.usage for e in events if isinstance(e, UsageEvent)]
    assert reports == [Usage(100, 1, 40, 20), Usage(100, 7, 40, 20)]


def test_the_input_of_an_answer_tool_is_streamed_as_text():
    """It is the answer, not a call."""
    provider = AnthropicProvider()
    prompt = LlmPrompt("claude-3-haiku-20240307", ASK, response_schema=SCHEMA)
    reader, frames = provider.stream_reader(prompt), ServerSentEvents()
    body = provider.stream_request(prompt).body
    events = [
        event
        for chunk in WIRE.stream(Reply('{"key": "id"}'), body)
        for document in frames.feed(chunk)
        for event in reader.read(document)
    ]
    assert "".join(e.text for e in events if isinstance(e, TextEvent)) == '{"key": "id"}'
    assert not [e for e in events if isinstance(e, ToolCallEvent)]
    assert reader.response().as_json() == {"key": "id"}


def test_citations_arrive_with_their_text():
    """They belong to the block."""
    _, reader = stream(Reply(""))
    reader.read({"type": "content_block_start", "index": 9, "content_block": {"type": "text"}})
    for delta in (
        {"type": "text_delta", "text": "yes"},
        {"type": "citations_delta", "citation": {"cited_text": "y"}},
    ):
        assert len(reader.read({"type": "content_block_delta", "index": 9, "delta": delta})) < 2
    assert reader.response().text == "yes"


documents = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["message_start", "content_block_start", "content_block_delta", "content_block_stop",
             "message_delta", "message_stop", "ping", "later"]
        ),
        "index": st.sampled_from([0, 1, "0", None]),
        "message": st.sampled_from([{}, None, 3, {"usage": 1}, {"usage": {"input_tokens": "x"}}]),
        "content_block": st.sampled_from(
            [None, {}, {"type": "text", "text": None}, {"type": "tool_use", "input": 3},
             {"type": "thinking"}, {"type": "later", "citations": 7}]
        ),
        "delta": st.sampled_from(
            [None, {}, {"type": "text_delta", "text": 4}, {"type": "text_delta", "text": "x"},
             {"type": "input_json_delta", "partial_json": "{"}, {"type": "citations_delta"},
             {"type": "signature_delta", "signature": "s"}]
        ),
        "usage": st.sampled_from([None, 4, {"output_tokens": 5}, {"output_tokens": None}]),
    },
)  # fmt: skip


@given(st.lists(documents, max_size=12))
def test_any_stream_is_read_or_refused_with_a_typed_error(sent):
    """A stranger's events never break the reader in another way."""
    reader = AnthropicProvider().stream_reader(LlmPrompt("m", ASK))
    try:
        for document in sent:
            reader.read(document)
        reader.response()
    except ProviderServerError:
        return
