"""Tokens of SQL text in any dialect, and text made of them again."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from fluid_build.sources.ddl.dialects import Dialect

TokenKind: TypeAlias = Literal["word", "name", "dquote", "string", "number", "sign"]


class Token(NamedTuple):
    """A piece of SQL.

    ``text`` is its value: a quoted name or string comes without quotes and escapes. ``upper`` is
    the upper-case spelling of a bare word, the sign itself for punctuation, and empty for
    everything else, so that a quoted name is never mistaken for a keyword. ``start`` and ``end``
    are offsets into the text. A ``dquote`` is a name or a string, depending on where it appears.
    """

    kind: TokenKind
    text: str
    upper: str
    start: int
    end: int


# A text ends at a quote that no other follows. No pattern has a possessive quantifier: in Python
# 3.11.2, a group that has one stops too early, which would lose rows.
PLAIN_STRING = r"'[^']*(?:''[^']*)*'(?!')"
BACKSLASH_STRING = r"'[^'\\]*(?:(?:\\(?s:.)|'')[^'\\]*)*'(?!')"
_BACKSLASH_DQUOTE = r'"[^"\\]*(?:(?:\\(?s:.)|"")[^"\\]*)*"(?!")'
_DOLLAR = r"(?P<dollar>\$(?P<tag>(?:[^\W\d]\w*)?)\$(?s:.*?)\$(?P=tag)\$)"
_ORACLE_QUOTE = (
    r"(?P<oquote>[Nn]?[Qq]'(?:\[(?s:.*?)\]|\{(?s:.*?)\}|\((?s:.*?)\)|<(?s:.*?)>"
    r"|(?P<fence>[^\s\w\[{(<])(?s:.*?)(?P=fence))')"
)
_TRIPLE = r"(?P<triple>[rRbB]{0,2}(?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''))"
_WORD = r"(?:[^\W\d]|[@#$](?=\w)|\$\([^)\n]*\)|\$\{[^}\n]*\})[\w$#@]*"


@cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    comments = ["--", *(["\\#"] if dialect.hash_comments else [])]
    comments += ["//"] if dialect.slash_comments else []
    string = BACKSLASH_STRING if dialect.backslash else PLAIN_STRING
    dquote = _BACKSLASH_DQUOTE if dialect.backslash else PLAIN_STRING.replace("'", '"')
    parts = [
        r"(?P<space>[\s\ufeff\x00]+)",
        rf"(?P<comment>(?:{'|'.join(comments)})[^\n]*)",
        # MySQL runs what's inside /*!40101 … */, so only the two ends are skipped.
        r"(?P<version>/\*M?!(?!999999)\d*|\*/)" if dialect.version_comments else "",
        r"(?P<block>/\*)",
        _TRIPLE if dialect.name == "bigquery" else "",
        _ORACLE_QUOTE if dialect.sqlplus else "",
        _DOLLAR if dialect.dollar_quotes else "",
        rf"(?P<estring>[Ee]{BACKSLASH_STRING})",
        rf"(?P<string>(?:[NnBbXxRr]|[Uu]&|_\w+\s?)?{string})",
        rf"(?P<dquote>(?:[Uu]&)?{dquote})",
        r"(?P<backtick>`[^`]*(?:``[^`]*)*`(?!`))",
        # Bounded, or a text of opening brackets would be searched to its end for each of them.
        r"(?P<bracket>\[[^\]]{0,300}(?:\]\][^\]]{0,300})*\](?!\]))" if dialect.brackets else "",
        r"(?P<number>\d[\w.]*)",
        rf"(?P<word>{_WORD})",
        r"(?P<sign>[^\s])",
    ]
    return re.compile("|".join(part for part in parts if part))


_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ESCAPE = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def comment_end(text: str, start: int, *, nested: bool) -> int:
    """Return the offset after the block comment at ``start``; the text's end if it's open."""
    if not nested:
        end = text.find("*/", start + 2)
        return len(text) if end < 0 else end + 2
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)


def next_token(text: str, dialect: Dialect, position: int) -> Token | None:
    """Return the first token at or after a position; None if only space and comments are left."""
    pattern = _pattern(dialect)
    while match := pattern.match(text, position):
        kind = match.lastgroup
        if kind == "block":
            position = comment_end(text, position, nested=dialect.nested_comments)
        elif kind in ("space", "comment", "version"):
            position = match.end()
        else:
            return _token(match, str(kind), dialect)
    return None


def tokens_of(text: str, dialect: Dialect) -> tuple[Token, ...]:
    """Return all tokens of a text."""
    tokens = []
    position = 0
    while token := next_token(text, dialect, position):
        tokens.append(token)
        position = token.end
    return tuple(tokens)


def _token(match: re.Match[str], kind: str, dialect: Dialect) -> Token:
    raw, start, end = match.group(), match.start(), match.end()
    if kind == "word":
        return Token("word", raw, raw.upper(), start, end)
    if kind == "sign":
        return Token("sign", raw, raw, start, end)
    if kind == "number":
        return Token("number", raw, "", start, end)
    if kind in ("backtick", "bracket"):
        return Token("name", raw[1:-1].replace(raw[-1] * 2, raw[-1]), "", start, end)
    if kind == "dquote":
        return Token("dquote", _unescape(raw, '"', dialect.backslash), "", start, end)
    return Token("string", _string_value(kind, raw, dialect), "", start, end)


def _string_value(kind: str, raw: str, dialect: Dialect) -> str:
    if kind == "dollar":
        edge = raw.index("$", 1) + 1
        return raw[edge:-edge]
    if kind == "oquote":
        return raw[raw.index("'") + 2 : -2]
    if kind == "triple":
        return raw.lstrip("rRbB")[3:-3]
    return _unescape(raw, "'", kind == "estring" or dialect.backslash)


def _unescape(raw: str, mark: str, backslash: bool) -> str:
    inner = raw[raw.index(mark) + 1 : -1]
    if not backslash or "\\" not in inner:
        return inner.replace(mark * 2, mark)
    return _ESCAPE.sub(lambda hit: _ESCAPED.get(hit[1], hit[1]) if hit[1] else mark, inner)


def written(tokens: Iterable[Token]) -> str:
    """Return tokens as the user spelled and spaced them, but names without their quotes."""
    text = ""
    end = None
    for token in tokens:
        gap = end is not None and token.start > end and token.upper != "("
        text += (" " if gap else "") + (f"'{token.text}'" if token.kind == "string" else token.text)
        end = token.end
    return text


def spell(tokens: Iterable[Token], dialect: Dialect) -> str:
    """Return tokens in the dialect's own quotes, each on a line, so that errors name the token."""
    return "\n".join(_quoted(token, dialect) for token in tokens)


def _quoted(token: Token, dialect: Dialect) -> str:
    if token.kind == "name":
        return dialect.quote + token.text.replace(dialect.quote, dialect.quote * 2) + dialect.quote
    if token.kind not in ("dquote", "string"):
        return token.text
    mark = '"' if token.kind == "dquote" else "'"
    if dialect.backslash:
        text = token.text.replace("\\", "\\\\").replace("\n", "\\n")
        return mark + text.replace(mark, f"\\{mark}") + mark
    return mark + token.text.replace(mark, mark * 2) + mark
