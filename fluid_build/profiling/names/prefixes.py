"""Prefixes that the names of a table or of a schema share, which say nothing about one of them."""

import re
from collections import Counter
from collections.abc import Sequence

from fluid_build.lexicon import terms
from fluid_build.profiling.names.words import words

_HUMP = re.compile("[a-z][A-Z]")
"""Where a word begins in camel case; a prefix of such names ends there too."""
_PLAIN_WORDS = terms("common", "generic")
_FEWEST_WITH_LETTER = 3
"""Fewer names begin with one letter by accident."""
_PREFIX_SHARE = 0.9
"""The share of a table's columns that must begin with a word for it to be their prefix; a few
columns added later often lack it."""


def common_prefix_words(names: Sequence[str]) -> int:
    """Return how many leading words (nearly) all of three or more names share, 0 or 1."""
    if len(names) < 3:
        return 0
    firsts = Counter(words(name)[:1] for name in names)
    first, count = firsts.most_common(1)[0]
    if not first or count < max(3, _PREFIX_SHARE * len(names)):
        return 0
    return 1 if all(len(words(n)) > 1 for n in names if words(n)[:1] == first) else 0


def glued_prefix(names: Sequence[str]) -> str:
    """Return the letters that all of three or more names begin with in any case, or ""."""
    lowered = [name.lower() for name in names]
    if len(lowered) < 3:
        return ""
    shortest, longest = min(lowered), max(lowered)
    size = 0
    while size < len(shortest) and shortest[size] == longest[size]:
        size += 1
    if any(_HUMP.search(name) for name in names):
        while size and not all(_is_break(name, size) for name in names):
            size -= 1
    prefix = shortest[:size].rstrip("_")
    if size < 2 or any(len(name) <= size for name in lowered):
        return ""
    return prefix if prefix.isalpha() else ""


def glued_letter(names: Sequence[str]) -> str:
    """Return the letter in front of all of three or more names in lower case, or "".

    One must be a plain word without it (``cname``), since many words just begin alike.
    """
    letters = {name[:1] for name in names}
    if len(names) < _FEWEST_WITH_LETTER or len(letters) > 1 or not "".join(names).isalpha():
        return ""
    if not all(name.islower() for name in names):
        return ""
    is_prefix = any(name[1:] in _PLAIN_WORDS and name not in _PLAIN_WORDS for name in names)
    return letters.pop() if is_prefix else ""


def _is_break(name: str, place: int) -> bool:
    return not name[place : place + 1].islower() or not name[place - 1].isalpha()


def hump_prefix(names: Sequence[str]) -> str:
    """Return the letters that all of four or more names begin with before a capital, or "".

    In camel case, a prefix of one letter runs into the next word: ``OCId`` is O, c, id.
    """
    if len(names) < 4 or all(name.isupper() for name in names):
        return ""
    size = 0
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        size += 1
    while size and not all(name[size : size + 1].isupper() for name in names):
        size -= 1
    prefix = names[0][:size]
    return prefix if prefix.isupper() and size <= 3 else ""
