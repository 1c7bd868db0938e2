"""What words of names mean, in ten languages and more: the one lexicon that every judgement asks.

A judgement asks by concept, ``terms("line", "sequence")``, and never lists words itself, so that a
word that is added once is known to all. Names are compared without accents, by ``fold``.
"""

from fluid_build.lexicon.concepts import Concept
from fluid_build.lexicon.folding import fold, spellings
from fluid_build.lexicon.reading import (
    ends,
    languages,
    leading,
    lone,
    loose_terms,
    meanings,
    parts,
    starts,
    terms,
    trailing,
    words_of,
)

__all__ = [
    "Concept",
    "ends",
    "fold",
    "languages",
    "leading",
    "lone",
    "loose_terms",
    "meanings",
    "parts",
    "spellings",
    "starts",
    "terms",
    "trailing",
    "words_of",
]
