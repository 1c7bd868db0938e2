"""A plan's SQL as dbt reads it: relations and the load date become Jinja, the rest stays.

The text is tokenized as a database would, so that a string, a quoted name or a comment that
contains the same words is left alone.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from fluid_build.transform.dbt.jinja import literally

LOAD_DATE = "{{ load_date() }}"
_RELATION = r"(?<![\w$.])(?P<kind>source|model)\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
_LOAD_DATE = r"(?P<load_date>(?i:getvariable)\(\s*'load_date'\s*\))"
_COMMENT = r"--[^\n]*|(?P<comment>/\*)"
_QUOTED = r'"(?:[^"]|"")*"'
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def with_references(
    sql: str,
    *,
    own: str,
    source: str,
    backslashes: bool = False,
    models: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return SQL with ``source.<id>``, ``model.<name>`` and the load date as Jinja.

    ``own`` is the build's own name, which becomes ``this``; ``source`` is the name of the dbt
    source. ``backslashes`` says that a backslash escapes inside a string and names are quoted with
    backticks, as in BigQuery, Databricks and Snowflake. ``models`` are models that stand for a
    source, by its id.
    """
    pieces: list[str] = []
    start = 0
    for token in _references(sql, _tokens(backslashes)):
        pieces += literally(sql[start : token.start()]), _jinja(token, own, source, models)
        start = token.end()
    pieces.append(literally(sql[start:]))
    return "".join(pieces)


def _references(sql: str, tokens: re.Pattern[str]) -> Iterator[re.Match[str]]:
    position = 0
    while (token := tokens.search(sql, position)) is not None:
        position = token.end()
        if token["comment"]:
            position = _comment_end(sql, position)
        elif token["load_date"] or token["name"]:
            yield token


def _comment_end(sql: str, position: int) -> int:
    """Return where a comment ends that begins before ``position``; comments nest."""
    depth = 1
    while depth and (edge := _COMMENT_EDGE.search(sql, position)) is not None:
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return len(sql) if depth else position


def _jinja(token: re.Match[str], own: str, source: str, models: Mapping[str, str]) -> str:
    if token["load_date"]:
        return f"'{LOAD_DATE}'"
    name = token["name"]
    if token["kind"] == "source" and name in models:
        return f"{{{{ ref('{models[name]}') }}}}"
    if token["kind"] == "source":
        return f"{{{{ source('{source}', '{name}') }}}}"
    return "{{ this }}" if name == own else f"{{{{ ref('{name}') }}}}"


@cache
def _tokens(backslashes: bool) -> re.Pattern[str]:
    texts: tuple[str, ...]
    if backslashes:
        texts = (r"'(?:[^'\\]|\\.|'')*'", r"`(?:[^`\\]|\\.|``)*`")
    else:
        texts = (
            r"(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*'",
            r"'(?:[^']|'')*'",
            r"(?<![\w$])\$(?P<tag>\w*)\$.*?\$(?P=tag)\$",
        )
    parts = (*texts, _QUOTED, _COMMENT, _LOAD_DATE, _RELATION)
    # Only these characters begin a token of interest; looking ahead for one is quick.
    return re.compile(rf"(?=['\"`$/\-eEgGsm])(?:{'|'.join(parts)})", re.DOTALL)
