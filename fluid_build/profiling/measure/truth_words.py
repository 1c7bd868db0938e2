"""Which words of a text column say true and false, and aren't a country's, a language's or a sex's.

``NO`` is Norway and Norwegian, ``F`` female, ``T`` any code. Only two words that say the opposite
of each other, and nothing else, make a column of truths.
"""

import re
from collections.abc import Collection

from fluid_build.lexicon import leading, terms
from fluid_build.profiling.names.words import words
from fluid_build.sources.text_values.canonical_text import FALSE_WORDS, TRUE_WORDS

TRUTH = re.compile(rf"^\s*({'|'.join((*TRUE_WORDS, *FALSE_WORDS))})\s*$", re.IGNORECASE)
MOST_SPELLINGS = 64
"""More than all the ways to write the words of a pair in capitals and small letters."""

_PAIRS = tuple({true, false} for true, false in zip(TRUE_WORDS, FALSE_WORDS, strict=True))
_LETTERS = {"t", "f"}
_OTHER_MEANINGS = terms("no_flag")


def are_truths(name: str, spellings: Collection[str]) -> bool:
    """Return whether the distinct spellings of a column's values, all of them, say true and false.

    ``name`` is the column's name.
    """
    parts = words(name)
    said = {spelling.strip().lower() for spelling in spellings}
    if set(parts) & _OTHER_MEANINGS:
        return False
    if said != _LETTERS:
        return said in _PAIRS
    # PostgreSQL writes truths as t and f.
    are_small = all(spelling == spelling.lower() for spelling in spellings)
    is_flag = bool(parts) and (parts[0] in leading("truth") or bool(set(parts) & terms("truth")))
    return are_small or is_flag
