"""What a name and a description that a language model writes have to be: words, and nothing else.

A person may call things as they like. A model's names go where paths, templates and pages are made
of them, and a text in the source may have put them into its mouth.
"""

import unicodedata
from collections import Counter

_SIGNS_OF_NAMES = frozenset(" &'()[],.:+#/@%!?-_\"\u2019\u00b7\u2013\u2014")
"""What names of products and departments have besides letters and digits: "R&D / Ops (EMEA)"."""
_LONGEST_WORD = 100
"""Characters of a word: longer than any of a language, and than most addresses of pages."""
_FEWEST_JUDGED_WORDS = 8
_FEWEST_JUDGED_LETTERS = 24
"""Fewer may repeat themselves in an honest sentence."""
_SAME_WORD = 0.5
_FEWEST_DIFFERENT_LETTERS = 6
"""In a sentence of any script; a text of fewer is made to fill a field."""


def checked_name(text: str) -> str:
    """Return a name; raise ValueError where it's a path, a template, markup or no words."""
    foreign = next((c for c in text if not _is_of_a_name(c)), None)
    if foreign is not None:
        raise ValueError(f"a name has no {foreign!r}")
    if ".." in text or "//" in text:
        raise ValueError("a name is no path and no address")
    if not text[0].isalnum():
        raise ValueError("a name begins with a letter or a digit")
    return text


def checked_prose(text: str) -> str:
    """Return a description; raise ValueError where its words say nothing."""
    words = text.casefold().split()
    letters = [c for c in text.casefold() if c.isalnum()]
    if not letters:
        raise ValueError("a description has words")
    if max(map(len, words)) > _LONGEST_WORD:
        raise ValueError(f"a word of a description has at most {_LONGEST_WORD} characters")
    is_long = len(letters) >= _FEWEST_JUDGED_LETTERS
    if is_long and len(set(letters)) < _FEWEST_DIFFERENT_LETTERS:
        raise ValueError("the description repeats a few letters")
    if len(words) >= _FEWEST_JUDGED_WORDS:
        (_, times), *_ = Counter(words).most_common(1)
        if times > _SAME_WORD * len(words):
            raise ValueError("the description repeats a word")
    return text


def _is_of_a_name(character: str) -> bool:
    # Letters, the marks that are written on them, and numbers, of every script.
    return unicodedata.category(character)[0] in "LMN" or character in _SIGNS_OF_NAMES
