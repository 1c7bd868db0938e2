"""Where a plan's SQL names a relation or the load date, so that a project can put its own there.

The text is tokenized as a database would, so that a string, a quoted name or a comment that
contains the same words is left alone.
"""

import re
from collections.abc import Iterator
from functools import cache

_RELATION = r"(?<![\w$.])(?P<kind>source|model)\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
_LOAD_DATE = r"(?P<load_date>(?i:getvariable)\(\s*'load_date'\s*\))"
_COMMENT = r"--[^\n]*|(?P<comment>/\*)"
_QUOTED = r'(?P<quoted>"(?:[^"]|"")*")'
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def references(sql: str, *, backslashes: bool = False) -> Iterator[re.Match[str]]:
    """Yield the relations, load dates and quoted names in SQL, in the order of the text.

    A match has one of the groups ``name`` (of a relation, whose ``kind`` is source or model),
    ``load_date`` and ``quoted``. ``backslashes`` says that a backslash escapes inside a string and
    names are quoted with backticks, as in BigQuery, Databricks and Snowflake.
    """
    tokens = _tokens(backslashes)
    position = 0
    while (token := tokens.search(sql, position)) is not None:
        position = token.end()
        if token["comment"]:
            position = _comment_end(sql, position)
        elif token["load_date"] or token["name"] or token["quoted"]:
            yield token


def _comment_end(sql: str, position: int) -> int:
    """Return where a comment ends that begins before ``position``; comments nest."""
    depth = 1
    while depth and (edge := _COMMENT_EDGE.search(sql, position)) is not None:
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return len(sql) if depth else position


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
