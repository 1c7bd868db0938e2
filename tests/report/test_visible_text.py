"""What strangers write cannot act on a terminal."""

import io
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fluid_build.report.terminal.visible_text import for_stream, visible
from fluid_build.text import counted


@given(st.text(st.characters(codec=None)))
@example("\x1b[31mred\x9b2J\u202e\ud800\u2028")
def test_no_shown_character_acts_on_a_terminal(text: str) -> None:
    """Whatever text comes in, no control, separator, surrogate or turning mark comes out."""
    for char in visible(text):
        assert unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"}
        assert char not in "\u202e\u2066\u200f"


@given(st.text(st.characters(categories=["L", "N", "P", "S", "M"])))
def test_ordinary_text_of_any_script_is_shown_as_it_is(text: str) -> None:
    """Letters, marks, numbers and signs are left alone."""
    assert visible(text) == text


def test_a_control_character_is_written_out() -> None:
    """A reader sees which character it was."""
    assert visible("a\x1b[0m\tb\u202ec") == "a\\x1b[0m\\tb\\u202ec"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("utf-8", "a → b …"), ("ascii", "a -> b ..."), ("latin-1", "a -> b ...")],
)
def test_glyphs_become_ascii_where_the_encoding_lacks_them(encoding: str, shown: str) -> None:
    """Our own signs never crash or garble a terminal that is not UTF-8."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert for_stream("a → b …", stream) == shown


def test_a_count_agrees_with_its_noun() -> None:
    """One is singular, everything else plural."""
    assert [counted(n, "row") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]
