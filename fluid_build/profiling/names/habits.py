"""Naming habits of a whole schema: marks around its names, its own key words, its modules."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fluid_build.lexicon import terms
from fluid_build.profiling.names.words import Words, singular, words

_MARK_SHARE = 0.8
"""The share of all names that must have a mark; the rest were added by others."""
_FEWEST_MARKED = 8
"""Fewer names share a short first or last word by accident."""
_MOST_MARK_LETTERS = 2
"""Letters of a module in front of names (``a_ledger``); longer ones are words."""
_MOST_KEY_WORD_LETTERS = 3
"""Letters of a schema's own word for a key (``cn``, ``gid``); longer ones are attributes."""
_FEWEST_KEYS = 3
"""Tables whose key has that name, and columns that end in it: fewer may be a coincidence."""
_FEWEST_IN_MODULE = 3
"""Tables that begin with a module's word; fewer may just share a word."""


@dataclass(frozen=True, slots=True)
class NameMarks:
    """Short words around names: ``a_`` and ``_i`` of ``a_ledger_number_i`` in ``a_ledger``.

    ``first`` are the words for modules in front. ``has_last`` says that names end in a letter for
    the type.
    """

    first: frozenset[str] = frozenset()
    has_last: bool = False

    def strip(self, name: str) -> str:
        """Return a name without its marks."""
        if not self.first and not self.has_last:
            return name
        phrase = words(name)
        if self.has_last and len(phrase) > 1 and _is_letter(phrase[-1]):
            phrase = phrase[:-1]
        if len(phrase) > 1 and phrase[0] in self.first:
            phrase = phrase[1:]
        return "_".join(phrase)


def find_marks(names: Sequence[str], firsts: frozenset[str]) -> NameMarks:
    """Return the marks that (nearly) all names have; ``firsts`` are words that may be modules."""
    phrases = [words(name) for name in names]
    if len(phrases) < _FEWEST_MARKED:
        return NameMarks()
    enough = _MARK_SHARE * len(phrases)
    has_first = sum(len(p) > 1 and p[0] in firsts for p in phrases) >= enough
    has_last = sum(len(p) > 1 and _is_letter(p[-1]) for p in phrases) >= enough
    return NameMarks(firsts if has_first else frozenset(), has_last)


def short_first_words(names: Iterable[str]) -> frozenset[str]:
    """Return the short words that names of several words begin with."""
    firsts = (phrase[0] for name in names if len(phrase := words(name)) > 1)
    return frozenset(word for word in firsts if len(word) <= _MOST_MARK_LETTERS)


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def find_key_words(columns: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the short words by which a schema calls its keys.

    Several tables begin with such a column, and columns of other tables end in the word.
    """
    first_in, found_in = Counter[str](), Counter[str]()
    ending: dict[str, set[Words]] = defaultdict(set)
    for names in columns:
        phrases = [words(name) for name in names]
        singles = {phrase[0] for phrase in phrases if len(phrase) == 1}
        found_in.update(singles)
        first_in.update(phrase[0] for phrase in phrases[:1] if len(phrase) == 1)
        for phrase in phrases:
            if len(phrase) > 1:
                ending[phrase[-1]].add(phrase)
    return frozenset(
        word
        for word, count in first_in.items()
        if 2 <= len(word) <= _MOST_KEY_WORD_LETTERS
        and count >= max(_FEWEST_KEYS, found_in[word] / 2)
        and len(ending[word]) >= _FEWEST_KEYS
    )


def find_modules(entities: Sequence[Words]) -> frozenset[str]:
    """Return the words that several tables begin with and that name no table by themselves."""
    firsts = Counter(entity[0] for entity in entities if len(entity) > 1)
    singles = {entity[0] for entity in entities if len(entity) == 1}
    return frozenset(
        word
        for word, count in firsts.items()
        if count >= _FEWEST_IN_MODULE and singular(word) not in singles
    )


def find_heads(entities: Sequence[Words]) -> frozenset[str]:
    """Return the last words that only one table of several words has."""
    lasts = Counter(entity[-1] for entity in entities if entity)
    return frozenset(
        entity[-1] for entity in entities if len(entity) > 1 and lasts[entity[-1]] == 1
    )


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
        while size and not all(
            not name[size : size + 1].islower() or not name[size - 1].isalpha() for name in names
        ):
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
