"""The words of a single name: how it is spelled, plurals, and words that only say "key".

``parsed_names`` adds what the names of a whole schema say about each other.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from fluid_build.lexicon import ends, fold, leading, terms

Words = tuple[str, ...]

_BOUNDARY = re.compile(
    r"(?<![^\W_])ID(?=[a-z]{3})|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+",
)

_NUMBERED = re.compile(r"^(c|col|column|f|field|fld|attr|var|v|x|t|tab|table)?[_ ]?\d+$", re.I)
"""Names that only number their columns or tables: ``col_7``, ``f3``."""
_KEY_WORDS = terms("key_word")
_GLUED_KEY_WORDS = ends("key_word")
_PLAIN_WORDS = terms("plain")
"""Words that end in a key word's letters by nature."""
_SHORTEST_GLUED_WORD = 4
"""Letters that a word needs to be looked for inside another: ``no`` would be met in ``piano``."""
_IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "indices": "index", "indexes": "index", "statuses": "status", "series": "series",
    "addresses": "address", "species": "species", "data": "data",
    "movies": "movie", "cookies": "cookie", "ties": "tie", "rookies": "rookie", "zombies": "zombie",
    "calories": "calorie", "media": "media", "news": "news",
}  # fmt: skip


def is_numbered(name: str) -> bool:
    """Return whether a name only numbers its column or table: ``col_7``."""
    return _NUMBERED.match(name) is not None


@lru_cache(maxsize=200_000)
def words(name: str) -> Words:
    """Return the words of a name in lower case: ship, to, address, id of ``ShipToAddressID``.

    Mere numbering (``col_7``) says nothing and gives no words.
    """
    if is_numbered(name):
        return ()
    return tuple(part.lower() for part in _BOUNDARY.findall(fold(name)))


@lru_cache(maxsize=200_000)
def singular(word: str) -> str:
    """Return the singular of a noun with an English plural or a French one in ``-aux``, by rule."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 5 and word.endswith("aux"):
        return word[:-1] if word.endswith("eaux") else word[:-2] + "l"
    if len(word) > 4 and word.endswith("uses") and not word.endswith(("auses", "ouses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def without_ending(word: str, endings: Iterable[str]) -> str:
    """Return a word without the first of the endings that it has."""
    return next((word.removesuffix(end) for end in endings if word.endswith(end)), word)


def stem(phrase: Iterable[str]) -> Words:
    """Return the words of a phrase, each in the singular."""
    return tuple(singular(word) for word in phrase)


def strip_key_words(phrase: Words) -> Words:
    """Return a phrase without its key words: those at the end, glued ones too, or at the front."""
    while phrase and phrase[-1] in _KEY_WORDS:
        phrase = phrase[:-1]
    if phrase:
        last = phrase[-1]
        for suffix in _GLUED_KEY_WORDS:
            has_stem = len(last) - len(suffix) >= 2 and last not in _PLAIN_WORDS
            if last.endswith(suffix) and has_stem:
                return (*phrase[:-1], last[: -len(suffix)])
    return phrase[1:] if _leads_with_key_word(phrase) else phrase


def between_key_words(phrase: Words) -> Words:
    """Return a phrase without the key words at both of its ends: membro of ``fk_id_membro``."""
    while phrase and phrase[-1] in _KEY_WORDS:
        phrase = phrase[:-1]
    while phrase and phrase[0] in _KEY_WORDS:
        phrase = phrase[1:]
    return phrase


def _leads_with_key_word(phrase: Words) -> bool:
    if len(phrase) < 2:
        return False
    if phrase[0] in leading("number_or_count"):
        # What is counted is in the plural or follows a preposition.
        return phrase[1] not in terms("preposition") and singular(phrase[-1]) == phrase[-1]
    return phrase[0] in leading("key_word")


def has_key_word(phrase: Words) -> bool:
    """Return whether a name says, at its end or its front, that it is a key."""
    return bool(phrase) and (phrase[-1] in _KEY_WORDS or strip_key_words(phrase) != phrase)


def is_generic(phrase: Words) -> bool:
    """Return whether any table could have a column of that name: a key, name, title or type."""
    return terms("generic").issuperset(phrase)


def last_word(name: str, vocabulary: Collection[str]) -> str:
    """Return the word of a vocabulary that a name ends in, or "".

    A longer word is also recognised where it's glued to what precedes it, as in ``ordernumber``.
    """
    parts = words(name)
    if not parts or parts[-1] in vocabulary:
        return parts[-1] if parts else ""
    glued = (
        word
        for word in vocabulary
        if len(word) >= _SHORTEST_GLUED_WORD and parts[-1].endswith(word)
    )
    return max(glued, key=len, default="")
