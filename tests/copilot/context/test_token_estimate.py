"""The estimate of a text's tokens: its floor, its ceiling, and the true counts of vocabularies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.context.token_estimate import estimate_tokens
from tests.copilot.context.text_kinds import PROSE
from tests.copilot.context.true_counts import UNCOVERED, KindCounts, is_whole, true_counts

KINDS = list(true_counts())

ODDS = st.text(st.characters(), max_size=200)
TEXTS = ODDS | st.sampled_from([text for counts in KINDS for text in counts.texts])


@pytest.mark.parametrize("counts", KINDS, ids=lambda counts: counts.kind)
def test_the_estimate_never_falls_short_of_a_vocabulary(counts: KindCounts) -> None:
    for text, highest in zip(counts.texts, counts.highest, strict=True):
        # A short text may be cut in the middle of a word or number.
        least = highest if is_whole(text) else 0.88 * highest
        is_covered = estimate_tokens(text) >= least
        assert is_covered or counts.kind in UNCOVERED, (text[:40], estimate_tokens(text), highest)


@pytest.mark.parametrize("counts", KINDS, ids=lambda counts: counts.kind)
def test_the_estimate_stays_close(counts: KindCounts) -> None:
    """Runs of one character and indentation are the exception: length / 3.5 is the floor."""
    is_repetitive = counts.kind.startswith("run of") or counts.kind in ("whitespace", "indented")
    for text, highest in zip(counts.texts, counts.highest, strict=True):
        assert estimate_tokens(text) <= 3 * highest or is_repetitive


@given(TEXTS)
def test_the_documented_rule_is_the_floor_and_the_bytes_are_the_ceiling(text: str) -> None:
    tokens = estimate_tokens(text)
    assert len(text) / 3.5 <= tokens <= len(text.encode("utf-8", "surrogatepass"))


@given(TEXTS, TEXTS)
def test_a_longer_text_never_counts_for_less(first: str, second: str) -> None:
    together = estimate_tokens(first + second)
    assert together >= max(estimate_tokens(first), estimate_tokens(second))


@given(TEXTS, TEXTS)
def test_parts_count_for_about_as_much_as_the_whole(first: str, second: str) -> None:
    """A seam between the two may add tokens, and each part is rounded up."""
    parts = estimate_tokens(first) + estimate_tokens(second)
    assert estimate_tokens(first + second) <= max(
        parts + 3, len((first + second).encode("utf-8", "surrogatepass"))
    )


@pytest.mark.parametrize("text", ["", "a" * 35, "x" * 3500, "word " * 700])
def test_plain_words_are_the_documented_length_over_three_and_a_half(text: str) -> None:
    assert estimate_tokens(text) == len(text) / 3.5


def test_english_prose_is_within_a_few_percent_of_the_documented_rule() -> None:
    text = PROSE["english"].strip()
    assert len(text) / 3.5 <= estimate_tokens(text) <= 1.05 * len(text) / 3.5
