"""Streams of bytes cut into JSON documents, wherever the network cuts them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.llm.streaming import (
    MAX_FRAME_BYTES,
    FrameError,
    JsonLines,
    ServerSentEvents,
)

documents = st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=6)


@given(documents, st.integers(1, 40), st.sampled_from(["\n", "\r\n", "\r"]))
def test_events_are_the_same_wherever_the_bytes_are_cut(sent, size, newline):
    """A document in several data lines; a byte order mark, comments and event names included."""
    text = "\ufeff: ping" + newline * 2
    for document in sent:
        lines = json.dumps(document, indent=1, ensure_ascii=False).split("\n")
        text += f"event: x{newline}" + "".join(f"data: {line}{newline}" for line in lines) + newline
    text += f"data: [DONE]{newline * 2}"
    assert _cut(ServerSentEvents(), text.encode(), size) == sent


def test_an_event_without_data_is_not_a_document():
    """``data`` without a colon is an empty line of data."""
    assert ServerSentEvents().feed(b"data\n\ndata:\n\nevent: ping\n\n") == []
    assert ServerSentEvents().feed(b'data:{"a":\ndata\ndata:1}\n\n') == [{"a": 1}]


@given(documents, st.integers(1, 40))
def test_lines_are_the_same_wherever_the_bytes_are_cut(sent, size):
    """One document a line; the last line may lack its end."""
    text = "\n".join(json.dumps(document) for document in sent)
    assert _cut(JsonLines(), text.encode(), size) == sent


@pytest.mark.parametrize("frames", [JsonLines, ServerSentEvents])
def test_bytes_in_another_format_are_refused(frames):
    """A page of HTML, and JSON that isn't an object."""
    for text in (b"data: <html>\n\n", b"data: [1]\n\n"):
        with pytest.raises(FrameError):
            frames().feed(text.removeprefix(b"data: ") if frames is JsonLines else text)


@pytest.mark.parametrize("frames", [JsonLines, ServerSentEvents])
def test_a_flood_without_an_end_is_refused(frames):
    """The buffer is bounded."""
    with pytest.raises(FrameError, match="too long"):
        frames().feed(b"x" * (MAX_FRAME_BYTES + 1))


def _cut(frames, data, size):
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [document for piece in pieces for document in frames.feed(piece)] + frames.end()
