"""How similar the words and phrases of two names are.

Scores run from 0 to 1. They rank candidates and prove nothing; what they are worth for keys and
references is in ``NameWeights``.
"""

from functools import lru_cache

from fluid_build.lexicon import Concept, terms
from fluid_build.profiling.names.words import Words, singular

_ENTITIES: tuple[Concept, ...] = (
    "customer", "employee", "seller", "product", "supplier", "store", "order", "town", "doctor",
    "human", "firm", "author",
)  # fmt: skip
"""What several words may name."""
ABBREVIATED = 0.9
"""``cust`` for ``customer``: nearly certain, though ``cont`` fits contact and contract."""
_SYNONYM = 0.5
"""``client`` for ``customer``: often another table of the same schema."""
_INFLECTED = 0.7
"""``pracownika`` for ``pracownicy``: languages that inflect change the end of a noun."""
_STEM_SHARE = 0.6
"""The share of both words that their common beginning must have to be their stem."""
_MOST_ENDING_LETTERS = 3
"""Letters of an inflection; longer endings make another word."""
_DERIVED_ENDINGS = frozenset("ed er or al ly ing ion ions ive ent ant ist ity ble ic ics".split())
"""Endings that make another word of an English one: ``production``, ``producer``."""
_PARTICIPLE_ENDINGS = frozenset({"ed", "ing"})
"""``ordered`` is what was done, not the order."""
_PHRASE_ABBREVIATED = 0.85
"""``custaddr`` for ``customer address``: any short word fits some phrase, so less than one word."""
_GLUED = 0.9
"""``fromcurrency`` for ``currency``: the letters agree, the break between the words is a guess."""
_FEWEST_GLUED_LETTERS = 4
"""Shorter endings occur in many unrelated words."""
FEWEST_STEM_LETTERS = 4
"""Shorter beginnings are shared by unrelated words (``con``, ``pro``)."""


def abbreviates(short: str, long: str) -> bool:
    """Return whether one word is short for another: its beginning, or its consonants in order."""
    if len(short) < 2 or len(short) >= len(long) or short[0] != long[0]:
        return False
    ending = long.removeprefix(short)
    if ending in _PARTICIPLE_ENDINGS or (ending == "d" and short[-1] == "e"):
        return False
    if len(short) >= 3 and long.startswith(short):
        return True
    if len(short) >= 3 and not set(short[1:]) & set("aeiou"):
        return _is_subsequence(short, long)
    # With vowels in between, four letters and the same last one are needed: "cat" isn't "count".
    if len(short) < 4 or long.endswith(short) or short[-1] != long[-1]:
        return False
    return _is_subsequence(short, long)


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


@lru_cache(maxsize=200_000)
def synonyms(word: str) -> frozenset[str]:
    """Return the words that may mean the same entity."""
    return frozenset(other for name in _ENTITIES if word in terms(name) for other in terms(name))


@lru_cache(maxsize=200_000)
def word_similarity(left: str, right: str) -> float:
    """Return how similar two words are: 1 for the same word in the singular or the plural."""
    if left == right or singular(left) == singular(right):
        return 1.0
    if abbreviates(left, right) or abbreviates(right, left):
        return ABBREVIATED
    return max(_SYNONYM if right in synonyms(left) else 0.0, _inflection_similarity(left, right))


def _inflection_similarity(left: str, right: str) -> float:
    """Return how likely two words are forms of one: ``cliente`` and ``clienti``.

    English derivations (``order``, ``ordering``) are words of their own.
    """
    pairs = enumerate(zip(left, right, strict=False))
    shared = next((place for place, (a, b) in pairs if a != b), min(len(left), len(right)))
    endings = left[shared:], right[shared:]
    if shared >= FEWEST_STEM_LETTERS and all(e in {"a", "e", "i", "o", "u"} for e in endings):
        return ABBREVIATED
    is_long = shared > FEWEST_STEM_LETTERS and shared >= _STEM_SHARE * max(len(left), len(right))
    if not is_long or not all(0 < len(e) <= _MOST_ENDING_LETTERS for e in endings):
        return 0.0
    return 0.0 if not _DERIVED_ENDINGS.isdisjoint(endings) else _INFLECTED


@lru_cache(maxsize=200_000)
def phrase_similarity(left: Words, right: Words) -> float:
    """Return how similar two phrases are, word by word or as a glued abbreviation."""
    if not left or not right:
        return 0.0
    if left == right or "".join(left) == "".join(right):
        return 1.0
    if len(left) == len(right):
        score = 1.0
        for left_word, right_word in zip(left, right, strict=True):
            score = min(score, word_similarity(left_word, right_word))
        if score:
            return score
    if len(left) == 1 and abbreviates_phrase(left[0], right):
        return _PHRASE_ABBREVIATED
    if len(right) == 1 and abbreviates_phrase(right[0], left):
        return _PHRASE_ABBREVIATED
    return 0.0


def abbreviates_phrase(short: str, phrase: Words) -> bool:
    """Return whether a word is glued from beginnings of all words of the phrase, in order."""
    if len(phrase) < 2 or len(short) < 2 or phrase[0].startswith(short):
        return False
    ends = {0}
    for word in phrase:
        ends = {
            end + size
            for end in ends
            for size in range(1, len(word) + 1)
            if short.startswith(word[:size], end)
        }
    return len(short) in ends


@lru_cache(maxsize=200_000)
def ending_similarity(phrase: Words, tail: Words) -> float:
    """Return how well a longer phrase ends with another: ``ship to address`` with ``address``."""
    if not tail or not phrase:
        return 0.0
    if len(phrase) > len(tail):
        similarity = phrase_similarity(phrase[-len(tail) :], tail)
        if similarity:
            return similarity
    if len(phrase) > 1 and len(tail) > 1 and abbreviates_phrase(phrase[-1], tail):
        return _PHRASE_ABBREVIATED
    return _GLUED if _is_glued_to("".join(phrase), "".join(tail)) else 0.0


def _is_glued_to(name: str, ending: str) -> bool:
    """Return whether a name ends in another without a break between."""
    if (
        len(ending) < _FEWEST_GLUED_LETTERS
        or len(name) < len(ending) + 2
        or not name.endswith(ending)
    ):
        return False
    return not (ending[0].isdigit() and name[-len(ending) - 1].isdigit())
