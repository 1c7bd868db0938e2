"""The one gate for values in notes, errors and questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources.text_values.personal_text import quotable, spelled_like, without_values

NAMES = ("Andreas Fischer", "Fischer", "FISCHER", "Müller, Anna", "O'Brien", "MÜLLER", "Łukasz")


@given(st.text(max_size=40))
def test_nothing_of_a_personal_column_is_quoted(value: str) -> None:
    assert quotable(value, is_personal=True) == ""


@given(st.text(max_size=40))
def test_only_words_for_a_missing_value_are_quoted_before_a_column_is_known(value: str) -> None:
    quoted = quotable(value, is_personal=None)
    assert not quoted or quoted.lower() in {"-", "--", ".", "?"} or quoted.isascii()
    assert quotable("unknown", is_personal=None) == "unknown"
    assert quotable("fischer", is_personal=None) == ""


@pytest.mark.parametrize("name", [*NAMES, "ann@example.org", "+49 1512345678"])
def test_what_looks_like_somebodys_is_never_quoted(name: str) -> None:
    assert quotable(name, is_personal=False) == ""


@pytest.mark.parametrize("value", ["007", "12..3", "much", "A1", "n/a"])
def test_what_is_nobodys_is_quoted(value: str) -> None:
    assert quotable(value, is_personal=False) == value


@given(st.from_regex(r"-?[0-9]{1,9}([.,][0-9]{1,4})?( EUR)?", fullmatch=True))
def test_a_spelling_tells_the_marks_and_no_digit(number: str) -> None:
    spelled = spelled_like(number)
    assert len(spelled) == len(number)
    digits = "".join(filter(str.isdigit, spelled))
    assert digits == "12345678901234567890"[: len(digits)]
    marks = [char for char in number if not char.isdigit()]
    assert [char for char in spelled if not char.isdigit()] == marks


@pytest.mark.parametrize("text", ["Fischer", "2 Anna", "1" * 31, "1\n2"])
def test_what_is_no_number_has_no_spelling(text: str) -> None:
    assert spelled_like(text) == ""


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ('near "Fischer": syntax error', "near ***: syntax error"),
        ('unrecognized token: "\'Fischer"', "unrecognized token: ***"),
        (
            "Key (name, city)=(Fischer (jun.), Ulm) already exists.",
            "Key (name, city)=(***) already exists.",
        ),
        (
            'Key (name)=(Ann) is not present in table "t".',
            'Key (name)=(***) is not present in table "t".',
        ),
        ("paid to de89370400440532013000", "paid to ***"),
    ],
)
def test_an_engines_message_loses_its_values(message: str, shown: str) -> None:
    assert without_values(message) == shown
