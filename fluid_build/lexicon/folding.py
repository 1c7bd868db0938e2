"""One spelling for all: letters without accents, and the spellings that people use instead."""

import unicodedata
from itertools import product
from typing import Final

_LETTERS: Final = str.maketrans(
    {
        "ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ł": "l",
        "Ł": "L", "đ": "d", "Đ": "D", "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)  # fmt: skip
"""Letters that Unicode doesn't take for others with an accent."""
_LONG: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "ñ": "ni"}
"""What is written instead of a letter as often as the letter without its accent."""


def fold(text: str) -> str:
    """Return text with its accents removed, in the same case: Größe is Grosse."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare)


def spellings(word: str) -> frozenset[str]:
    """Return how a word in lower case is written without accents: hohe and hoehe of höhe."""
    letters = unicodedata.normalize("NFC", word)
    if _LONG.keys().isdisjoint(letters):
        return frozenset({fold(letters)})
    choices = [(fold(letter), *filter(None, [_LONG.get(letter)])) for letter in letters]
    return frozenset(map("".join, product(*choices)))
