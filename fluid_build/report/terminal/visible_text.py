"""Text from strangers, made safe to show on a terminal."""

import unicodedata
from typing import TextIO

_DIRECTION_MARKS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ASCII_GLYPHS = {"→": "->", "…": "...", "·": "-", "✓": "ok"}


def visible(text: str) -> str:
    """Return the text with every character that could act on a terminal escaped.

    Control characters (C0, C1, DEL), line separators, marks that turn the direction of writing,
    and halves of surrogate pairs (as in file names that are not valid text) are escaped; all
    other characters, of whatever script, stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if _acts(char) else char for char in text)


def _acts(char: str) -> bool:
    return char in _DIRECTION_MARKS or unicodedata.category(char) in _UNSAFE_CATEGORIES


def _escape(char: str) -> str:
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def for_stream(text: str, stream: TextIO) -> str:
    """Return the text with our own glyphs in ASCII where the stream's encoding lacks them."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    for glyph, substitute in _ASCII_GLYPHS.items():
        if glyph in text and not _can_encode(glyph, encoding):
            text = text.replace(glyph, substitute)
    return text


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
