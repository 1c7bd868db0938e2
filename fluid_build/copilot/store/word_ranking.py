"""Words that a text is searched by, and the ranking of texts by them (Okapi BM25)."""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

_WORD = re.compile(r"[^\W_]+")
_K1 = 1.2
_B = 0.75
"""The usual parameters of BM25 (Robertson and Zaragoza, 2009), which SQLite's FTS5 uses too."""


def words_of(text: str) -> list[str]:
    """Return the runs of letters and digits, case folded and without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))


def with_phrase(phrase: str, texts: Mapping[str, str], limit: int) -> list[str]:
    """Return the keys of the texts that have the words of ``phrase`` in sequence, sorted."""
    sequence = words_of(phrase)
    if not sequence:
        return []
    found = [key for key, text in texts.items() if _spaced(sequence) in _spaced(words_of(text))]
    return sorted(found)[: max(limit, 0)]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def rank(query: str, texts: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Return places and scores of the ``limit`` best texts; in a tie the earlier one is better.

    Texts without a word of the query are left out.
    """
    query_words = set(words_of(query))
    counted = [Counter(words_of(text)) for text in texts]
    lengths = [count.total() for count in counted]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    weights = {
        word: _rarity(sum(word in count for count in counted), len(texts)) for word in query_words
    }
    scores = [
        sum(
            weights[word] * _saturated(count[word], length / average)
            for word in query_words
            if word in count
        )
        for count, length in zip(counted, lengths, strict=True)
    ]
    matched = ((place, score) for place, score in enumerate(scores) if score > 0)
    return heapq.nsmallest(limit, matched, key=lambda match: (-match[1], match[0]))


def _rarity(texts_with_word: int, texts: int) -> float:
    return math.log(1 + (texts - texts_with_word + 0.5) / (texts_with_word + 0.5))


def _saturated(occurrences: int, relative_length: float) -> float:
    return occurrences * (_K1 + 1) / (occurrences + _K1 * (1 - _B + _B * relative_length))
