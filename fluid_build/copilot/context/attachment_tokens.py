"""The tokens of images and documents, which don't depend on the length of their base64.

The estimate doesn't know the provider, so it takes the largest of their figures:

- Anthropic ("Vision"): a token for each patch of 28 by 28 pixels, at most 4,784 for an image.
- OpenAI ("Images and vision"): up to 1.2 tokens for each patch of 32 by 32 pixels. Current models
  don't scale a photo of 12 megapixels down by default, which makes 14,364.
- Google ("Understand and count tokens"): about 1,100 for an image of any size.
- Anthropic ("PDF support"): 1,500 to 3,000 for a page, and at most 600 pages, or 100 where the
  window has 200,000 tokens.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
import zlib
from collections.abc import Iterator

from fluid_build.copilot.context.token_estimate import estimate_tokens
from fluid_build.json_types import JsonObject

UNKNOWN_IMAGE_TOKENS = 4_784
"""For an image of unknown size, such as at a URL."""
LEAST_IMAGE_TOKENS = 1_120
MOST_IMAGE_TOKENS = 15_000
TOKENS_PER_PAGE = 3_000
_UNKNOWN_PAGES = 10
"""For a document behind a URL: a contract or an article has about as many."""
MOST_PAGES = 600
_MOST_GUESSED_PAGES = 100

_PATCH = 28
_BYTES_PER_PAGE = 25_000
"""For a document with pages that can't be counted."""
_HEADER_CHARACTERS = 4 * 32_768
"""Of base64: a JPEG may have a preview before its size."""
_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""The markers of the segments that have the size; the three others are tables."""


def attachment_tokens(block: JsonObject) -> int:
    """Return the tokens of a content block of type ``image`` or ``document``."""
    data, media_type = str(block.get("data") or ""), str(block.get("media_type") or "")
    if block.get("type") == "image":
        return _image_tokens(_decode_base64(data[:_HEADER_CHARACTERS]))
    content = _decode_base64(data)
    if media_type.startswith("text/"):
        return estimate_tokens(content.decode("utf-8", "replace"))
    pages = count_pages(content)
    if pages is not None:
        return min(pages, MOST_PAGES) * TOKENS_PER_PAGE
    guess = math.ceil(len(content) / _BYTES_PER_PAGE) if data else _UNKNOWN_PAGES
    return min(guess, _MOST_GUESSED_PAGES) * TOKENS_PER_PAGE


def is_guess(block: JsonObject) -> bool:
    """Return whether ``attachment_tokens`` is far from certain: a document of unknown length."""
    if block.get("type") == "image":
        return False
    is_text = str(block.get("media_type") or "").startswith("text/")
    data = str(block.get("data") or "")
    return not data or not (is_text or count_pages(_decode_base64(data)) is not None)


def _image_tokens(header: bytes) -> int:
    size = _image_size(header)
    if size is None:
        return UNKNOWN_IMAGE_TOKENS
    width, height = size
    patches = math.ceil(width / _PATCH) * math.ceil(height / _PATCH)
    return min(max(patches, LEAST_IMAGE_TOKENS), MOST_IMAGE_TOKENS)


def _image_size(header: bytes) -> tuple[int, int] | None:
    """Return the pixels of a PNG, GIF or JPEG file; None where its first bytes don't say."""
    try:
        if header.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack_from(">II", header, 16)
        if header.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack_from("<HH", header, 6)
        if header.startswith(b"\xff\xd8"):
            return _jpeg_size(header)
    except struct.error:  # the file is cut off
        pass
    return None


def _jpeg_size(header: bytes) -> tuple[int, int] | None:
    position = 2
    while position < len(header) and header[position] == 0xFF:
        marker, length = struct.unpack_from(">xBH", header, position)
        if marker in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", header, position + 5)
            return width, height
        position += 2 + length
    return None


def _decode_base64(data: str) -> bytes:
    try:
        return base64.b64decode(data[: len(data) // 4 * 4])
    except (binascii.Error, ValueError):  # the provider will say
        return b""


_MAX_STREAM_BYTES = 2 * 1024 * 1024
"""Of one compressed object stream. Writers put some hundred objects into each."""
_MAX_COMPRESSED_BYTES = 64 * 1024 * 1024
_MAX_INFLATED_BYTES = 64 * 1024 * 1024

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGES = re.compile(rb"/Type\s*/Pages(?![A-Za-z])")
_COUNT = re.compile(rb"/Count\s+(\d{1,9})")
_LINEARIZED = re.compile(rb"/Linearized\b[^>]{0,500}?/N\s+(\d{1,9})")
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm(?![A-Za-z])")
_STREAM_START = re.compile(rb">>\s*stream\r?\n")


def count_pages(content: bytes) -> int | None:
    """Return the number of pages of a PDF, or more; None where it can't be known."""
    objects, totals, is_whole = 0, [0], True
    linearized = _LINEARIZED.search(content, 0, 2048)
    if linearized:
        totals.append(int(linearized[1]))
    for text in (content, *_object_streams(content)):
        if text is None:
            is_whole = False
            continue
        objects += len(_PAGE.findall(text))
        totals += _tree_counts(text)
    if not is_whole and max(totals) == 0:
        return None
    return max(objects, *totals) or None


def _tree_counts(text: bytes) -> Iterator[int]:
    """Yield the counts of the page tree's nodes; the root has the number of all pages."""
    nodes = [node.span() for node in _PAGES.finditer(text)]
    edges = [(0, 0), *nodes, (len(text), len(text))]
    for (_, before), (start, end), (after, _) in zip(edges, nodes, edges[2:], strict=False):
        opening = max(text.rfind(b"<<", before, start), before)
        closing = text.find(b">>", end, after)
        counts = _COUNT.findall(text, opening, after if closing < 0 else closing)
        yield from map(int, counts)


def _object_streams(content: bytes) -> Iterator[bytes | None]:
    """Yield the inflated object streams; None for one that can't be read within the bounds."""
    compressed, inflated = _MAX_COMPRESSED_BYTES, _MAX_INFLATED_BYTES
    for dictionary in _OBJECT_STREAM.finditer(content):
        start = _STREAM_START.search(content, dictionary.end(), dictionary.end() + 1024)
        if start is None or compressed <= 0 or inflated <= 0:
            yield None
            return
        limit = start.end() + min(_MAX_STREAM_BYTES, compressed)
        end = content.find(b"endstream", start.end(), limit)
        data = content[start.end() : limit if end < 0 else end]
        compressed -= max(len(data), 1)
        reader = zlib.decompressobj()
        try:
            text = reader.decompress(data, inflated)
        except zlib.error:  # encrypted, or compressed differently
            yield None
            continue
        inflated -= len(text)
        yield text if reader.eof else None
