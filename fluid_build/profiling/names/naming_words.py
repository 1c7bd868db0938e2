"""Words in names of columns that hold names: of things, titles, first and last names of people.

Databases are written in the language of those who use them.
"""

from collections.abc import Iterable

from fluid_build.lexicon import ends, leading, lone, terms
from fluid_build.profiling.names.words import Words, words

_GIVEN_NAMES = terms("given_name", "first")
_FAMILY_NAMES = terms("family_name", "last")
NAME_WORDS = terms("naming", "given_name", "family_name", "full_name")
"""Words for the name of something or somebody."""
TITLE_WORDS = terms("title_word")
"""Words for a title, which may be given to several works."""
_FIRST_WORDS = leading("naming", "naming_person", "title_word")
"""Those that come before what they name: ``nazwa_leku``. The English ``name_type`` is a type."""
_SHORTEST_STEM = 3
_LONGEST_ENDING = 2
"""Letters that forms of a word have in common, and those by which they may differ at the end."""


def naming_word(name: str) -> str:
    """Return the word by which a column's name says that it holds names, or "".

    It's the last word (``product_name``, ``productname``), or in languages where it comes before
    what it names the first one (``nazwa_leku``).
    """
    parts = _without_language(words(name))
    if not parts or terms("file_name") & set(parts):
        return ""
    if parts[-1] in NAME_WORDS | TITLE_WORDS:
        return parts[-1]
    if parts[0] in _FIRST_WORDS or (len(parts) == 1 and parts[0] in lone("naming")):
        return parts[0]
    return next((word for word in ends("naming", "title_word") if parts[-1].endswith(word)), "")


def named_noun(name: str) -> Words:
    """Return the words for what a name is of, where the naming word comes before them."""
    parts = _without_language(words(name))
    if not parts or parts[0] not in _FIRST_WORDS:
        return ()
    return tuple(word for word in parts[1:] if len(word) > 1 and word not in terms("preposition"))


def are_forms(word: str, other: str) -> bool:
    """Return whether two words may be forms of one, which differ at the end: leku, lek."""
    shorter, longer = sorted((word, other), key=len)
    stem = shorter[: max(_SHORTEST_STEM, len(shorter) - _LONGEST_ENDING)]
    return len(longer) - len(shorter) <= _LONGEST_ENDING and longer.startswith(stem)


def names_people(columns: Iterable[str]) -> bool:
    """Return whether columns are named for a first and for a last name; one may be just a name."""
    by_column = [set(words(column)) for column in columns]
    given = [own for own in by_column if own & _GIVEN_NAMES and own & NAME_WORDS]
    family = [own for own in by_column if own & _FAMILY_NAMES and own & NAME_WORDS]
    plain = [own for own in by_column if own <= NAME_WORDS - _GIVEN_NAMES - _FAMILY_NAMES]
    return (bool(family) and bool(given or plain)) or (bool(given) and bool(plain))


def _without_language(parts: Words) -> Words:
    while len(parts) > 1 and parts[-1] in terms("language_mark"):
        parts = parts[:-1]
    return parts
