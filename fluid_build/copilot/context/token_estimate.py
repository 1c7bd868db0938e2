"""An estimate of the tokens in a text, without a vocabulary.

The floor is the documented length / 3.5, which fits prose. Data has more tokens than that: some
vocabularies give each digit its own token, and random letters, accents and scripts other than Latin
are cut into pieces. So the characters are also counted by class, and each class has a weight.

The weights are the solution of a linear program: the smallest that don't fall short of any of the
vocabularies of ``bench/token_estimates.py`` (cl100k, o200k, Claude 2, DeepSeek and Mistral's
tekken) on any of its kinds of text, nor on files of code, SQL and prose, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

CHARS_PER_TOKEN = 3.5

_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of a UTF-8 character after its first, which says enough about its script."""

_ASCII: tuple[tuple[bytes, Iterable[int], float], ...] = (
    (b"w", [*range(32), 127], 1.0),  # line breaks, tabs, controls
    (b"_", b" ", 0.1),  # mostly a part of the word after it
    (b".", range(33, 127), 0.75),  # signs, but for those below
    (b"0", b"0123456789", 1.0),
    (b"A", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0.45),
    (b"a", b"abcdefghijklmnopqrstuvwxyz", 0.27),
)
"""Classes of characters: the byte that replaces them, their first bytes, and tokens for each."""

_SEAMS: tuple[tuple[bytes, bytes, float], ...] = (
    (b"A", b"aA", 1.5),
    (b"0", b"a0", 0.85),
    (b"0", b"A0", 0.85),
    (b"0", b"0a", 1.5),
    (b"0", b"0A", 1.5),
    (b"0", b".0", 1.1),
)
"""The rarer class of a pair, the pair, and the tokens to add: frequent in ids, rare in words."""

_SCRIPTS: tuple[tuple[bytes, Iterable[int], float], ...] = (
    (b"1", range(0xC0, 0xC4), 4.2),  # Latin-1: an accent cuts a word into pieces
    (b"2", range(0xC4, 0xC6), 5.9),  # Latin Extended-A
    (b"3", [*range(0xC6, 0xCE), *range(0xD2, 0xD6), *range(0xDC, 0xE0)], 1.7),
    (b"g", range(0xCE, 0xD0), 1.4),  # Greek
    (b"c", range(0xD0, 0xD2), 0.65),  # Cyrillic
    (b"h", range(0xD6, 0xD8), 1.25),  # Hebrew
    (b"b", range(0xD8, 0xDC), 1.25),  # Arabic
    (b"i", [0xE0], 1.9),  # Indic scripts and Thai
    (b"s", [0xE2], 2.9),  # signs and symbols
    (b"j", [0xE3], 3.0),  # kana, corrected below, and rare Chinese characters
    (b"z", range(0xE4, 0xEA), 2.5),  # Chinese characters
    (b"k", range(0xEA, 0xEE), 2.75),  # Hangul
    (b"x", [0xE1, 0xEE, 0xEF], 3.0),
    (b"4", range(0xF0, 0x100), 4.0),  # emoji, and scripts that hardly anybody writes
)

_KANA = (b"\xe3\x80", b"\xe3\x81", b"\xe3\x82", b"\xe3\x83")
"""The first two bytes of kana and of the punctuation between them."""
_LESS_FOR_KANA = 2.4


def _class_table() -> bytes:
    table = bytearray(256)
    for name, first_bytes, _ in (*_ASCII, *_SCRIPTS):
        for byte in first_bytes:
            table[byte] = name[0]
    return bytes(table)


_CLASSES = _class_table()


def estimate_tokens(text: str) -> int:
    """Return the tokens in ``text``, too many rather than too few; 0 for the empty text.

    Never less than length / 3.5, and never more than the bytes: a token has at least one.
    """
    data = text.encode("utf-8", "surrogatepass")
    classes = data.translate(_CLASSES, _CONTINUATION)
    tokens = 0.0
    absent = b""
    for name, _, weight in _ASCII:
        if number := classes.count(name):
            tokens += number * weight
        else:
            absent += name
    for rarer, seam, weight in _SEAMS:
        if rarer not in absent:
            tokens += classes.count(seam) * weight
    if len(data) > len(text):
        for name, _, weight in _SCRIPTS:
            tokens += classes.count(name) * weight
        tokens -= sum(map(data.count, _KANA)) * _LESS_FOR_KANA
    return math.ceil(max(len(text) / CHARS_PER_TOKEN, min(tokens, len(data))))
