"""The number of pages of a PDF file, read with bounded work: the file may be a stranger's.

Source: ISO 32000-1, 7.5.7 (object streams), 7.7.3.2 (the page tree's ``/Count``), and annex F
(linearized files).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

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
