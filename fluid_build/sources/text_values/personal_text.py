"""What may be shown of a value: nothing that a person could be reached or charged by.

A column is judged by a sample of its values, so one that passes as harmless may still hold an
e-mail address in a row that nobody looked at. Every value that is shown or written, and every
message of an engine that could quote one, passes here first.
"""

import re
from collections.abc import Iterator
from itertools import cycle
from typing import Final

from fluid_build.text import clip

MASK: Final = "***"
_LONGEST_QUOTE: Final = 30
_LETTERS_OF_UNIT: Final = 3
"""EUR, or the exponent of a number."""

IBAN: Final = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z\d]{2,4}){3,8}", re.IGNORECASE | re.ASCII)
CARD_ISSUER: Final = re.compile(
    r"4\d{15}|4\d{12}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6\d{15}|35\d{14}|(?:2131|1800)\d{11}|3[068]\d{12}"
)
_EMAIL: Final = re.compile(
    r"[^\s@<>()\[\]{},;:\"'=/&?]{1,64}(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
_DIALLED: Final = re.compile(
    r"(?<![\w+])\+\d[\d ()./-]{6,18}\d(?!\w)"
    r"|(?<![\w.(-])(?:\(\d{3}\) ?\d{3}[-. ]|\d{3}([-. ])\d{3}\1)\d{4}(?![\w-])"
    r"|(?<![\w.,-])(?:\(0\d{1,4}\) ?|0\d{2,4}[ /-])\d{5,9}(?![\w-])"
)
"""Phone numbers as people write them: with a country code, or grouped as in America or Europe."""
_SOCIAL_SECURITY: Final = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_LONG_NUMBER: Final = re.compile(r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-])")
_ACCOUNT: Final = re.compile(
    r"(?<![\w+/=])[A-Z]{2}\d{2}(?: ?[A-Z\d]{2,4}){3,8}(?![\w+/=])", re.ASCII | re.IGNORECASE
)
"""An account's number, but not where Base64 goes on around it."""
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34
_DIGITS: Final = re.compile(r"\d{3}")

_DOCUMENT: Final = re.compile(
    r"\s*(?:[\[{]|<[?!A-Za-z]|\([^()]*,.*\)\s*$|\"[^\"]*\"\s*=>)", re.DOTALL
)
"""JSON, an array or struct as text, XML, and a composite value or hstore of PostgreSQL."""

_QUOTED_VALUE: Final = re.compile(
    r"""(?ix) \b ( (?: string | value | input | literal | key | date | number | json | range: | line
          | near | token: | syntax\ for\ type\ [\w ]+ : ) \s* [:=]? \s* )
        (?: ' (?: [^'\\] | \\. )* ' | " (?: [^"\\] | \\. )* " )"""
)
_KEY_DETAIL: Final = re.compile(
    r"(\bKey \([^()]*\)=)\(.*?\)(?= (?:already|is |conflicts|exists)|$)"
)
"""What PostgreSQL says of a row that breaks a key: ``Key (name)=(Ann) already exists``."""
_ORIGINAL_LINE: Final = re.compile(r"(Original Line:).*", re.IGNORECASE)


ABSENT: Final = frozenset(
    ("", *r"- -- . ? null none n/a #n/a na nan nil \n unknown tbd missing".split())
)
"""Words that stand for a missing value, which are nobody's."""
_NAME: Final = re.compile(r"[^\W\d_]+[\s,.'-]+[^\W\d_]|[^\W\d_a-z][^\W\d_]{2,}")
"""Words, or one with a capital letter: they may name a person."""
_RUNNING_DIGITS: Final = "1234567890"


def quotable(value: str, *, is_personal: bool | None) -> str:
    """Return what a note, an error or a question may quote of a value; empty for nothing.

    ``is_personal`` is what is known of its column: None while its text is still being read, when
    any value may turn out to be somebody's. Only words for a missing value pass then.
    """
    bare = value.strip()
    if is_personal:
        return ""
    if bare.lower() in ABSENT or (is_personal is False and _may_be_nobodys(bare)):
        return clip(bare, _LONGEST_QUOTE)
    return ""


def spelled_like(number: str) -> str:
    """Return how a number is spelled, with its signs and marks but not its digits.

    1.234,56 of 9.870,15. Empty where it has other letters than a unit's.
    """
    bare = number.strip()
    letters = sum(map(str.isalpha, bare))
    if letters > _LETTERS_OF_UNIT or len(bare) > _LONGEST_QUOTE or not bare.isprintable():
        return ""
    digits = cycle(_RUNNING_DIGITS)
    return "".join(next(digits) if char.isdecimal() else char for char in bare)


def _may_be_nobodys(value: str) -> bool:
    return presentable(value) and _NAME.search(value) is None


def presentable(value: str) -> bool:
    """Return whether a value of a column that isn't personal may be shown or written.

    Documents (JSON, arrays, XML) never are, since nobody looks into each of them; nor is text with
    an e-mail address, a phone, account, card or social security number in it.
    """
    return _DOCUMENT.match(value) is None and not holds_personal(value)


def holds_personal(text: str) -> bool:
    """Return whether a text has something in it that a person could be reached or charged by."""
    return next(_personal_spans(text), None) is not None


def mentions_personal(text: str) -> bool:
    """Like ``holds_personal``, but a text that is one number as a whole isn't enough.

    Whether a column of bare numbers holds phone or card numbers is judged by all of them together.
    """
    bare = text.strip()
    return any(
        bare != text[start:end].strip() or "@" in bare for start, end in _personal_spans(text)
    )


def without_values(message: str) -> str:
    """Return an engine's message without the values that it quotes, and nothing personal in it."""
    message = _ORIGINAL_LINE.sub(rf"\1 {MASK}", _QUOTED_VALUE.sub(rf"\1{MASK}", message))
    message = _KEY_DETAIL.sub(rf"\1({MASK})", message)
    parts, at = [], 0
    for start, end in sorted(_personal_spans(message)):
        if start >= at:
            parts += [message[at:start], MASK]
        at = max(at, end)
    return "".join([*parts, message[at:]])


def _personal_spans(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text or "%40" in text:
        yield from (match.span() for match in _EMAIL.finditer(text))
    if not _DIGITS.search(text):
        return
    for pattern in (_DIALLED, _SOCIAL_SECURITY):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _LONG_NUMBER.finditer(text) if is_card(match[0]))
    yield from (match.span() for match in _ACCOUNT.finditer(text) if _starts_with_iban(match[0]))


def _starts_with_iban(text: str) -> bool:
    compact = text.replace(" ", "")
    longest = min(len(compact), _LONGEST_IBAN)
    return any(is_iban(compact[:end]) for end in range(_SHORTEST_IBAN, longest + 1))


_NOT_DIGITS = re.compile(r"\D+")
_DOUBLED = str.maketrans("0123456789", "0246813579")


def digits_of(value: str) -> str:
    """Return the digits of a value."""
    return value if value.isdigit() else _NOT_DIGITS.sub("", value)


def passes_luhn(value: str) -> bool:
    """Return whether the digits of a value end in the check digit of ISO/IEC 7812-1."""
    digits = digits_of(value)
    if len(digits) < 12 or digits == digits[0] * len(digits):
        return False
    return (
        sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))
    ) % 10 == 0


def is_card(value: str) -> bool:
    """Return a number of a known card issuer with its check digit right."""
    digits = value.replace(" ", "").replace("-", "")
    return CARD_ISSUER.fullmatch(digits) is not None and passes_luhn(digits)


def is_iban(value: str) -> bool:
    """Return an IBAN with its check digits right (ISO 13616)."""
    if not IBAN.fullmatch(value):
        return False
    compact = value.replace(" ", "").upper()
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1
