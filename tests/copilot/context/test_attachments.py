"""Images, documents and thinking: their tokens, and that clipping never cuts into them."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.context.attachment_tokens import (
    LEAST_IMAGE_TOKENS,
    MOST_IMAGE_TOKENS,
    UNKNOWN_IMAGE_TOKENS,
    attachment_tokens,
    count_pages,
    is_guess,
)
from fluid_build.copilot.context.compaction import CompactionStrategy, compact_messages
from fluid_build.copilot.context.message_clipping import clip_message
from fluid_build.copilot.context.message_parts import guessed_tokens
from fluid_build.copilot.context.summary import transcript
from fluid_build.copilot.context.token_budget import estimate_message_tokens
from fluid_build.copilot.context.window_manager import (
    ContextPruningStrategy,
    ContextWindowManager,
)

NOISE = b"\x00\x9f\x31\xe7" * 100_000


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + NOISE


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + NOISE


def jpeg(width: int, height: int) -> bytes:
    preview = b"\xff\xe1" + struct.pack(">H", 2 + 40_000) + b"x" * 40_000
    size = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 3)
    return b"\xff\xd8" + preview + size + NOISE


def block(kind: str, content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": kind, "media_type": media_type, "data": base64.b64encode(content).decode()}


def photo(width: int = 1000, height: int = 1000) -> dict[str, Any]:
    return block("image", png(width, height))


@pytest.mark.parametrize("write", [png, gif, jpeg])
@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (1000, 1000, 1296),  # Anthropic's own example
        (1920, 1080, 2691),
        (16, 16, LEAST_IMAGE_TOKENS),
        (60_000, 60_000, MOST_IMAGE_TOKENS),
    ],
)
def test_an_image_counts_by_its_pixels(write: Any, width: int, height: int, tokens: int) -> None:
    assert attachment_tokens(block("image", write(width, height))) == tokens


@pytest.mark.parametrize(
    "image",
    [
        {"type": "image", "url": "https://example.com/photo.png"},
        block("image", b"RIFF....WEBP", "image/webp"),
        block("image", b"\x89PNG\r\n\x1a\n"),
        block("image", b"\xff\xd8\xff"),
        {"type": "image", "media_type": "image/png", "data": "not base64, \u00e9"},
    ],
)
def test_an_image_of_unknown_size_counts_for_a_large_one(image: dict[str, Any]) -> None:
    assert attachment_tokens(image) == UNKNOWN_IMAGE_TOKENS


@given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8", b"GIF89a"]))
def test_any_image_has_a_bounded_count(content: bytes, start: bytes) -> None:
    tokens = attachment_tokens(block("image", start + content))
    assert LEAST_IMAGE_TOKENS <= tokens <= MOST_IMAGE_TOKENS


def test_a_document_counts_by_its_pages_or_its_text() -> None:
    pages = b"<< /Type /Pages >>" + b"<< /Type /Page >> endobj" * 3
    assert attachment_tokens(block("document", pages, "application/pdf")) == 9_000
    assert attachment_tokens(block("document", b"word " * 70, "text/plain")) == 100
    known = [pages, object_stream(PAGE * 5)]
    assert not any(is_guess(block("document", content, "application/pdf")) for content in known)


def test_a_document_of_unknown_length_counts_by_its_size() -> None:
    scan = block("document", b"x" * 60_000, "application/pdf")
    large = block("document", b"y" * 10**7, "application/pdf")
    address = {"type": "document", "url": "https://example.com/a.pdf"}
    assert [attachment_tokens(b) for b in (scan, large, address)] == [9_000, 300_000, 30_000]
    assert all(map(is_guess, (scan, large, address)))
    message = {"role": "user", "content": [{"type": "text", "text": "Read."}, scan, photo()]}
    assert guessed_tokens([message]) == 9_000


PAGE = b"<< /Type /Page /Parent 2 0 R >> "


def object_stream(objects: bytes, *, damage: int = 0) -> bytes:
    data = zlib.compress(objects)[damage:]
    dictionary = b"<< /Type /ObjStm /N 9 /Filter /FlateDecode >>"
    return b"%PDF-1.7\n1 0 obj " + dictionary + b" stream\n" + data + b"\nendstream endobj\n"


TREE = b"<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 60 >>"
PDFS = {
    "plain": (PAGE * 7, 7),
    "compressed": (object_stream(PAGE * 60) + object_stream(PAGE * 4), 64),
    "the tree's count": (TREE + object_stream(PAGE, damage=3), 60),
    "the tree is compressed too": (object_stream(TREE) + object_stream(PAGE, damage=3), 60),
    "count before the type": (b"<< /Count 8 /Kids [] /Type /Pages >>", 8),
    "an outline's count": (b"<< /Type /Outlines /Count 90 >>" + PAGE * 2, 2),
    "linearized": (b"%PDF-1.5 <</Linearized 1/L 99/N 33>>" + object_stream(PAGE, damage=3), 33),
    "encrypted": (PAGE + object_stream(PAGE * 9, damage=3), None),
    "cut off": (object_stream(PAGE * 900)[:-40], None),
    "no PDF": (b"PK\x03\x04", None),
}


@pytest.mark.parametrize(("content", "pages"), PDFS.values(), ids=PDFS)
def test_a_pdfs_pages_are_counted_where_they_can_be(content: bytes, pages: int | None) -> None:
    assert count_pages(content) == pages


@pytest.mark.parametrize(
    "content",
    [
        object_stream(bytes(10**8)),
        object_stream(bytes(10**7)) * 30,
        b"/Type /ObjStm >> stream\n" * 200_000,
        b"<< /Type /Pages " * 500_000,
        b"<< /Type /Pages /Count " * 300_000,
        b"/Linearized " * 500_000,
    ],
    ids=["a bomb", "many bombs", "no streams", "no tree", "no counts", "not linearized"],
)
@pytest.mark.timeout(60)
def test_counting_pages_takes_bounded_work(content: bytes) -> None:
    assert count_pages(content) is None


@given(st.binary(max_size=300))
def test_any_bytes_have_a_count_or_none(content: bytes) -> None:
    for wrapped in (content, object_stream(content), TREE + content):
        assert (count_pages(wrapped) or 1) >= 1


def test_a_message_counts_its_image_and_not_the_base64() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, photo()]}
    assert 1296 < estimate_message_tokens(message) < 1350
    manager = ContextWindowManager(max_tokens=2000)
    assert 1296 < manager.create_window([message]).current_tokens < 1400


RESULTS = [
    lambda content: {"role": "tool", "tool_call_id": "c", "content": content},
    lambda content: {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}],
    },
]


@pytest.mark.parametrize("result", RESULTS)
def test_an_image_in_a_tools_result_counts_by_its_pixels(result: Any) -> None:
    message = result([{"type": "text", "text": "The chart:"}, photo()])
    assert 1296 < estimate_message_tokens(message) < 1350


@pytest.mark.parametrize("result", RESULTS)
def test_a_tools_own_json_counts_as_the_text_that_is_sent(result: Any) -> None:
    message = result([{"type": "row"}, photo()])
    assert estimate_message_tokens(message) > 100_000


@given(st.integers(0, 20_000))
def test_clipping_leaves_an_image_whole_or_leaves_it_out(limit: int) -> None:
    image = {**photo(), "name": "stock.png"}
    message = {"role": "user", "content": [{"type": "text", "text": "word " * 1000}, image]}
    clipped = clip_message(message, limit)["content"]
    note = {"type": "text", "text": "[image stock.png left out]"}
    assert clipped[1] in (image, note)
    assert (clipped[1] == image) is (limit >= int(1296 * 3.5))


@pytest.mark.parametrize("strategy", list(ContextPruningStrategy))
def test_a_long_text_is_clipped_before_its_image_is_left_out(
    strategy: ContextPruningStrategy,
) -> None:
    image = photo()
    message = {"role": "user", "content": [{"type": "text", "text": "word " * 30_000}, image]}
    manager = ContextWindowManager(max_tokens=6000, pruning_strategy=strategy)
    window = manager.add_message(manager.create_window(), message)
    content: Any = window.messages[0]["content"]
    assert content[1] == image
    assert "characters left out" in content[0]["text"]
    assert window.current_tokens <= 6000


def thinking(text: str, signature: str = "c2ln" * 500) -> dict[str, Any]:
    block = {"type": "thinking", "thinking": text, "signature": signature}
    return {"format": "anthropic", "blocks": [{"block": block, "after_text": 0, "after_calls": 0}]}


def exchange(number: int, size: int = 20) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "name": "read", "arguments": {"n": number}}
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call],
            "provider_blocks": thinking(f"think {number}"),
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": "row " * size},
    ]


def test_a_signature_counts_as_the_thinking_that_it_seals() -> None:
    message = exchange(1)[0]
    assert 500 < estimate_message_tokens(message) < 700
    assert 500 < ContextWindowManager().create_window([message]).current_tokens < 750


@pytest.mark.parametrize("strategy", list(ContextPruningStrategy))
def test_pruning_keeps_the_thinking_of_the_current_loop_unchanged(
    strategy: ContextPruningStrategy,
) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Compare the tables."}]
    for number in range(8):
        messages += exchange(number, size=600)
    manager = ContextWindowManager(max_tokens=4000, pruning_strategy=strategy)
    window = manager.create_window(messages)
    assert window.metadata["prunings"] == 1
    answers = [m for m in window.messages if m["role"] == "assistant"]
    assert answers
    for answer in answers:
        assert answer in messages or answer["provider_blocks"] in [
            m.get("provider_blocks") for m in messages
        ]


def test_thinking_of_earlier_turns_goes_first() -> None:
    """The provider doesn't need it any more, and everything that people said stays whole."""
    first = [{"role": "user", "content": "Compare the tables."}, *exchange(1), *exchange(2)]
    messages = [*first, {"role": "user", "content": "And now?"}, *exchange(3)]
    limit = sum(map(estimate_message_tokens, messages)) - 900
    compacted = compact_messages(
        messages, max_tokens=limit, strategy=CompactionStrategy.TRUNCATE, keep_tail=1
    )
    plain = [{k: v for k, v in m.items() if k != "provider_blocks"} for m in first]
    assert compacted == [*plain, *messages[len(first) :]]
    window = ContextWindowManager(limit, pruning_threshold=1.0).create_window(messages)
    assert window.messages == compacted


def test_a_summary_mentions_what_was_attached() -> None:
    image = {**photo(), "name": "stock.png"}
    message = {"role": "user", "content": [{"type": "text", "text": "Look."}, image]}
    assert transcript([message]) == "user: Look.\nuser attached: image stock.png"
