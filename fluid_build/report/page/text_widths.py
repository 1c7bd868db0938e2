"""How wide text is at most, whatever font a reader has.

A page doesn't know the fonts of its readers. The widths are those of DejaVu Sans, the widest of the
common system fonts, rounded up: what fits by them fits in Segoe UI, Roboto and San Francisco.
"""

import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

_ELLIPSIS = "…"
_WIDTHS = {
    character: width
    for characters, width in (
        ("ijlIJf' ,.:;|/\\-·", 0.36),
        ('()[]tr!"', 0.46),
        ("*_`sz?cLFk", 0.6),
        ("KAVBRXZCUHNDGQO&", 0.79),
        ("mwWM%@#+<=>^~…", 1.0),
    )
    for character in characters
}
"""In em; other characters of ASCII are at most 0.64 em wide."""
_ASCII_WIDTH = 0.64
# The widest letters of DejaVu Sans outside of ASCII and the full width of CJK are below this.
_FOREIGN_WIDTH = 1.25
# Emoji, symbols and rare scripts come from whatever fallback font there is.
_RARE_WIDTH = 1.9
_BOLD_FACTOR = 1.15
# Shorter names begin or end too many words by chance.
_SHORTEST_PIECE = 4
# Shorter words fit in a line: shipments isn't broken because another name has ship in it.
_SHORTEST_DIVIDED = 10


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the greatest width of a text in pixels; ``size`` is that of the font."""
    return _em_width(text) * size * (_BOLD_FACTOR if bold else 1)


@lru_cache(maxsize=65_536)
def _em_width(text: str) -> float:
    """Return the greatest width of a text in em; types and names of columns recur everywhere."""
    return sum(map(_character_width, text))


def clipped(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return the text, its end replaced by an ellipsis where it's wider than ``width``."""
    if text_width(text, size, bold=bold) <= width:
        return text
    room = width - text_width(_ELLIPSIS, size, bold=bold)
    end = 0
    for character in text:
        room -= text_width(character, size, bold=bold)
        if room < 0:
            break
        end += 1
    return text[:end].rstrip() + _ELLIPSIS


def single_line(text: str) -> str:
    """Return the text with every run of white space and control characters as a single space."""
    spaced = (" " if unicodedata.category(each) in ("Cc", "Zl", "Zp") else each for each in text)
    return " ".join("".join(spaced).split())


def words(name: str, known: Collection[str] = ()) -> Iterator[str]:
    """Return the pieces of a name at which it may break over lines: together they are the name.

    They end at punctuation, before a capital letter, and before or after a ``known`` name, which
    divides names such as ``customeraddress``.
    """
    start = 0
    for place in range(1, len(name)):
        before, after = name[place - 1], name[place]
        if before in "_-. /" or (before.islower() and after.isupper()):
            yield from _divided(name[start:place], known)
            start = place
    if start < len(name):
        yield from _divided(name[start:], known)


def _divided(word: str, known: Collection[str]) -> Iterator[str]:
    """Return a word in two where it begins or ends with a known name, as long as may be."""
    if len(word) < _SHORTEST_DIVIDED:
        yield word
        return
    places = range(_SHORTEST_PIECE, len(word) - _SHORTEST_PIECE + 1)
    ends = [place for place in places if word[:place] in known]
    starts = [place for place in places if word[place:] in known]
    if ends or starts:
        place = ends[-1] if ends else starts[0]
        yield from (word[:place], word[place:])
    else:
        yield word


@lru_cache(maxsize=4096)
def _character_width(character: str) -> float:
    if character.isascii():
        return _WIDTHS.get(character, _ASCII_WIDTH)
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.category(character)[0] == "L" and ord(character) <= 0xFFFF:
        return _FOREIGN_WIDTH
    return _RARE_WIDTH
