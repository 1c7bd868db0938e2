"""Names of columns and tables, taken apart into words and the concepts that the words stand for."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from fluid_build.profiling.semantic_types.lexicons import CONCEPT_OF

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "œ": "oe", "ł": "l", "Ł": "L", "đ": "d"}
)
_GLUED_MIN = 5
_PREFIX_MAX = 5
_SHORT = 3
_ABBREVIATIONS = frozenset(
    {"bdate", "bday", "fname", "lname", "uname", "bdt", "adi", "ad", "nam", "adr", "cim"}
)
_STURDY = 6
_STURDY_WORDS = frozenset(
    {"phone", "email", "addr", "name", "city", "state", "date", "code", "birth", "login", "token"}
)
_TABLE_PREFIXES = frozenset({"t", "tb", "tbl"})
_LONGEST = max(map(len, CONCEPT_OF))


@dataclass(frozen=True, slots=True)
class NameConcepts:
    """A name's words in order, the concepts they stand for, and the words nothing is known of."""

    words: tuple[str, ...]
    concepts: frozenset[str]
    unknown: tuple[str, ...]


def without_accents(text: str) -> str:
    """Text with its letters freed of accents, in the same case."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=65536)
def read_concepts(name: str) -> NameConcepts:
    """The words and concepts of a name in camelCase, snake_case, UPPER or glued together."""
    tokens = _join([token.lower() for token in _TOKEN.findall(without_accents(name[:128]))])
    words = [word for token in tokens for word in _split(token)]
    concepts = {CONCEPT_OF[word] for word in words if word in CONCEPT_OF}
    unknown = tuple(word for word in words if word not in CONCEPT_OF and not word.isdigit())
    return NameConcepts(tuple(words), frozenset(concepts), unknown)


def _join(tokens: list[str]) -> list[str]:
    """Neighbours that make one known word together become that word: first + name."""
    joined: list[str] = []
    at = 0
    while at < len(tokens):
        for width in (3, 2):
            word = "".join(tokens[at : at + width])
            if at + width <= len(tokens) and word in CONCEPT_OF:
                break
        else:
            width, word = 1, tokens[at]
        joined.append(word)
        at += width
    return joined


def _split(token: str) -> list[str]:
    if token.isdigit() or token in CONCEPT_OF:
        return [token]
    if token.endswith("s") and token[:-1] in CONCEPT_OF:
        return [token[:-1]]
    if len(token) < _GLUED_MIN and token.isascii():
        return [token]
    return _unglue(token) or [token]


@lru_cache(maxsize=65536)
def _unglue(token: str) -> list[str]:
    """The known words that make up a glued token, after a short unknown prefix at most.

    Of all ways to cut it the one with the fewest words and the shortest prefix wins. A single short
    word at the end of an unknown prefix proves nothing: "hotel" holds no telephone.
    """
    best: list[tuple[int, list[str]] | None] = [None] * (len(token) + 1)
    for start in range(min(_PREFIX_MAX, len(token) - 1) + 1):
        best[start] = (start, [token[:start]] if start else [])
    for end in range(1, len(token) + 1):
        for start in range(max(0, end - _LONGEST), end):
            before = best[start]
            if before is None or token[start:end] not in CONCEPT_OF:
                continue
            if token[start:end] in _ABBREVIATIONS and _only_unknown(before[1]):
                continue
            cost = before[0] + 2 + (end - start <= _SHORT)
            known = best[end]
            if known is None or cost < known[0]:
                best[end] = (cost, [*before[1], token[start:end]])
    return _worth_cutting(best[len(token)])


def _only_unknown(words: list[str]) -> bool:
    return len(words) == 1 and words[0] not in CONCEPT_OF


def _worth_cutting(cut: tuple[int, list[str]] | None) -> list[str]:
    if cut is None:
        return []
    words = cut[1]
    known = [word for word in words if word in CONCEPT_OF]
    covered = sum(map(len, known))
    if not known:
        return []
    if len(known) == len(words):
        return words
    sturdy = (
        covered >= _STURDY - (words[0] in _TABLE_PREFIXES)
        or known[0] in _STURDY_WORDS
        or not known[0].isascii()
    )
    return words if sturdy else []
