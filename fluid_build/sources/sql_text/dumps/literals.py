"""The values of INSERT statements: literals as text, and never an expression that is run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fluid_build.sources.sql_text.ddl.tokens import BACKSLASH_STRING, PLAIN_STRING

Row: TypeAlias = list[str | None]

BINARY = "\\x"
"""Begins the hexadecimal digits of a binary value."""


class Hexadecimal(str):
    """The hexadecimal digits of a binary value after BINARY, as they stood in the dump."""

    __slots__ = ()


class ManyLines(str):
    """A text with line ends that aren't escaped."""

    __slots__ = ()


_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_ISO = r"'(?:YYYY|yyyy|RRRR|SYYYY)[-/](?:MM|mm)[-/](?:DD|dd)[^']*'"
"""The formats of Oracle's conversions that leave a literal as DuckDB reads it."""


_ORACLE_TEXT = r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|<[^>]*>|![^!]*!|\|[^|]*\||~[^~]*~|\^[^^]*\^"
"""What stands between the apostrophes of ``q'[…]'``, without the sign that ends it inside."""


def _value_pattern(string: str) -> re.Pattern[str]:
    """Return a pattern for a literal, its conversion if it has one, and what follows it."""
    return re.compile(
        rf"""
        \s*
        (?P<call>(?:CAST|CONVERT|TO_DATE|TO_TIMESTAMP|TO_TIMESTAMP_TZ|TO_CLOB|HEXTORAW)\s*\(\s*)?
        (?:(?:DATE|TIME|TIMESTAMP|TIMESTAMPTZ|INTERVAL)\s*(?='))?
        (?: (?:[NnRr]|_[a-z]\w*\s*|[Uu]&)?(?P<text>{string})
          | (?P<number>{_NUMBER})(?![\w'])
          | (?P<null>NULL\b)
          | (?P<truth>TRUE\b|FALSE\b)
          | [Xx]'(?P<hex>[0-9A-Fa-f]*)'
          | 0[xX](?P<hex_digits>[0-9A-Fa-f]*)
          | [Bb]'(?P<bits>[01]*)'
          | [Ee](?P<escaped>{BACKSLASH_STRING})
          | \$(?P<tag>\w*)\$(?P<dollar>[^$]*)\$(?P=tag)\$
          | [Nn]?[Qq]'(?P<oracle>{_ORACLE_TEXT})'
        )
        (?(call)\s{{0,99}}(?:AS\s+[\w\ \[\].]{{1,99}}(?:\([\d\s,]{{0,99}}\))?|,\s*{_ISO})?\s*\))
        (?:::[\w\ .\[\]"]{{1,99}}(?:\([\d\s,]{{0,99}}\)[\w\ \[\]]{{0,99}})?)?
        \s*(?P<end>[,)])
        """,
        re.IGNORECASE | re.VERBOSE,
    )


@dataclass(frozen=True, slots=True)
class Literals:
    """How a dialect writes values: whether a backslash escapes in every text."""

    pattern: re.Pattern[str]
    backslash: bool


_STANDARD = Literals(_value_pattern(PLAIN_STRING), backslash=False)
_BACKSLASH = Literals(_value_pattern(BACKSLASH_STRING), backslash=True)


def literals_of(*, backslash: bool) -> Literals:
    """Return how values are written where a backslash escapes, or where it doesn't."""
    return _BACKSLASH if backslash else _STANDARD


_OPEN = re.compile(r"(?:[\s,]|--[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*(?:ROW\s*)?\(", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{1,2}|[0-7]{3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a", "f": "\f"}


_CLAUSE = re.compile(
    r"(?:[\s,]|--[^\n]*|\#[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*"
    r"(?:\Z|ON\s+(?:CONFLICT|DUPLICATE)\b|RETURNING\b|AS\s)",
    re.IGNORECASE,
)
"""What may stand behind the last row: comments, and clauses without rows."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a statement that isn't read, from one offset to another.

    It's a row of which a value isn't a literal, one that never ends, or text behind the rows.
    """

    what: Literal["row", "cut row", "text"]
    start: int
    end: int


def read_rows(text: str, start: int, end: int, literals: Literals) -> Iterator[Row | LeftOut]:
    """Yield the rows of ``(…), (…)`` between two offsets, and what is left out of them."""
    match_value = literals.pattern.match
    position = start
    while opening := _OPEN.match(text, position, end):
        position = opening.end()
        row: Row = []
        while True:
            value = match_value(text, position, end)
            if value is None:
                position, is_whole = _after_row(text, position, end, literals)
                yield LeftOut("row" if is_whole else "cut row", opening.end(), position)
                break
            row.append(_as_text(value, literals))
            position = value.end()
            if value["end"] == ")":
                yield row
                break
    if not _CLAUSE.match(text, position, end):
        yield LeftOut("text", position, end)


def _as_text(value: re.Match[str], literals: Literals) -> str | None:
    text, number, null, truth, digits, more_digits, bits, escaped, dollar, oracle = value.group(
        *_KINDS
    )
    if text is not None:
        inner = text[1:-1]
        has_lines = "\n" in inner
        if "'" in inner:
            inner = inner.replace("''", "'")
        if literals.backslash and "\\" in inner:
            inner = unescaped(inner, has_codes=False)
        return ManyLines(inner) if has_lines else inner
    if number is not None:
        return number.removeprefix("+")
    if null is not None:
        return None
    if truth is not None:
        return truth.lower()
    if escaped is not None:
        return unescaped(escaped[1:-1].replace("''", "'"), has_codes=True)
    if bits is not None:
        return bits
    if dollar is not None:
        return dollar
    if oracle is not None:
        return oracle[1:-1]
    return Hexadecimal(f"{BINARY}{digits or more_digits or ''}")


_KINDS = (
    "text", "number", "null", "truth", "hex", "hex_digits", "bits", "escaped", "dollar", "oracle",
)  # fmt: skip


def unescaped(text: str, *, has_codes: bool) -> str:
    """Return a text without its backslashes.

    In PostgreSQL, a backslash may also begin the code of a character.
    """
    return _ESCAPE.sub(lambda match: _character(match[1], has_codes=has_codes), text)


def _character(code: str, *, has_codes: bool) -> str:
    if len(code) == 1:
        return _ESCAPED.get(code, code)
    if not has_codes:
        return code
    return chr(int(code, 8) if code.isdigit() else int(code[1:], 16))


_SKIPPED = re.compile(r"[^()'\"]+")


def _after_row(text: str, position: int, end: int, literals: Literals) -> tuple[int, bool]:
    """Return the offset behind a row that can't be read, and whether its parentheses close."""
    string = re.compile(BACKSLASH_STRING if literals.backslash else PLAIN_STRING)
    depth = 1
    while position < end:
        plain = _SKIPPED.match(text, position, end)
        position = plain.end() if plain else position
        if position >= end:
            break
        quoted = string.match(text, position, end)
        if quoted:
            position = quoted.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            return position, True
    return end, False
