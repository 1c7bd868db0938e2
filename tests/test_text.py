"""Text for people: clipped, counted and listed, and what a misspelled name means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import unknown_name
from fluid_build.text import (
    as_sentence,
    clip,
    counted,
    did_you_mean,
    free_name,
    listed,
    listed_up_to,
    nearest,
)


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_clipped_text_is_never_longer_than_allowed(text: str, longest: int) -> None:
    clipped = clip(text, longest)
    assert len(clipped) <= longest
    assert clipped == text or (clipped.endswith("…") and text.startswith(clipped[:-1]))


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1204, "1,204 rows")]
)
def test_a_noun_agrees_with_its_number(number: int, shown: str) -> None:
    assert counted(number, "row") == shown


def test_an_irregular_plural_is_used_as_given() -> None:
    assert counted(3, "query", "queries") == "3 queries"


@pytest.mark.parametrize(
    ("words", "shown"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_words_are_listed_as_in_a_sentence(words: list[str], shown: str) -> None:
    assert listed(words) == shown


def test_a_long_list_says_how_many_words_it_leaves_out() -> None:
    assert listed_up_to(2, ["a", "b", "c", "d", "e"]) == "a, b and 3 more"
    assert listed_up_to(2, ["a", "b"]) == "a, b"


@pytest.mark.parametrize(
    ("text", "shown"), [("It failed", "It failed."), ("Why?", "Why?"), ("And so on…", "And so on…")]
)
def test_a_sentence_gets_a_full_stop_unless_it_has_an_end(text: str, shown: str) -> None:
    assert as_sentence(text) == shown


def test_a_misspelled_name_is_recognised_whatever_its_case() -> None:
    assert nearest("Ordrs", ("customers", "orders")) == "orders"


def test_a_name_like_no_other_gets_no_guess() -> None:
    assert nearest("xyzzy", ("customers", "orders")) is None
    assert did_you_mean("xyzzy", ["customers", "orders"]) == ""


def test_an_unknown_name_is_answered_with_the_nearest_and_all_known() -> None:
    error = unknown_name("technique", "flatt", ["flat", "dimensional"], aliases=["star"])
    assert error.message == "Unknown technique 'flatt'."
    assert error.hint == "Did you mean 'flat'? Known techniques: flat, dimensional."


@given(st.text(min_size=1, max_size=12), st.sets(st.text(min_size=1, max_size=14), max_size=30))
def test_a_free_name_is_never_used_already(name: str, used: set[str]) -> None:
    free = free_name(name, used)
    assert free not in used
    assert free == name or name in used


def test_a_numbered_name_stays_within_its_limit() -> None:
    assert free_name("abcdef", {"abcdef", "abcd_2"}, longest=6) == "abcd_3"
