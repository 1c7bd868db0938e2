"""The parts of messages: texts, attachments, calls, and blocks that only a provider understands."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import AnswerCutOffError, AnswerRefusedError
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.message_checks import check_message, user_message
from fluid_build.copilot.messages import (
    Attachment,
    ProviderBlock,
    ToolCall,
    answer_parts,
    content_parts,
    provider_blocks,
    read_arguments,
    text_of,
    tool_results,
)
from fluid_build.errors import UsageError

CALLS = (ToolCall("1", "a"), ToolCall("2", "b"))


def test_attachments_stay_in_their_place_between_texts():
    """Order matters: a question may be about the image before it."""
    image = {"type": "image", "media_type": "image/png", "data": "aGk="}
    terms = {"type": "document", "url": "https://x.test/t.pdf", "name": "t.pdf"}
    content = [{"type": "text", "text": "See"}, image, terms, {"type": "text", "text": "Why?"}]
    assert content_parts({"role": "user", "content": content}) == [
        "See",
        Attachment("image", "image/png", "aGk="),
        Attachment("document", url="https://x.test/t.pdf", name="t.pdf"),
        "Why?",
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "input_audio", "data": "aGk="},
        {"type": "image"},
        {"type": "image", "data": "aGk="},
        {"type": "image", "media_type": "image/png", "data": "aGk=", "url": "https://x.test"},
    ],
)
def test_a_block_that_cannot_be_sent_is_refused(block):
    """Nothing is dropped silently."""
    with pytest.raises(UsageError):
        content_parts({"role": "user", "content": [block]})


def test_blocks_of_a_provider_return_in_their_place():
    """Thinking before the text, and between two calls."""
    blocks = (ProviderBlock({"n": 1}), ProviderBlock({"n": 2}, 4, 1))
    response = LlmResponse("Text", CALLS, provider_blocks=blocks, format_name="anthropic")
    message = response.as_message()
    assert answer_parts(message, "anthropic") == [blocks[0], "Text", CALLS[0], blocks[1], CALLS[1]]
    assert provider_blocks(message, "gemini") == []
    assert answer_parts(message, "gemini") == ["Text", *CALLS]


@given(st.text(max_size=9), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=5))
def test_no_part_of_an_answer_is_lost(text, positions):
    """Also where the text was shortened after it was written."""
    blocks = tuple(ProviderBlock({"n": n}, *at) for n, at in enumerate(sorted(positions)))
    message = LlmResponse(text, CALLS, provider_blocks=blocks, format_name="f").as_message()
    parts = answer_parts(message, "f")
    assert "".join(part for part in parts if isinstance(part, str)) == text
    assert [part for part in parts if isinstance(part, ToolCall)] == list(CALLS)
    assert [part for part in parts if isinstance(part, ProviderBlock)] == list(blocks)


@pytest.mark.parametrize(
    ("reason", "error"), [("refused", AnswerRefusedError), ("length", AnswerCutOffError)]
)
def test_an_answer_that_is_not_whole_has_an_error_of_its_own(reason, error):
    """It isn't JSON that breaks a schema; the text so far is in the error."""
    with pytest.raises(error) as caught:
        LlmResponse('{"a": ', stop_reason=reason, model="m").as_json()
    assert (caught.value.text, caught.value.model, caught.value.retryable) == ('{"a": ', "m", False)


IMAGE = {"type": "image", "media_type": "image/png", "data": "aGk="}
TEXT = {"type": "text", "text": "a plot"}


def test_a_result_keeps_its_attachments():
    """To the message and back, in both spellings."""
    message = {"role": "tool", "tool_call_id": "c1", "content": [TEXT, IMAGE]}
    block = {"type": "tool_result", "tool_use_id": "c1", "content": [TEXT, IMAGE]}
    (result,) = tool_results(message)
    assert (result.content, result.attachments) == ("a plot", (Attachment(**_fields(IMAGE)),))
    assert result.as_message() == message
    assert tool_results({"role": "user", "content": [block]}) == [result]


def test_a_result_of_json_is_text():
    """Also where it looks like blocks."""
    content = [{"type": "document", "id": 5}, {"type": "image", "url": "x"}]
    (result,) = tool_results({"role": "tool", "tool_call_id": "c1", "content": content})
    assert (json.loads(result.content), result.attachments) == (content, ())


def test_a_format_of_text_refuses_a_results_attachments():
    """With the provider's name."""
    (result,) = tool_results({"role": "tool", "tool_call_id": "c1", "content": [IMAGE]})
    with pytest.raises(UsageError, match="Ollama takes no image"):
        result.only_text("Ollama")


def _fields(block):
    return {("kind" if name == "type" else name): value for name, value in block.items()}


def test_arguments_nested_too_deeply_to_be_read_stay_raw():
    """A stranger's text doesn't exhaust the stack."""
    text = "[" * 200_000
    assert read_arguments(text) == {"_raw": text}


PNG = b"\x89PNG\r\n\x1a\n"


def test_a_bare_text_among_blocks_is_a_text():
    """In a user's message, and not in a tool's JSON."""
    content = ["What is it?", IMAGE]
    assert content_parts({"role": "user", "content": content})[0] == "What is it?"
    assert text_of({"role": "user", "content": content}) == "What is it?"
    assert text_of({"role": "tool", "content": ["a row"]}) == ""
    assert check_message({"role": "user", "content": content})["content"] == [
        {"type": "text", "text": "What is it?"},
        IMAGE,
    ]


def test_bytes_are_sent_in_base64():
    """Never as their Python notation."""
    block = {"type": "image", "media_type": "image/png", "data": PNG}
    (part,) = content_parts({"role": "user", "content": [block]})
    assert base64.b64decode(part.data) == PNG
    message = check_message({"role": "user", "content": [block]})
    assert message["content"][0]["data"] == part.data


@pytest.mark.parametrize("data", ["%%%", "data:image/png;base64,aGk=", "aGk", "a\nGk=", 5])
def test_data_that_is_not_base64_is_refused(data):
    """Before it is paid for."""
    block = {"type": "image", "media_type": "image/png", "data": data}
    with pytest.raises(UsageError, match="isn't base64"):
        content_parts({"role": "user", "content": [block]})


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": {"type": "image"}},
        {"role": "user", "content": [1]},
        {"role": "user", "content": [None]},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "user", "contents": "hi"},
        {"role": "user"},
        {"role": "user", "content": "hi", "images": ["aGk="]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        {"role": "user", "content": [{**IMAGE, "detail": "high"}]},
        "hi",
    ],
)
def test_a_message_that_would_lose_something_is_refused(message):
    """Whatever the wire format."""
    with pytest.raises(UsageError):
        check_message(message)


@pytest.mark.parametrize("prompt", ["", " \n", [], [""], None, 5, IMAGE, [IMAGE, None]])
def test_a_prompt_must_say_something(prompt):
    """A text, or a list of texts and blocks."""
    with pytest.raises(UsageError):
        user_message(prompt)


def test_a_message_that_is_fine_stays_the_same_object():
    """So that a conversation isn't copied for each turn."""
    for message in (
        {"role": "user", "content": [TEXT, IMAGE]},
        {"role": "assistant", "content": None, "tool_calls": [CALLS[0].as_entry()]},
        {"role": "tool", "tool_call_id": "1", "content": [1]},
        {"role": "assistant", "content": "a", "refusal": None},
    ):
        assert check_message(message) is message


def test_an_answer_that_stopped_for_another_reason_is_cut_off_unless_it_is_whole():
    """Such as Anthropic's ``pause_turn`` in the middle of a structured answer."""
    assert LlmResponse("{}", stop_reason="other").as_json() == {}
    with pytest.raises(AnswerCutOffError, match="another reason"):
        LlmResponse('{"a"', stop_reason="other").as_json()
