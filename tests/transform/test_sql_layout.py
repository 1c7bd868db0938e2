"""The layout of SQL: no line is longer than a model's, and nothing but blanks changes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.sql_layout import LINE_WIDTH, within_width

LONGEST_NAME = 60
names = st.from_regex(rf"[a-z][a-z_0-9]{{0,{LONGEST_NAME - 1}}}", fullmatch=True)
texts = st.text("a ',(){%}\"", max_size=40).map(literal)
quoted = st.text("a ',()\"", min_size=1, max_size=40).map(quote)
jinja = names.map(lambda name: f"{{{{ ref('{name}') }}}}")
values = names | texts | quoted
expressions = st.recursive(
    values,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=6).map(lambda parts: f"COALESCE({', '.join(parts)})"),
        st.lists(inner, min_size=2, max_size=6).map(" || ".join),
        inner.map(lambda value: f"CAST({value} AS VARCHAR)"),
        inner.map(lambda value: f"({value} IS NULL)"),
    ),
    max_leaves=30,
)


@given(expressions, names, jinja)
def test_lines_are_short_and_the_words_stay(value: str, name: str, relation: str) -> None:
    """A name, a text and a tag of Jinja are whole; blanks between words are all that changes."""
    sql = f"SELECT\n    {value} AS {name}\nFROM {relation} AS rows"
    broken = within_width(sql)
    assert words(broken) == words(sql)
    assert max(map(len, broken.split("\n"))) <= LINE_WIDTH


def test_a_line_break_in_a_text_stays() -> None:
    text = literal("one\n  two, (three" + " four" * 30)
    assert text in within_width(f"SELECT COALESCE({'a' * 60}, {text}, {'b' * 60})")


def words(sql: str) -> list[str]:
    """The words and signs of SQL."""
    return re.findall(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\{\{.*?\}\}|\w+|[^\w\s]""", sql)


@given(st.lists(expressions, max_size=5))
def test_breaking_lines_again_changes_nothing(values: list[str]) -> None:
    once = within_width("SELECT\n    " + ",\n    ".join(values))
    assert within_width(once) == once


def test_short_sql_stays_as_it_is() -> None:
    sql = "SELECT  a,b\nFROM   t"
    assert within_width(sql) == sql


@pytest.mark.parametrize("backslashes", [False, True])
def test_a_backslash_ends_no_text_unless_it_escapes(backslashes: bool) -> None:
    escape = r"'\''" if backslashes else r"'\'"
    sql = f"SELECT REPLACE({'a' * 50}, {escape}, '(, ') || REPLACE({'b' * 50}, '|', {escape})"
    broken = within_width(sql, backslashes=backslashes)
    assert broken.count(escape) == 2
    assert "'(, '" in broken
    assert max(map(len, broken.split("\n"))) <= LINE_WIDTH
