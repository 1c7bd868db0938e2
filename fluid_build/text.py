"""Text for people: clipped, counted and listed, and a guess at what a misspelled name means."""

import difflib
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

_CLOSE_ENOUGH = 0.6
"""How alike a guess must be, from 0 to 1: difflib's default, which allows about two slips in five
characters. Lower values suggest words that nobody meant."""


def clip(text: str, longest: int) -> str:
    """Return the text, cut to ``longest`` characters with an ellipsis where it has more."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def not_an_option(name: str) -> str:
    """Return a path that no command takes for an option, as it would one that begins with ``-``."""
    return f"./{name}" if name.startswith("-") else name


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 table``, ``1,204 rows``, ``3 queries``."""
    return f"{number:,} {noun(number, singular, plural)}"


def noun(number: int, singular: str, plural: str = "") -> str:
    """Return a noun in the form that goes with a number."""
    return singular if number == 1 else plural or f"{singular}s"


def byte_size(number: int) -> str:
    """Return a number of bytes as people write it: ``3.4 MB``."""
    size, units = float(number), iter(("bytes", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while size >= 1000 and unit != "TB":
        size, unit = size / 1000, next(units)
    return f"{number:,} {noun(number, 'byte')}" if unit == "bytes" else f"{size:.1f} {unit}"


def listed(words: Iterable[str], conjunction: str = "and") -> str:
    """Return words as a list in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    *head, last = [*words] or [""]
    return f"{', '.join(head)} {conjunction} {last}" if head else last


def listed_up_to(most: int, words: Sequence[str]) -> str:
    """Return the first words and how many there are besides: ``a, b and 3 more``."""
    left = len(words) - most
    return ", ".join(words[:most]) + (f" and {left:,} more" if left > 0 else "")


def as_sentence(text: str) -> str:
    """Return the text with a full stop at its end, unless it ends a sentence already."""
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


@lru_cache(maxsize=1024)
def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that is most like a word, whatever their case; None if none is."""
    # The comparison takes quadratic time, and no word is like one of half its length.
    if len(word) > 2 * max(map(len, known), default=0):
        return None
    folded = {candidate.lower(): candidate for candidate in reversed(known)}
    close = difflib.get_close_matches(word.strip().lower(), folded, n=1, cutoff=_CLOSE_ENOUGH)
    return folded[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'users'? `` to put before a hint, or nothing."""
    guess = nearest(word, tuple(known))
    return f"Did you mean {guess!r}? " if guess else ""


def free_name(name: str, used: Collection[str], longest: int | None = None) -> str:
    """Return the name, or the first of ``name_2``, ``name_3``, … that isn't used yet.

    A numbered name is cut in front of its number where it would have more than ``longest``
    characters.
    """
    free, number = name, 1
    while free in used:
        number += 1
        suffix = f"_{number}"
        free = (name if longest is None else name[: longest - len(suffix)]) + suffix
    return free
