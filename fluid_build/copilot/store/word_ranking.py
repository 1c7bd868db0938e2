"""Splits text into the words that it is searched by, and ranks texts by them (Okapi BM25)."""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_K1 = 1.2
_B = 0.75


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, folded in case and without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))


def rank(query: str, texts: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Places and scores of the ``limit`` texts that fit ``query`` best; those that do not at all
    are left out. Ties go to the earlier text.
    """
    wanted = set(words_of(query))
    counted = [Counter(words_of(text)) for text in texts]
    lengths = [count.total() for count in counted]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    weights = {
        word: _rarity(sum(word in count for count in counted), len(texts)) for word in wanted
    }
    scores = [
        sum(
            weights[word] * _saturated(count[word], length / average)
            for word in wanted
            if word in count
        )
        for count, length in zip(counted, lengths, strict=True)
    ]
    matched = ((place, score) for place, score in enumerate(scores) if score > 0)
    return heapq.nsmallest(limit, matched, key=lambda found: (-found[1], found[0]))


def _rarity(texts_with_word: int, texts: int) -> float:
    return math.log(1 + (texts - texts_with_word + 0.5) / (texts_with_word + 0.5))


def _saturated(occurrences: int, relative_length: float) -> float:
    return occurrences * (_K1 + 1) / (occurrences + _K1 * (1 - _B + _B * relative_length))
