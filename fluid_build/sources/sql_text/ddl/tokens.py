"""Tokens of SQL text in any dialect, and text made of them again."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from fluid_build.sources.sql_text.ddl.dialects import Dialect

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
PLAIN_DQUOTE = PLAIN_STRING.replace("'", '"')
BACKSLASH_DQUOTE = r'"[^"\\]*(?:(?:\\(?s:.)|"")[^"\\]*)*"(?!")'
# Of these only the beginnings: see ``Tokenizer``.
_TAG = r"\$(?:[^\W\d]\w*)?\$"
_DOLLAR = rf"(?P<dollar>{_TAG})"
_ORACLE_QUOTE = r"(?P<oquote>[Nn]?[Qq]'(?=[!-~])[^\s\w])"
_TRIPLE = r"(?P<triple>[rRbB]{0,2}(?:\"\"\"|'''))"
_ANY_TAG = re.compile(r"\$(?=([^\W\d]\w*)?\$)")
_CLOSING = {"[": "]", "{": "}", "(": ")", "<": ">"}
_QUOTES = ("'", '"')
_WORD = r"(?:[^\W\d]|[@#$](?=\w)|\$\([^)\n]*\)|\$\{[^}\n]*\})[\w$#@]*"


@cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    return _pattern_with(
        dialect,
        _TRIPLE if dialect.name == "bigquery" else "",
        _ORACLE_QUOTE if dialect.sqlplus else "",
        _DOLLAR if dialect.dollar_quotes else "",
    )


@cache
def _pattern_without_long_quotes(dialect: Dialect) -> re.Pattern[str]:
    return _pattern_with(dialect)


def _pattern_with(dialect: Dialect, *long_quotes: str) -> re.Pattern[str]:
    comments = ["--", *(["\\#"] if dialect.hash_comments else [])]
    comments += ["//"] if dialect.slash_comments else []
    string = BACKSLASH_STRING if dialect.backslash else PLAIN_STRING
    dquote = BACKSLASH_DQUOTE if dialect.backslash else PLAIN_DQUOTE
    parts = [
        r"(?P<space>[\s\ufeff\x00]+)",
        rf"(?P<comment>(?:{'|'.join(comments)})[^\n]*)",
        # MySQL runs what's inside /*!40101 … */, so only the two ends are skipped.
        r"(?P<version>/\*M?!(?!999999)\d*|\*/)" if dialect.version_comments else "",
        r"(?P<block>/\*)",
        *long_quotes,
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


class Tokenizer:
    """The tokens of a text.

    What begins ``$tag$``, ``q'[`` or three quotes ends at a text of its own, which is looked for
    once in the whole text: thousands of beginnings without an end would each be searched to the
    text's end otherwise. One without an end is no quote, so that what follows is still read.
    """

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self._pattern = _pattern(dialect)
        self._absent: set[str] = set()
        self._tags: dict[str, list[int]] | None = None
        self._open_quotes: set[str] = set()

    def next(self, position: int) -> Token | None:
        """Return the first token at or after a position; None if only space and comments are left.

        Positions that are asked for never go back.
        """
        while position < len(self.text):
            if self._open_quotes and self._is_escaped_in_open_text(position):
                mark = self.text[position]
                return Token("sign", mark, mark, position, position + 1)
            match = self._pattern.match(self.text, position)
            assert match is not None, "the pattern has an alternative for any character"
            kind = str(match.lastgroup)
            if kind == "block":
                nested = self.dialect.nested_comments
                position = comment_end(self.text, position, nested=nested)
            elif kind in ("space", "comment", "version"):
                position = match.end()
            elif kind in ("dollar", "oquote", "triple"):
                return self._quoted(kind, match)
            else:
                if kind == "sign" and match.group() in _QUOTES and self.dialect.backslash:
                    self._open_quotes.add(match.group())
                return _token(match, kind, self.dialect)
        return None

    def _quoted(self, kind: str, opening: re.Match[str]) -> Token:
        """Return what a quote of any length holds; its first word or sign where it has no end."""
        mark, start = opening.group(), opening.start()
        if kind == "dollar":
            closing, at = mark, self._tag_at_or_after(mark, opening.end())
        else:
            closing = _CLOSING.get(mark[-1], mark[-1]) + "'" if kind == "oquote" else mark[-3:]
            at = self._find(closing, opening.end())
        if at < 0:
            plain = _pattern_without_long_quotes(self.dialect).match(self.text, start)
            assert plain is not None, "the pattern has an alternative for any character"
            return _token(plain, str(plain.lastgroup), self.dialect)
        end = at + len(closing)
        raw = self.text[start:end]
        return Token("string", _string_value(kind, raw, self.dialect), "", start, end)

    def _find(self, closing: str, position: int) -> int:
        """Return where a text is next; -1 where it isn't, which is looked for once."""
        if closing in self._absent:
            return -1
        at = self.text.find(closing, position)
        if at < 0:
            self._absent.add(closing)
        return at

    def _tag_at_or_after(self, tag: str, position: int) -> int:
        """Return where a tag is next, or -1: each dollar quote may have a tag of its own."""
        if self._tags is None:
            self._tags = defaultdict(list)
            for dollar in _ANY_TAG.finditer(self.text):
                self._tags[f"${dollar[1] or ''}$"].append(dollar.start())
        places = self._tags.get(tag, [])
        following = bisect_left(places, position)
        return places[following] if following < len(places) else -1

    def _is_escaped_in_open_text(self, position: int) -> bool:
        """Return whether a quote here was escaped in a text that was searched to no end.

        As the beginning of another text, it would be searched to no end again.
        """
        return self.text[position] in self._open_quotes and self.text[position - 1] == "\\"


def tokens_of(text: str, dialect: Dialect) -> tuple[Token, ...]:
    """Return all tokens of a text."""
    tokenizer = Tokenizer(text, dialect)
    tokens = []
    position = 0
    while token := tokenizer.next(position):
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
