"""The words of a column's name, with those split that are written together: ``unitprice``."""

from collections.abc import Iterable
from functools import lru_cache

from fluid_build.lexicon import ends, starts, terms
from fluid_build.profiling.names.words import Words, singular, words

_UNSPLIT = terms("known_number", "flow", "movement", "plain")
_HEADS = terms("known_number", "common")
"""Words that may precede an ending that is the ending of other words too."""
_SHORTEST_HEAD = 2
"""Letters that must precede a glued word, so that ``rate`` in ``prate`` isn't one."""
_CERTAIN_BEGINNING = 5
"""Letters of a qualifier that is no beginning of another word; ``min`` is one of ``mineral``."""
_SHORTEST_PLURAL = 4
"""Letters of a plural; shorter words in ``s`` are mostly abbreviations (``pos``, ``gs``)."""
_VOWELS = frozenset("aeiouy")
_SHORTEST_GLUED = 5
"""Letters of a word that is split off wherever a name ends in it; shorter ones are listed."""


def _longest_first(glued: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(glued, key=lambda word: (-len(word), word)))


_MEASURED = terms("addable", "price", "ratio", "level", "pay_level", "share_of_money", "intensity")
_GLUED = _longest_first(
    {*ends("quantity_end"), *(word for word in _MEASURED if len(word) >= _SHORTEST_GLUED)}
)
"""Endings that are written together with the word before."""
_QUALIFIERS = _longest_first(
    word for word in terms("extreme", "one_unit", "all_units", "cumulative") if len(word) > 2
)
"""Beginnings that change what is measured."""


def name_words(name: str) -> Words:
    """Return the words that columns of one meaning share: without numbers and periods."""
    # ``q1_2024_sales`` and ``tax2`` mean the same as ``sales`` and ``tax``.
    parts = split_words(name)
    while len(parts) > 2 and parts[0] in terms("numbered_period") and parts[1].isdigit():
        parts = parts[2:]
    without_numbers = tuple(part for part in parts if not part.isdigit()) or parts
    if len(without_numbers) < 2:
        return without_numbers
    *first, last = without_numbers
    # A single letter at the end says the type or which of several columns: amount_n, seats_b.
    return tuple(first) if len(last) == 1 and last not in terms("placing") else without_numbers


@lru_cache(maxsize=65_536)
def split_words(name: str) -> Words:
    """Return the words of a name, with those split that are written together."""
    return tuple(part for word in words(name) for part in _split(word))


def is_plural(word: str) -> bool:
    """Return whether a word is a plural in ``s``, as in English and most Romance languages.

    What has no vowel is an abbreviation: ``txkrs``.
    """
    is_long = len(word) >= _SHORTEST_PLURAL
    return is_long and singular(word) != word and bool(_VOWELS & set(word))


@lru_cache(maxsize=65_536)
def _split(word: str) -> Words:
    """Return the words that one is glued from: standard and cost of ``standardcost``."""
    if word in _UNSPLIT or word.isdigit():
        return (word,)
    share = word.removesuffix("per")
    if share != word and share in terms("share_of_money"):
        return (share, "per")
    # The longest ending counts: a percentage is no age.
    for ending in _GLUED:
        head = word.removesuffix(ending)
        if head != word and len(head) >= _SHORTEST_HEAD and not _is_one_word(head, ending):
            return (*_split_beginning(head), ending)
    for ending in ends("short_quantity_end"):
        head = word.removesuffix(ending)
        if head != word and (is_plural(head) or head in _HEADS):
            return (head, ending)
    return _split_beginning(word)


def _is_one_word(head: str, ending: str) -> bool:
    """Return whether a word only ends like one: separate and lavorate, or equipos and campos."""
    if ending == "pos":
        return bool(_VOWELS & set(head))
    return ending == "rate" and head[-1] in _VOWELS and head not in _HEADS


def _split_beginning(head: str) -> Words:
    """Return what a head begins with, if that changes what is measured: min, standard, last."""
    if head in terms("known_number"):
        return (head,)
    for beginning in (*_QUALIFIERS, *starts("quantity_start")):
        rest = head.removeprefix(beginning)
        is_certain = len(beginning) >= _CERTAIN_BEGINNING or beginning in starts("quantity_start")
        if rest != head and rest == "s" and is_certain:
            return (beginning,)
        if rest != head and (rest in _HEADS or (is_certain and len(rest) > 1)):
            return (beginning, *_split(rest))
    return (head,)
