"""A plan's SQL in a dbt model: its relations are found, and nothing else becomes Jinja."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fluid_build.sources.sql import literal, quote
from fluid_build.transform.dbt.jinja import Jinja, literal_document, literally
from fluid_build.transform.dbt.jinja_references import with_references
from tests.dbt_server import skip_where_dbt_does_not_run

HOSTILE = """
{{ 7 * 7 }} {% raw %} {# no comment #} {%- endif %} }} %} #} { {{{ {{{{ }}}}} {{{%
{{ source('raw', 'x') }} source.shop model.shop getvariable('load_date') ' '' " "" -- /* */ \\ \\'
$$ $tag$ `
""".split()
NASTY = (
    st.lists(
        st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
        max_size=5,
    )
    .map("".join)
    .map(lambda text: text.replace("\0", ""))
)
LINE = NASTY.map(lambda text: re.sub(r"[\r\n]", " ", text))
COMMENT = NASTY.map(lambda text: text.replace("*/", "").replace("/*", ""))
TAG = st.sampled_from(["", "a", "body"])


def get_rendered(template: str, context: dict[str, Any], *, native: bool = False) -> Any:
    """Render a template as dbt does."""
    skip_where_dbt_does_not_run()
    # Importing dbt takes seconds, which collecting the tests shouldn't.
    from dbt.clients import jinja

    return jinja.get_rendered(template, context, native=native)


class _Raw(dict[str, str]):
    """What dbt calls any table of a source named raw."""

    def __missing__(self, id_: str) -> str:
        return f"source('raw', '{id_}')"


RAW = _Raw()


def rendered(template: str, *, again: bool = False) -> str:
    """What dbt's own Jinja makes of a model, with names in the place of relations."""
    context: dict[str, Any] = {
        "source": lambda name, table: f"source.{table}",
        "ref": lambda name: f"model.{name}",
        "this": "model.own",
        "load_date": lambda: "2000-01-01",
        "is_incremental": lambda: again,
        "is_there_already": lambda: again,
    }
    # dbt strips a file's text before it renders it.
    return str(get_rendered(template.strip(), context))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """SQL with references between strings, names and comments of any content."""
    pieces = draw(
        st.lists(
            st.one_of(
                NASTY.map(literal),
                NASTY.filter(bool).map(quote),
                LINE.map(lambda text: f"--{text}\n"),
                COMMENT.map(lambda text: f"/*{text}*/"),
                st.builds(lambda tag, text: f"${tag}${text.replace('$', '')}${tag}$", TAG, NASTY),
                st.sampled_from(
                    ["source.shop", "model.own", "model.other", "x.source", "a.model.b", "{", "}"]
                ),
            ),
            max_size=8,
        )
    )
    return " ".join(["SELECT", *pieces, "END"])


@given(queries())
@example("SELECT {source.shop}")
@example("SELECT '{{ x }}', \"{% raw %}\" -- {# \n FROM source.shop END")
@example("SELECT '\r\n' /* /* model.own */ source.shop */ FROM model.other END")
def test_rendering_gives_back_just_the_sql(sql: str) -> None:
    """Whatever strings, names and comments hold, dbt's Jinja gives back the plan's SQL."""
    assert rendered(with_references(sql, own="own", sources=RAW)) == sql


@given(NASTY, NASTY)
def test_only_relations_become_jinja(text: str, name: str) -> None:
    """A string or quoted name that spells a relation is not one."""
    sql = f"SELECT {literal(text)} AS a, {quote(name)} FROM source.shop JOIN model.own USING (a)"
    template = with_references(sql, own="own", sources=RAW)
    calls = re.findall(r"\{\{ (?:source\(|ref\(|this|load_date)", template)
    stranger = literally(literal(text)) + literally(quote(name))
    own = re.findall(r"\{\{ (?:source\(|ref\(|this|load_date)", stranger)
    assert len(calls) - len(own) == 2


def test_relations_become_the_calls_of_dbt() -> None:
    """A source table, another build and the build itself are each said in dbt's way."""
    sql = "SELECT 1 FROM source.shop, model.other WHERE 1 IN (SELECT 1 FROM model.own)"
    assert with_references(sql, own="own", sources=RAW) == (
        "SELECT 1 FROM {{ source('raw', 'shop') }}, {{ ref('other') }}"
        " WHERE 1 IN (SELECT 1 FROM {{ this }})"
    )


def test_the_load_date_becomes_a_text_of_the_run() -> None:
    """The variable of DuckDB becomes a string literal, and the cast around it stays."""
    sql = "SELECT CAST(getvariable('load_date') AS TIMESTAMP), 'getvariable(''load_date'')'"
    assert with_references(sql, own="own", sources=RAW) == (
        "SELECT CAST('{{ load_date() }}' AS TIMESTAMP), 'getvariable(''load_date'')'"
    )


@pytest.mark.parametrize("text", [r"'it\'s source.x'", r"'\\'", "`a``source.x`", r"`\` model.x`"])
def test_a_backslash_escapes_where_the_target_has_it_so(text: str) -> None:
    """Strings of BigQuery, Databricks and Snowflake end where those databases end them."""
    sql = f"SELECT {text} FROM source.shop"
    expected = f"SELECT {text} FROM {{{{ source('raw', 'shop') }}}}"
    assert with_references(sql, own="", sources=RAW, backslashes=True) == expected


@given(st.recursive(NASTY, lambda inner: st.lists(inner) | st.dictionaries(st.just("a"), inner)))
def test_a_document_renders_to_itself(value: object) -> None:
    """Every text of a YAML document is, rendered as dbt does it, what it was."""

    def render(part: object) -> object:
        if isinstance(part, str):
            return get_rendered(part, {}, native=True)
        if isinstance(part, dict):
            return {key: render(item) for key, item in part.items()}
        assert isinstance(part, list)
        return [render(item) for item in part]

    assert render(literal_document(value)) == value


def test_what_is_marked_as_jinja_stays_jinja() -> None:
    """Text of our own is written as it is, any other is escaped."""
    document = literal_document({"ours": Jinja("{{ env_var('X') }}"), "theirs": "{{ x }}"})
    assert document == {"ours": "{{ env_var('X') }}", "theirs": '{{ "{{" }} x }}'}
