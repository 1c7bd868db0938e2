"""Which encoding a text is in that isn't Unicode: bytes of one can be read as many others.

An encoding fits where it decodes every byte, and where what it makes of them stands as letters do:
not a symbol within a word, not a capital after a small letter. Of those that fit, the text that
reads most like a language decides, as charset-normalizer judges it.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_WESTERN = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1254": "Windows-1254",
    "cp1257": "Windows-1257",
    "iso8859_2": "ISO-8859-2",
    "iso8859_15": "ISO-8859-15",
    "mac_roman": "Mac Roman",
    "cp850": "CP850",
    "cp437": "CP437",
}
"""Encodings of Latin letters, of which few in a row aren't ASCII."""
_SINGLE_BYTE = _WESTERN | {
    "cp1251": "Windows-1251",
    "koi8_r": "KOI8-R",
    "cp866": "CP866",
    "cp1253": "Windows-1253",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "latin_1": "Latin-1",
}
NAMES = _SINGLE_BYTE | {
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "gb18030": "GB18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
}
"""The encodings told apart, and their usual names."""
ASSUMED = "cp1252"
"""What most files are that aren't Unicode, and what is taken where others fit as well."""
LAST = "latin_1"
"""The one that decodes any byte."""
_SAMPLE = 64 * 1024
"""Bytes of lines that tell encodings apart; more of them cost time and decide nothing else."""
_ALIKE = 0.05
"""A share of misplaced characters that is too small a difference to rule an encoding out: names of
companies and abbreviations have capitals within words."""
_ALIKE_IN_FEW = 0.2
"""What that share is more by where a text has few letters: so many of them may be misplaced."""
FEW = 10
"""Letters that say nothing of a language: what is most usual is taken where it fits as well."""
_ASCII = 0x7F
_ASCII_BYTES = bytes(range(_ASCII + 1))
_BEYOND_ASCII = re.compile("[^\\x00-\\x7f]")
_UTF8_PAIR = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_IN_A_ROW = 0.1
"""How much a second letter in a row counts as misplaced that isn't ASCII, in languages that have
few of them: a word may have two, such as ção, but not all its letters."""
_APOSTROPHES = "\u2019\u2018"
"""The signs that stand within words."""
_DISORDER = 0.1
"""charset-normalizer's measure of disorder, from which on text hardly is of a language."""
_MOSTLY = 0.5
"""The share of lines that are UTF-8 which nobody's Shift JIS or GB18030 reaches by accident. In
encodings with a byte a character, hardly any line is UTF-8 by accident."""


@dataclass(frozen=True, slots=True)
class Guess:
    """The encoding that a text is taken for, and others that read the same bytes otherwise.

    ``unicode_lines`` counts the lines that are UTF-8, where the others aren't. ``encoding`` is then
    ``utf-8+`` that of the others. ``bytes_judged`` are those beyond ASCII that tell.
    """

    encoding: str
    others: tuple[str, ...]
    unicode_lines: int = 0
    bytes_judged: int = 0


class NonAscii:
    """Counts the lines of a text that aren't ASCII, and keeps a sample of those not in UTF-8.

    ``bytes_beyond`` are the bytes beyond ASCII that it has anywhere.
    """

    def __init__(self) -> None:
        self.bytes_beyond: set[int] = set()
        self.unicode_lines = self.other_lines = 0
        self.sample: list[bytes] = []
        self._size = 0
        self._every = 1

    def add(self, lines: Sequence[bytes]) -> None:
        """Look at more lines."""
        beyond = [line for line in lines if not line.isascii()]
        bytes_beyond = b"".join(beyond).translate(None, _ASCII_BYTES)
        # A line of UTF-8 has such a pair, and searching all of them at once spares decoding each.
        if _UTF8_PAIR.search(bytes_beyond):
            others = [line for line in beyond if not is_utf8(line)]
        else:
            others = beyond
        self.unicode_lines += len(beyond) - len(others)
        self.bytes_beyond.update(bytes_beyond)
        place = -self.other_lines % self._every
        while place < len(others):
            self._keep(others[place][:_SAMPLE])
            place += 1
            place += -(self.other_lines + place) % self._every
        self.other_lines += len(others)

    def _keep(self, line: bytes) -> None:
        self.sample.append(line)
        self._size += len(line)
        while self._size > _SAMPLE and len(self.sample) > 1:
            # Every other line of those so far, so that the sample is of the whole file.
            self.sample = self.sample[::2]
            self._size = sum(map(len, self.sample))
            self._every *= 2


def is_utf8(line: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def guess(text: NonAscii) -> Guess:
    """Return what the lines of a text that aren't UTF-8 are taken for."""
    sample = b"\n".join(line.rstrip(b"\r\n") for line in text.sample)
    read = {name: decoded for name in NAMES if (decoded := _decoded(sample, name)) is not None}
    misplaced = {name: _misplaced(decoded, name) for name, decoded in read.items() if name != LAST}
    least = min(misplaced.values(), default=0)
    letters = sum(byte > _ASCII for byte in sample)
    slack = _ALIKE + _ALIKE_IN_FEW / max(1, letters)
    fitting = [name for name, share in misplaced.items() if share <= least + slack]
    if letters <= FEW and misplaced.get(ASSUMED) == least:
        encoding = ASSUMED
    else:
        encoding = _best(sample, fitting) if fitting else LAST
    others = tuple(name for name in fitting if read[name] != read[encoding])
    is_mixed = text.unicode_lines > 0 and (
        encoding in _SINGLE_BYTE or text.unicode_lines >= _MOSTLY * text.other_lines
    )
    if not is_mixed:
        return Guess(encoding, others, bytes_judged=letters)
    return Guess(f"utf-8+{encoding}", others, text.unicode_lines, letters)


def has_a_byte_a_character(encoding: str) -> bool:
    """Return whether an encoding that is told apart has one byte for each character."""
    return encoding in _SINGLE_BYTE


def name_of(encoding: str) -> str:
    """Return the usual name of an encoding."""
    return NAMES.get(encoding, encoding.upper())


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError:
        return None


def _misplaced(text: str, encoding: str) -> float:
    """Return the share of the characters beyond ASCII that stand where text has none of them."""
    count = misplaced = 0.0
    for match in _BEYOND_ASCII.finditer(text):
        i, character = match.start(), match[0]
        count += 1
        before, after = text[i - 1 : i], text[i + 1 : i + 2]
        misplaced += _is_misplaced(character, before, after, is_western=encoding in _WESTERN)
    return misplaced / max(count, 1)


def _is_misplaced(character: str, before: str, after: str, *, is_western: bool) -> float:
    if not character.isalpha():
        category = unicodedata.category(character)
        is_within = before.isalpha() and after.isalpha() and character not in _APOSTROPHES
        beside = category in {"So", "Sm"} and (before.isalpha() or after.isalpha())
        return is_within or beside or category in {"Cc", "Cn", "Co"}
    if _breaks_case(character, before, after):
        return True
    if is_western:
        return _IN_A_ROW if before.isalpha() and not before.isascii() else 0
    return any(beside.isalpha() and beside.isascii() for beside in (before, after))


def _breaks_case(letter: str, before: str, after: str) -> bool:
    """Return whether a word changes between capitals and small letters as in aÉ, MÉller or MéLL."""
    if letter.isupper():
        return before.islower() or (before.isupper() and after.islower())
    return letter.islower() and before.isupper() and after.isupper()


def _best(sample: bytes, fitting: Sequence[str]) -> str:
    """Return the encoding whose text reads most like a language."""
    ranks = _ranks(sample, fitting)
    readable = [name for name in fitting if ranks[name][0] <= _DISORDER] or list(fitting)
    most = max(ranks[name][1] for name in readable)
    best = [name for name in readable if ranks[name][1] == most]
    return ASSUMED if ASSUMED in best else min(best, key=lambda name: ranks[name][2])


def _ranks(sample: bytes, fitting: Sequence[str]) -> Mapping[str, tuple[float, float, int]]:
    """Return disorder, likeness to a language and place in the list of each encoding."""
    if len(fitting) == 1:
        return {fitting[0]: (0, 0, 0)}
    from charset_normalizer import from_bytes  # Few files need it.

    matches = from_bytes(
        sample, cp_isolation=list(fitting), preemptive_behaviour=False, threshold=0.5
    )
    ranks: dict[str, tuple[float, float, int]] = {}
    for place, match in enumerate(matches):
        for name in (match.encoding, *match.could_be_from_charset):
            ranks.setdefault(name, (match.chaos, match.coherence, place))
    return {name: ranks.get(name, (1.0, 0.0, len(ranks))) for name in fitting}
