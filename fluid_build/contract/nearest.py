"""The word that a misspelt one was probably meant to be."""

import difflib
from functools import lru_cache

_NEAR = 0.6


@lru_cache(maxsize=1024)
def nearest(word: str, words: tuple[str, ...]) -> str | None:
    """The one of the words that is most like the given one, None if none is much like it."""
    longest = max(map(len, words), default=0)
    if len(word) > 2 * longest:
        return None
    folded = {candidate.lower(): candidate for candidate in reversed(words)}
    close = difflib.get_close_matches(word.strip().lower(), folded, n=1, cutoff=_NEAR)
    return folded[close[0]] if close else None
