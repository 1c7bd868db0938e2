"""The true counts of tokens that ``bench/token_estimates.py`` made with the real vocabularies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.copilot.context.text_kinds import KINDS, SIZES, digest_of, texts_of

TABLE = Path(__file__).with_name("token_counts.json")

UNCOVERED = ("random letters", "random letters, upper case", "run of a letter")
"""Kinds whose estimate falls short: no cheap rule tells them from words, which are far more
frequent, and the documented length / 3.5 holds for words."""


@dataclass(frozen=True, slots=True)
class KindCounts:
    """The texts of a kind, each with its most and its fewest tokens in any vocabulary."""

    kind: str
    texts: list[str]
    highest: list[int]
    lowest: list[int]


def true_counts() -> Iterator[KindCounts]:
    """Yield the counts of every kind. Raises ``ValueError`` if the texts aren't those counted."""
    table = json.loads(TABLE.read_text("utf-8"))["kinds"]
    for kind in KINDS:
        texts, row = texts_of(kind), table[kind]
        if digest_of(texts) != row["digest"]:
            raise ValueError(f"{kind}: these aren't the texts that were counted")
        by_text = list(zip(*row["counts"], strict=True))
        yield KindCounts(kind, texts, [max(c) for c in by_text], [min(c) for c in by_text])


def is_whole(text: str) -> bool:
    """Return whether a text has more than a few words: a shorter one may be cut anywhere."""
    return len(text) > SIZES[0]
