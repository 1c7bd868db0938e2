"""The words of a column's or table's name, and the concepts that they mean."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from fluid_build.lexicon import fold, meanings

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_FEWEST_GLUED_LETTERS = 5
"""Shorter words aren't split: they are one word, or an abbreviation."""
_LONGEST_PREFIX = 8
"""Letters of an unknown prefix in front of known words (``custemail``)."""
_SHORT_PREFIX = 5
_LONG_SUFFIX = 7
"""A longer prefix is a word of its own, so that more must be known after it (``recordholder``)."""
_SHORT_WORD = 3
"""Words of up to so many letters cost more, since they are found by accident."""
_ENDS_OF_OTHERS = frozenset(
    {"bdate", "bday", "fname", "lname", "uname", "bdt", "adi", "ad", "nam", "adr", "cim"}
    | {"nation", "nazione"}
)
"""Words that never follow an unknown prefix, as their letters end other words (``download``,
``termination``)."""
_ENOUGH_LETTERS = 6
"""Letters of known words that make up for an unknown prefix."""
_DISTINCT_WORDS = frozenset(
    {"phone", "email", "addr", "name", "city", "state", "date", "code", "birth", "login", "token"}
)
"""Shorter words that are distinct enough after an unknown prefix."""
_TABLE_PREFIXES = frozenset({"t", "tb", "tbl"})
_LONGEST_NAME = 128
"""Characters of a name that are read; what follows adds nothing."""


@dataclass(frozen=True, slots=True)
class NameConcepts:
    """A name's words in order, the concepts they mean, and the words without one."""

    words: tuple[str, ...]
    concepts: frozenset[str]
    unknown: tuple[str, ...]


@lru_cache(maxsize=65536)
def read_concepts(name: str) -> NameConcepts:
    """Return the words and concepts of a name in camelCase, snake_case, UPPER or glued together."""
    tokens = _join([token.lower() for token in _TOKEN.findall(fold(name[:_LONGEST_NAME]))])
    words = [word for token in tokens for word in _split(token)]
    known = meanings()
    concepts = {known[word] for word in words if word in known}
    unknown = tuple(word for word in words if word not in known and not word.isdigit())
    return NameConcepts(tuple(words), frozenset(concepts), unknown)


def _join(tokens: list[str]) -> list[str]:
    """Join neighbours that make one known word together: first + name."""
    joined: list[str] = []
    start = 0
    while start < len(tokens):
        for width in (3, 2):
            word = "".join(tokens[start : start + width])
            if start + width <= len(tokens) and word in meanings():
                break
        else:
            width, word = 1, tokens[start]
        joined.append(word)
        start += width
    return joined


def _split(token: str) -> list[str]:
    if token.isdigit() or token in meanings():
        return [token]
    if token.endswith("s") and token[:-1] in meanings():
        return [token[:-1]]
    if len(token) < _FEWEST_GLUED_LETTERS and token.isascii():
        return [token]
    return _unglue(token) or [token]


@lru_cache(maxsize=65536)
def _unglue(token: str) -> list[str]:
    """Return the known words that make up a glued token, after at most a short unknown prefix.

    Of all ways to split it, the one with the fewest words and the shortest prefix wins. A single
    short word after an unknown prefix proves nothing: "hotel" holds no telephone number.
    """
    known_words, longest = meanings(), _longest_word()
    best: list[tuple[int, list[str]] | None] = [None] * (len(token) + 1)
    for start in range(min(_LONGEST_PREFIX, len(token) - 1) + 1):
        best[start] = (start, [token[:start]] if start else [])
    for end in range(1, len(token) + 1):
        for start in range(max(0, end - longest), end):
            before = best[start]
            if before is None or token[start:end] not in known_words:
                continue
            if token[start:end] in _ENDS_OF_OTHERS and _proves_nothing(before[1]):
                continue
            cost = before[0] + 2 + (end - start <= _SHORT_WORD)
            known = best[end]
            if known is None or cost < known[0]:
                best[end] = (cost, [*before[1], token[start:end]])
    return _credible_words(best[len(token)])


@cache
def _longest_word() -> int:
    return max(map(len, meanings()))


def _proves_nothing(words: list[str]) -> bool:
    """Return whether the only word before is unknown, or as short as some word always is."""
    return len(words) == 1 and (words[0] not in meanings() or len(words[0]) < _SHORT_WORD)


def _credible_words(split: tuple[int, list[str]] | None) -> list[str]:
    """Return the words of a split, nothing if its known words could be there by accident."""
    if split is None:
        return []
    words = split[1]
    known = [word for word in words if word in meanings()]
    covered = sum(map(len, known))
    if not known:
        return []
    if len(known) == len(words):
        return words
    is_long = len(words[0]) > _SHORT_PREFIX
    if is_long and (covered < _LONG_SUFFIX or len(known[0]) <= _SHORT_WORD):
        return []
    is_credible = (
        covered >= _ENOUGH_LETTERS - (words[0] in _TABLE_PREFIXES)
        or known[0] in _DISTINCT_WORDS
        or not known[0].isascii()
    )
    return words if is_credible else []
