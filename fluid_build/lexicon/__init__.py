"""What words of names mean, in ten languages and more: the one lexicon that every judgement asks.

A judgement asks by concept, ``terms("line", "sequence")``, and never lists words itself, so that a
word that is added once is known to all. Names are compared without accents, by ``fold``.
"""

from fluid_build.lexicon.concepts import Concept, Weekday
from fluid_build.lexicon.folding import fold, spellings
from fluid_build.lexicon.reading import (
    ends,
    infixes,
    languages,
    leading,
    lone,
    loose_terms,
    meanings,
    starts,
    terms,
    trailing,
    words_of,
)

__all__ = [
    "Concept",
    "Weekday",
    "ends",
    "fold",
    "infixes",
    "languages",
    "leading",
    "lone",
    "loose_terms",
    "meanings",
    "spellings",
    "starts",
    "terms",
    "trailing",
    "words_of",
]
