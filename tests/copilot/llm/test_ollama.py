"""Ollama's requests and answers: options, thinking, images, structured answers, streams."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.ollama import OllamaProvider
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from tests.copilot.llm.official_types import check_ollama as check
from tests.fault_server import Reply
from tests.fault_server.wire import FORMATS

ASK = [{"role": "user", "content": "Find the key."}]
TOOL = {
    "name": "read_rows",
    "description": "Reads rows.",
    "input_schema": {"type": "object", "properties": {"table": {"type": "string"}}},
}
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}


def body(messages=ASK, **options):
    return OllamaProvider().build_request(LlmPrompt("llama3.2", messages, **options)).body


def read(document, **options):
    return OllamaProvider().parse_response(document, LlmPrompt("llama3.2", ASK, **options))


def test_the_context_length_is_ours_to_guess_and_the_users_to_set():
    """All options are within reach, next to those that the prompt sets."""
    assert body()["options"] == {"num_predict": 4096, "num_ctx": 8192}
    sent = body(extra={"options": {"num_ctx": 1024, "seed": 7}}, temperature=0.1)
    assert sent["options"] == {"num_predict": 4096, "temperature": 0.1, "num_ctx": 1024, "seed": 7}
    check(sent)


def test_extra_reaches_the_other_settings():
    """How long the model stays, and whether it thinks."""
    sent = body(extra={"keep_alive": "10m", "think": "high"})
    assert (sent["keep_alive"], sent["think"]) == ("10m", "high")
    check(sent)


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ({"model": "llama3:405b"}, "model"),
        ({"stream": True}, "stream"),
        ({"messages": []}, "messages"),
        ({"options": {"num_predict": -1}}, "options.num_predict"),
        ({"options": 3}, "options"),
        ({"format": "json"}, "format"),
    ],
)
def test_extra_replaces_nothing_else(extra, name):
    """What the prompt sets is refused by name."""
    with pytest.raises(UsageError, match=rf"extra\.{name} would replace"):
        body(extra=extra, response_schema=SCHEMA)


def test_a_schema_is_the_format_unless_there_are_tools():
    """With tools, it is an instruction: the format would keep the model from calling them."""
    assert body(response_schema=SCHEMA)["format"] == SCHEMA
    sent = body(response_schema=SCHEMA, tools=[TOOL])
    assert "format" not in sent
    assert json.dumps(SCHEMA) in sent["messages"][0]["content"]
    check(sent)


def test_there_is_one_system_message_in_front():
    """Some models' templates refuse another; a later one stays where it is."""
    talk = [{"role": "system", "content": "Be exact."}, *ASK, {"role": "system", "content": "Now."}]
    sent = body(talk, system="You model.", tools=[TOOL], response_schema=SCHEMA)
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "system"]
    assert sent["messages"][0]["content"].startswith("You model.\n\nBe exact.\n\nWhen you need")


def test_thinking_and_calls_make_the_round():
    """Through JSON, as a checkpoint saves them; the thinking is sent back as it came."""
    calls = [{"id": "c1", "function": {"index": 0, "name": "read_rows", "arguments": {"a": 1}}}]
    message = {
        "role": "assistant",
        "content": "Let me look.",
        "thinking": "hm",
        "tool_calls": calls,
    }
    response = read({"message": message, "done": True, "done_reason": "stop"})
    assert (response.thinking, response.stop_reason) == ("hm", "tool_calls")
    assert response.tool_calls == (ToolCall("c1", "read_rows", {"a": 1}),)
    saved = json.loads(json.dumps(response.as_message()))
    result = {"role": "tool", "tool_call_id": "c1", "content": "1"}
    sent = body([*ASK, saved, result])
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": "Let me look.",
            "thinking": "hm",
            "tool_calls": [{"function": {"name": "read_rows", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_name": "read_rows", "content": "1"},
    ]
    check(sent)


def test_thinking_of_another_format_is_not_sent():
    """Only its own provider understands it."""
    blocks = {"format": "anthropic", "blocks": [{"block": {"type": "thinking", "thinking": "a"}}]}
    sent = body([*ASK, {"role": "assistant", "content": "a", "provider_blocks": blocks}])
    assert sent["messages"][1] == {"role": "assistant", "content": "a"}


def test_thinking_alone_goes_back_too():
    """A model may stop before it says anything."""
    message = read({"message": {"thinking": "hm"}, "done": True}).as_message()
    sent = body([*ASK, message, *ASK])
    assert sent["messages"][1] == {"role": "assistant", "content": "", "thinking": "hm"}


def test_images_are_sent_and_counted_as_images():
    """Their bytes are no text that would need a context of their own."""
    image = {"type": "image", "media_type": "image/png", "data": "aGlo" * 30_000}
    sent = body([{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}])
    assert sent["messages"] == [
        {"role": "user", "content": "What is it?", "images": [image["data"]]}
    ]
    assert sent["options"]["num_ctx"] <= 16_384
    check(sent)


def test_a_result_has_its_images_next_to_its_text():
    """As any message."""
    call = {"id": "c1", "name": "plot", "arguments": {}}
    image = {"type": "image", "media_type": "image/png", "data": "aGk="}
    talk = [
        *ASK,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [image]},
    ]
    sent = body(talk)
    assert sent["messages"][2] == {
        "role": "tool",
        "tool_name": "plot",
        "content": "",
        "images": ["aGk="],
    }
    check(sent)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "document", "media_type": "text/plain", "data": "aGk="}, "only images"),
        ({"type": "image", "url": "https://example.com/a.png"}, "doesn't fetch"),
    ],
)
def test_other_attachments_are_refused(block, words):
    """With what the server takes."""
    with pytest.raises(UsageError, match=words):
        body([{"role": "user", "content": [block]}])


@pytest.mark.parametrize(
    ("reason", "stop"), [("stop", "end"), ("length", "length"), ("load", "other")]
)
def test_each_reason_to_stop_has_its_meaning(reason, stop):
    """The server's own words."""
    document = {"message": {"content": "a"}, "done": True, "done_reason": reason}
    assert read(document).stop_reason == stop


def test_no_model_is_the_fast_one():
    """Only what was pulled is there."""
    assert OllamaProvider.fast_model is None


replies = st.builds(
    Reply,
    text=st.text(max_size=20),
    tool_calls=st.lists(
        st.builds(
            ToolCall, st.sampled_from(["c1", ""]), st.just("read_rows"), st.just({"table": "ä"})
        ),
        max_size=2,
    ),
    usage=st.sampled_from([None, Usage(12, 3)]),
    stop_reason=st.sampled_from(["end", "length"]),
    thinking=st.text(max_size=20),
)


@given(replies)
def test_a_streamed_answer_equals_the_same_in_one_piece(reply):
    """And its events add up to it."""
    provider, wire, asked = OllamaProvider(), FORMATS["ollama"], LlmPrompt("m", ASK)
    whole = provider.parse_response(wire.reply(reply, {}), asked)
    reader, frames = provider.stream_reader(asked), provider.stream_frames()
    documents = [d for chunk in wire.stream(reply, {}) for d in frames.feed(chunk)]
    events = [event for document in documents for event in reader.read(document)]
    assert reader.is_complete
    assert reader.response() == whole
    assert text_of(events, "TextEvent") == whole.text
    assert text_of(events, "ThinkingEvent") == whole.thinking
    assert [e.call for e in events if type(e).__name__ == "ToolCallEvent"] == [*whole.tool_calls]
    assert reader.usage == whole.usage


def text_of(events, kind):
    return "".join(event.text for event in events if type(event).__name__ == kind)


def test_a_streamed_request_differs_only_in_the_stream():
    """Lines of JSON instead of one object."""
    provider, asked = OllamaProvider(), LlmPrompt("m", ASK, tools=[TOOL])
    plain, streamed = provider.build_request(asked).body, provider.stream_request(asked).body
    assert (plain.pop("stream"), streamed.pop("stream")) == (False, True)
    assert plain == streamed


def test_an_option_outside_of_options_is_refused():
    """The server ignores fields that it doesn't know."""
    with pytest.raises(UsageError, match="no field 'temperature'"):
        OllamaProvider().build_request(LlmPrompt("m", [], extra={"temperature": 1}))
