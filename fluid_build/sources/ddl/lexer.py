"""Tokens of SQL text, in any dialect."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from fluid_build.sources.ddl.dialects import Dialect

TokenKind: TypeAlias = Literal["word", "name", "dquote", "string", "number", "punct"]


class Token(NamedTuple):
    """A piece of SQL.

    ``text`` is what it stands for: a quoted name or string without its quotes and escapes.
    ``upper`` is the upper-case spelling of a bare word, the sign itself for punctuation, and empty
    for all else, so that a quoted name is never taken for a keyword. ``start`` and ``end`` are
    offsets into the text. A ``dquote`` is a name or a string, as its place demands.
    """

    kind: TokenKind
    text: str
    upper: str
    start: int
    end: int


_SPACE = r"(?P<space>[\s\ufeff\x00]++)"
_LINE_COMMENT = r"(?P<comment>--[^\n]*+{more})"
_BLOCK_COMMENT = r"(?P<block>/\*)"
_VERSION_COMMENT = r"(?P<version>/\*M?!(?!999999)\d*+|\*/)"
_DOLLAR = r"(?P<dollar>\$(?P<tag>(?:[^\W\d]\w*+)?+)\$(?s:.*?)\$(?P=tag)\$)"
_ORACLE_QUOTE = (
    r"(?P<oquote>[Nn]?[Qq]'(?:\[(?s:.*?)\]|\{(?s:.*?)\}|\((?s:.*?)\)|<(?s:.*?)>"
    r"|(?P<fence>[^\s\w\[{(<])(?s:.*?)(?P=fence))')"
)
_TRIPLE = r"(?P<triple>[rRbB]{0,2}(?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''))"
PLAIN_STRING = r"'[^']*+(?:''[^']*+)*+'"
BACKSLASH_STRING = r"'(?:[^'\\]++|\\(?s:.)|'')*+'"
_PLAIN_DQUOTE = r'"[^"]*+(?:""[^"]*+)*+"'
_BACKSLASH_DQUOTE = r'"(?:[^"\\]++|\\(?s:.)|"")*+"'
_BACKTICK = r"(?P<backtick>`[^`]*+(?:``[^`]*+)*+`)"
_BRACKET = r"(?P<bracket>\[[^\]]*+(?:\]\][^\]]*+)*+\])"
_NUMBER = r"(?P<number>\d[\w.]*+)"
_WORD = r"(?P<word>(?:[^\W\d]|[@#$](?=\w)|\$\([^)\n]*\)|\$\{[^}\n]*\})[\w$#@]*+)"
_PUNCT = r"(?P<punct>[^\s])"


@cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    more = "".join(
        (
            r"|\#[^\n]*+" if dialect.hash_comments else "",
            r"|//[^\n]*+" if dialect.slash_comments else "",
        )
    )
    backslash = dialect.backslash
    string = BACKSLASH_STRING if backslash else PLAIN_STRING
    dquote = _BACKSLASH_DQUOTE if backslash else _PLAIN_DQUOTE
    parts = [
        _SPACE,
        _LINE_COMMENT.format(more=more),
        _VERSION_COMMENT if dialect.version_comments else "",
        _BLOCK_COMMENT,
        _TRIPLE if dialect.name == "bigquery" else "",
        _ORACLE_QUOTE if dialect.sqlplus else "",
        _DOLLAR if dialect.dollar_quotes else "",
        rf"(?P<estring>[Ee]{BACKSLASH_STRING})",
        rf"(?P<string>(?:[NnBbXxRr]|[Uu]&|_\w+\s?)?{string})",
        rf"(?P<dquote>(?:[Uu]&)?{dquote})",
        _BACKTICK,
        _BRACKET if dialect.brackets else "",
        _NUMBER,
        _WORD,
        _PUNCT,
    ]
    return re.compile("|".join(part for part in parts if part))


_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ESCAPE = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def comment_end(text: str, start: int, *, nested: bool) -> int:
    """The offset behind the block comment that opens at ``start``; the text's end if it is open."""
    if not nested:
        end = text.find("*/", start + 2)
        return len(text) if end < 0 else end + 2
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)


def tokens(text: str, dialect: Dialect, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of a text, or of a slice of it, without space and comments."""
    position, stop = start, len(text) if end is None else end
    while True:
        token = next_token(text, dialect, position)
        if token is None or token.start >= stop:
            return
        yield token
        position = token.end


def next_token(text: str, dialect: Dialect, position: int) -> Token | None:
    """The first token at or behind a position; None where only space and comments are left."""
    match = _pattern(dialect).match
    while found := match(text, position):
        kind = found.lastgroup
        if kind == "block":
            position = comment_end(text, position, nested=dialect.nested_comments)
        elif kind in ("space", "comment", "version"):
            position = found.end()
        else:
            return _token(found, str(kind), dialect)
    return None


def _token(found: re.Match[str], kind: str, dialect: Dialect) -> Token:
    raw, start, end = found.group(), found.start(), found.end()
    if kind == "word":
        return Token("word", raw, raw.upper(), start, end)
    if kind == "punct":
        return Token("punct", raw, raw, start, end)
    if kind == "number":
        return Token("number", raw, "", start, end)
    if kind == "backtick":
        return Token("name", raw[1:-1].replace("``", "`"), "", start, end)
    if kind == "bracket":
        return Token("name", raw[1:-1].replace("]]", "]"), "", start, end)
    if kind == "dquote":
        return Token("dquote", _undouble(raw, '"', dialect.backslash), "", start, end)
    return Token("string", _string_value(kind, raw, dialect), "", start, end)


def _string_value(kind: str, raw: str, dialect: Dialect) -> str:
    if kind == "dollar":
        edge = raw.index("$", 1) + 1
        return raw[edge:-edge]
    if kind == "oquote":
        return raw[raw.index("'") + 2 : -2]
    if kind == "triple":
        return raw.lstrip("rRbB")[3:-3]
    return _undouble(raw, "'", kind == "estring" or dialect.backslash)


def _undouble(raw: str, mark: str, backslash: bool) -> str:
    inner = raw[raw.index(mark) + 1 : -1]
    if not backslash:
        return inner.replace(mark * 2, mark)
    plain = inner.replace(mark * 2, mark) if "\\" not in inner else inner
    return _ESCAPE.sub(lambda hit: _ESCAPED.get(hit[1], hit[1]) if hit[1] else mark, plain)
