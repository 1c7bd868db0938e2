"""The values of INSERT statements: literals as text, and never an expression that is run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.sources.ddl.tokens import BACKSLASH_STRING, PLAIN_STRING

Row: TypeAlias = list[str | None]

BINARY = "\\x"
"""Begins the hexadecimal digits of a binary value."""

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_ISO = r"'(?:YYYY|yyyy|RRRR|SYYYY)[-/](?:MM|mm)[-/](?:DD|dd)[^']*'"
"""The formats of Oracle's conversions that leave a literal as DuckDB reads it."""


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


def read_rows(text: str, start: int, end: int, literals: Literals) -> Iterator[Row | int]:
    """Yield the rows of ``(…), (…)`` between two offsets.

    A row with a value that isn't a literal is yielded as its offset, and left out.
    """
    match_value = literals.pattern.match
    position = start
    while opening := _OPEN.match(text, position, end):
        position = opening.end()
        row: Row = []
        while True:
            value = match_value(text, position, end)
            if value is None:
                yield opening.end()
                position = _after_row(text, position, end, literals)
                break
            row.append(_as_text(value, literals))
            position = value.end()
            if value["end"] == ")":
                yield row
                break


def _as_text(value: re.Match[str], literals: Literals) -> str | None:
    text, number, null, truth, digits, more_digits, bits, escaped = value.group(*_KINDS)
    if text is not None:
        inner = text[1:-1]
        if literals.backslash and "\\" in inner:
            return unescaped(inner.replace("''", "'"), has_codes=False)
        return inner.replace("''", "'") if "'" in inner else inner
    if number is not None:
        return number.removeprefix("+")
    if null is not None:
        return None
    if truth is not None:
        return truth.lower()
    if escaped is not None:
        return unescaped(escaped[1:-1].replace("''", "'"), has_codes=True)
    return bits if bits is not None else f"{BINARY}{digits or more_digits or ''}"


_KINDS = ("text", "number", "null", "truth", "hex", "hex_digits", "bits", "escaped")


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


def _after_row(text: str, position: int, end: int, literals: Literals) -> int:
    """Return the offset behind a row that can't be read; its parentheses are counted."""
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
            return position
    return end
