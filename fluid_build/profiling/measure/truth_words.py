"""Which words of a text column say true and false, and aren't a country's, a language's or a sex's.

``NO`` is Norway and Norwegian, ``F`` female, ``T`` any code. Only two words that say the opposite
of each other, and nothing else, make a column of truths.
"""

import re
from collections.abc import Collection

from fluid_build.profiling.names.words import words
from fluid_build.sources.text_values.canonical_text import FALSE_WORDS, TRUE_WORDS

TRUTH = re.compile(rf"^\s*({'|'.join((*TRUE_WORDS, *FALSE_WORDS))})\s*$", re.IGNORECASE)
MOST_SPELLINGS = 64
"""More than all the ways to write the words of a pair in capitals and small letters."""

_PAIRS = tuple({true, false} for true, false in zip(TRUE_WORDS, FALSE_WORDS, strict=True))
_LETTERS = {"t", "f"}
_OTHER_MEANINGS = frozenset(
    """
    country nation nationality land pays pais paese countries language lang langue sprache idioma
    lingua locale code cd iso sex gender geschlecht sexe sexo title salutation anrede initial grade
    class type kind category
    """.split()
)
_FLAG_STARTS = frozenset("is has had was were can may should must did does are ist hat est".split())
_FLAG_WORDS = frozenset(
    "flag active enabled disabled deleted valid verified approved visible hidden bool".split()
)


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
    is_flag = bool(parts) and (parts[0] in _FLAG_STARTS or bool(set(parts) & _FLAG_WORDS))
    return are_small or is_flag
