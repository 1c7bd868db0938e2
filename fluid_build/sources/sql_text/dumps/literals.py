"""The values of INSERT statements: literals as text, and never an expression that is run."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.tokens import (
    BACKSLASH_DQUOTE,
    BACKSLASH_STRING,
    PLAIN_DQUOTE,
    PLAIN_STRING,
)

# Conversions around a literal: whether it comes out of one as it went in.

_TYPE = re.compile(r"\s*([\w\s.\[\]\"]*?)\s*(?:\(\s*(\w+)\s*(?:,\s*(\d+)\s*)?\))?[\s\[\]]*")
_TEXT = frozenset(
    ("CHAR", "CHARACTER", "NCHAR", "VARCHAR", "NVARCHAR", "VARCHAR2", "NVARCHAR2", "BPCHAR",
     "CHARACTER VARYING", "CHAR VARYING")
)  # fmt: skip
_ONE_CHARACTER = frozenset(("CHAR", "CHARACTER", "NCHAR"))
_SHORT_IN_SQL_SERVER = 30
"""Characters of a VARCHAR without a length in SQL Server's CAST."""
_WHOLE = frozenset(
    ("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "INT2", "INT4", "INT8", "SIGNED",
     "UNSIGNED", "SIGNED INTEGER", "UNSIGNED INTEGER")
)  # fmt: skip
_DECIMAL = frozenset(("DECIMAL", "NUMERIC", "DEC", "NUMBER"))
_FRACTION = {"DATETIME": 3, "SMALLDATETIME": 0, "DATETIME2": 7, "DATETIMEOFFSET": 7}
"""Digits of a second that a type keeps; others of the sort keep six."""


def survives(text: str, type_: str, *, is_cast: bool) -> bool:
    """Return whether a literal's text is the same after a conversion to a type.

    ``is_cast`` tells CAST from PostgreSQL's ``::``. A type that isn't known is taken for one that
    keeps the text, such as an enumeration's.
    """
    match = _TYPE.fullmatch(type_)
    if match is None:
        return False
    words = match[1].replace("[", "").replace("]", "").replace('"', "").upper().split()
    name = " ".join(words).rpartition(".")[2]
    width = int(match[2]) if match[2] and match[2].isdecimal() else None
    if name in _TEXT:
        if match[2] is None:
            width = _default_width(name, is_cast=is_cast)
        return width is None or len(text) <= width
    if name in _WHOLE:
        return re.fullmatch(r"-?\d+", text) is not None
    if name in _DECIMAL:
        scale = int(match[3] or 0) if width is not None or is_cast else None
        decimals = text.partition(".")[2].rstrip("0")
        return scale is None or ("e" not in text.lower() and len(decimals) <= scale)
    if name == "DATE":
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
    if name == "SMALLDATETIME" and not re.search(r"(?<![\d:])\d\d:\d\d(?::00(?:\.0*)?)?$", text):
        return False
    if name.startswith(("TIME", "DATETIME", "SMALLDATETIME")):
        kept = width if width is not None else _FRACTION.get(name, 6)
        fraction = re.search(r":\d\d\.(\d+)", text)
        return fraction is None or len(fraction[1].rstrip("0")) <= kept
    return True


def _default_width(name: str, *, is_cast: bool) -> int | None:
    if name in _ONE_CHARACTER:
        return 1
    return _SHORT_IN_SQL_SERVER if is_cast and name in ("VARCHAR", "NVARCHAR") else None


Row: TypeAlias = list[str | None]

BINARY = "\\x"
"""Begins the hexadecimal digits of a binary value."""


class Hexadecimal(str):
    """The hexadecimal digits of a binary value after BINARY, as they stood in the dump."""

    __slots__ = ()


class Bits(str):
    """The digits of a binary number, as they stood in the dump."""

    __slots__ = ()


class ManyLines(str):
    """A text with line ends that aren't escaped."""

    __slots__ = ()


class Unstated(str):
    """The word DEFAULT in a value's place, which leaves the value to the server."""

    __slots__ = ()


_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_ISO = (
    r"'(?:YYYY|yyyy|RRRR|SYYYY)[-/](?:MM|mm)[-/](?:DD|dd)(?:[\sT\"]*HH(?:12|24)?:MI(?::SS[^']*)?)?'"
)
"""The formats of Oracle's conversions that leave a literal as DuckDB reads it."""


_ORACLE_TEXT = r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|<[^>]*>|![^!]*!|\|[^|]*\||~[^~]*~|\^[^^]*\^"
"""What stands between the apostrophes of ``q'[…]'``, without the sign that ends it inside."""


_UNICODE = r"'(?:[^'\\]|''|\\(?:\\|[0-9A-Fa-f]{4}|\+[0-9A-Fa-f]{6}))*'(?!\s*UESCAPE\b)"
"""PostgreSQL's and the standard's text with codes of characters, whose sign is the backslash."""
# A comment ends at its line's end: nothing within it is taken for a value.
_LINE_END = r"[^\n]*(?=\n|\Z)"
_COMMENT = rf"--{_LINE_END}|/\*(?!M?!)[^*]*(?:\*(?!/)[^*]*)*\*/"
"""What's in ``/*! … */`` may be rows, which MySQL reads."""


def _value_pattern(string: str, gap: str) -> re.Pattern[str]:
    """Return a pattern for a literal, its conversion if it has one, and what follows it."""
    return re.compile(
        rf"""
        {gap}
        (?P<call>(?:CAST|CONVERT|TO_DATE|TO_TIMESTAMP|TO_TIMESTAMP_TZ|TO_CLOB|HEXTORAW)\s*\(\s*)?
        (?:(?:DATE|TIME|TIMESTAMP|TIMESTAMPTZ|INTERVAL)\s*(?='))?
        (?: (?:[Nn]|_(?P<charset>[a-z]\w*)\s*)?(?P<text>{string})
          | (?P<number>{_NUMBER})(?![\w'])
          | (?P<null>NULL\b)
          | (?P<default>DEFAULT\b)
          | (?P<truth>TRUE\b|FALSE\b)
          | [Xx]'(?P<hex>[0-9A-Fa-f]*)'
          | 0[xX](?P<hex_digits>[0-9A-Fa-f]*)
          | [Bb]'(?P<bits>[01]*)'
          | [Ee](?P<escaped>{BACKSLASH_STRING})
          | [Uu]&(?P<unicode>{_UNICODE})
          | \$(?P<tag>\w*)\$(?P<dollar>[^$]*)\$(?P=tag)\$
          | [Nn]?[Qq]'(?P<oracle>{_ORACLE_TEXT})'
        )
        (?(call)\s{{0,99}}
          (?:AS\s+(?P<cast>[\w\ \[\].]{{1,99}}(?:\((?:[\d\s,]{{0,99}}|max)\))?)|,\s*{_ISO})?\s*\))
        (?:::(?P<type>[\w\ .\[\]"]{{1,99}}(?:\([\d\s,]{{0,99}}\)[\w\ \[\]]{{0,99}})?))?
        {gap}(?P<end>[,)])
        """,
        re.IGNORECASE | re.VERBOSE,
    )


@dataclass(frozen=True, slots=True)
class Literals:
    """How a dialect writes values.

    ``pattern`` is that of a value, and ``commented`` the same with comments around it, which is
    slower. ``escapes`` is what the sign behind a backslash stands for, None where a backslash is
    an ordinary character; ``has_codes`` says that codes of characters may stand there too.
    """

    pattern: re.Pattern[str]
    commented: re.Pattern[str]
    opening: re.Pattern[str]
    string: re.Pattern[str]
    comment: re.Pattern[str]
    escapes: Mapping[str, str] | None
    has_codes: bool


@cache
def literals_of(dialect: Dialect) -> Literals:
    """Return how values are written in a dialect."""
    is_mysql = dialect.version_comments
    string = BACKSLASH_STRING if dialect.backslash else PLAIN_STRING
    quoted = f"{string}|{BACKSLASH_DQUOTE if dialect.backslash else PLAIN_DQUOTE}"
    comment = rf"{_COMMENT}|\#{_LINE_END}" if dialect.hash_comments else _COMMENT
    value = quoted if dialect.quote == "`" else string
    return Literals(
        pattern=_value_pattern(value, r"\s*"),
        commented=_value_pattern(value, rf"(?:\s|{comment})*"),
        opening=re.compile(rf"(?:[\s,]|{comment})*(?:ROW\s*)?\(", re.IGNORECASE),
        string=re.compile(quoted if dialect.quote == "`" else string),
        comment=re.compile(comment),
        escapes=(_IN_MYSQL if is_mysql else _IN_POSTGRES) if dialect.backslash else None,
        has_codes=not is_mysql,
    )


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CODE = re.compile(
    r"((?:\\(?:x[0-9A-Fa-f]{1,2}|[0-7]{1,3}))+)|((?:\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}))+)"
    r"|\\(.)",
    re.DOTALL,
)
_BYTE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))")
_CHARACTER = re.compile(r"\\(?:[uU]|\+)?([0-9A-Fa-f]+)")
_UNICODE_CODES = re.compile(r"\\\\|(?:\\(?:[0-9A-Fa-f]{4}|\+[0-9A-Fa-f]{6}))+")
_IN_POSTGRES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
_IN_MYSQL = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_",
}  # fmt: skip
"""What MySQL knows; it keeps the backslash before the signs of LIKE."""


_CLAUSE = re.compile(
    rf"(?:[\s,]|{_COMMENT}|\#{_LINE_END}|\*/)*(?:\Z|ON\s+(?:CONFLICT|DUPLICATE)\b|RETURNING\b|AS\s)",
    re.IGNORECASE,
)
"""What may stand behind the last row: comments, their ends, and clauses without rows."""


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
    match_value, match_commented = literals.pattern.match, literals.commented.match
    position = start
    while opening := literals.opening.match(text, position, end):
        position = opening.end()
        row: Row = []
        while True:
            value = match_value(text, position, end) or match_commented(text, position, end)
            try:
                if value is None:
                    raise ValueError("it's no literal")
                row.append(_as_text(value, literals))
            except ValueError:
                position, is_whole = _after_row(text, position, end, literals)
                yield LeftOut("row" if is_whole else "cut row", opening.end(), position)
                break
            position = value.end()
            if value["end"] == ")":
                yield row
                break
    if not _CLAUSE.match(text, position, end):
        yield LeftOut("text", position, end)


def _as_text(value: re.Match[str], literals: Literals) -> str | None:
    """Return a value as text; ValueError where it isn't known what a server makes of it."""
    text = _plain_text(value, literals)
    call, cast, type_, charset = value.group("call", "cast", "type", "charset")
    if text is None:
        return None
    if charset and not text.isascii() and not charset.lower().startswith(("utf8", "binary")):
        raise ValueError("its bytes are in another encoding than the file")
    if call and call[0] in "Hh":
        return Hexadecimal(f"{BINARY}{bytes.fromhex(text).hex()}")
    if isinstance(text, Hexadecimal | Unstated):
        # What bytes become is the column's own matter, and so is a value that isn't stated.
        return text
    if (cast and not survives(text, cast, is_cast=True)) or (
        type_ and not survives(text, type_, is_cast=False)
    ):
        raise ValueError("a conversion changes it")
    return text


def _plain_text(value: re.Match[str], literals: Literals) -> str | None:
    text, number, null, truth, digits, more_digits, bits, escaped, unicode, dollar, oracle = (
        value.group(*_KINDS)
    )
    if text is not None:
        mark, inner = text[0], text[1:-1]
        has_lines = "\n" in inner
        if mark in inner:
            inner = inner.replace(mark * 2, mark)
        if literals.escapes is not None and "\\" in inner:
            inner = unescaped(inner, literals.escapes, has_codes=literals.has_codes)
        return ManyLines(inner) if has_lines else inner
    if number is not None:
        return number.removeprefix("+")
    if null is not None:
        return None
    if truth is not None:
        return truth.lower()
    if escaped is not None:
        return unescaped(escaped[1:-1].replace("''", "'"), _IN_POSTGRES, has_codes=True)
    if unicode is not None:
        return _UNICODE_CODES.sub(_characters, unicode[1:-1].replace("''", "'"))
    if bits is not None:
        return Bits(bits)
    if value["default"] is not None:
        return Unstated(value["default"])
    if dollar is not None:
        return dollar
    if oracle is not None:
        return oracle[1:-1]
    return Hexadecimal(f"{BINARY}{digits or more_digits or ''}")


_KINDS = (
    "text", "number", "null", "truth", "hex", "hex_digits", "bits", "escaped", "unicode", "dollar",
    "oracle",
)  # fmt: skip


def unescaped(text: str, escapes: Mapping[str, str], *, has_codes: bool) -> str:
    """Return a text without its backslashes.

    ``has_codes`` says that one may also begin the code of a character or a byte. Raises ValueError
    for codes that are no text.
    """
    if has_codes:
        return _CODE.sub(lambda match: _character(match, escapes), text)
    return _ESCAPE.sub(lambda match: escapes.get(match[1], match[1]), text)


def copied(text: str) -> str:
    """Return a value of a COPY without its backslashes; ValueError for bytes that are no text."""
    return unescaped(text, _IN_POSTGRES, has_codes=True)


def _character(match: re.Match[str], escapes: Mapping[str, str]) -> str:
    codes, characters, sign = match.groups()
    if codes:
        numbers = (int(x, 16) if x else int(octal, 8) for x, octal in _BYTE.findall(codes))
        return bytes(numbers).decode()
    return _characters(match) if characters else escapes.get(sign, sign)


def _characters(match: re.Match[str]) -> str:
    """Return the characters of codes, of which two may be halves of one."""
    if match[0] == "\\\\":
        return "\\"
    codes = (chr(int(code, 16)) for code in _CHARACTER.findall(match[0]))
    return "".join(codes).encode("utf-16", "surrogatepass").decode("utf-16")


_SKIPPED = re.compile(r"[^()'\"\-/#]+")


def _after_row(text: str, position: int, end: int, literals: Literals) -> tuple[int, bool]:
    """Return the offset behind a row that can't be read, and whether its parentheses close."""
    string = literals.string
    depth = 1
    while position < end:
        plain = _SKIPPED.match(text, position, end)
        position = plain.end() if plain else position
        if position >= end:
            break
        quoted = string.match(text, position, end) or literals.comment.match(text, position, end)
        if quoted:
            position = quoted.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            return position, True
    return end, False
