"""How a text file is encoded, and how its lines end."""

import codecs
import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from fluid_build import limits
from fluid_build.errors import UsageError
from fluid_build.sources.text_values.legacy_encodings import (
    FEW,
    LAST,
    NAMES,
    Guess,
    NonAscii,
    guess,
    has_a_byte_a_character,
    is_utf8,
    name_of,
)
from fluid_build.text import counted, listed, noun

_BLOCK = 1 << 20
_HARMLESS = 1 << 26
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
ZSTD = (".zst", ".zstd")
_MIXED = "utf-8+"
UNKNOWN = "\ufffd"
"""What stands for bytes that an encoding doesn't know."""
_LINES = 10_000
"""Lines of a file's start that show well enough what its header is encoded in."""
_LISTED_LINES = 5
_OWN_NAMES = {codecs.lookup(name).name: name for name in NAMES}
_ZSTD_MAGIC = bytes.fromhex("28b52ffd")


LONG_LINE = 1_000
"""Bytes from which on a line is long."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What a text has in it, as far as lines and quotes go.

    ``has_even_ends`` says that all lines end in ``\\n``, or all in ``\\r\\n``, those in quotes
    included, and ``has_quote_pairs`` that ``""`` is somewhere in it.
    """

    has_even_ends: bool
    has_long_lines: bool
    has_quote_pairs: bool


class _Scan:
    """Looks at blocks of bytes, each once. Searches that find nothing cost little."""

    def __init__(self, longest_line: int | None) -> None:
        self._longest_line = longest_line
        self._begun = 0
        self._held = self._quoted_end = False
        self._pairs = self._feeds = self._returns = False
        self._long = self._doubled = False

    def add(self, block: bytes) -> None:
        """Look at the next block. Raises ValueError for a line that is too long."""
        self._look_for_long(block)
        self._look_for_quotes(block)
        self._look_at_ends(block)

    def marks(self) -> Marks:
        """Return what was found in all blocks."""
        kinds = (self._pairs, self._feeds, self._returns or self._held)
        even = sum(kinds) <= 1 and not kinds[2]
        return Marks(even, self._long, self._doubled)

    def _look_for_long(self, block: bytes) -> None:
        end = len(block)
        if not self._long:
            start = block.find(b"\n", 0, max(0, LONG_LINE - self._begun)) + 1
            self._long = not start and self._begun + end > LONG_LINE
            while start and end - start > LONG_LINE:
                start = block.rfind(b"\n", start, start + LONG_LINE) + 1
                self._long = not start
        last = max(block.rfind(b"\n"), block.rfind(b"\r"))
        self._begun = self._begun + end if last < 0 else end - last - 1
        if self._longest_line is not None and self._begun > self._longest_line:
            raise ValueError(too_long(self._longest_line))

    def _look_for_quotes(self, block: bytes) -> None:
        if not self._doubled and (self._quoted_end or b'"' in block):
            across = self._quoted_end and block.startswith(b'"')
            self._doubled = across or b'""' in block
            self._quoted_end = block.endswith(b'"')

    def _look_at_ends(self, block: bytes) -> None:
        if self._held:
            block = b"\r" + block
        self._held = block.endswith(b"\r")
        if self._held:
            block = block[:-1]
        if b"\r" not in block:
            self._feeds = self._feeds or b"\n" in block
            return
        returns, pairs = block.count(b"\r"), block.count(b"\r\n")
        self._pairs = self._pairs or pairs > 0
        self._returns = self._returns or returns > pairs
        self._feeds = self._feeds or block.count(b"\n") > pairs


@dataclass(frozen=True, slots=True)
class Text:
    """A text file's encoding, and what one pass over its bytes tells.

    ``others`` are encodings that read its bytes otherwise, ``unicode_lines`` counts the lines in
    UTF-8 of a file that is in two encodings, ``bytes_judged`` those that a guess rests on, and
    ``named`` is the one that its user gave.
    """

    encoding: str
    marks: Marks
    is_utf8: bool = False
    others: tuple[str, ...] = ()
    unicode_lines: int = 0
    bytes_judged: int = 0
    named: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it's UTF-8 with one kind of line end, which needs no copy."""
        return self.is_utf8 and self.marks.has_even_ends

    @property
    def is_named(self) -> bool:
        """Whether it's read as its user said."""
        return self.named is not None and self.encoding == self.named


def start_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, gunzipped where its name says so.

    Raises OSError where it can't be read, and EOFError or zlib.error for a broken gzip file.
    """
    return next(_blocks(path, size), b"")


def end_of(path: Path, size: int) -> tuple[bytes, bool]:
    """Return the last bytes of a file, and whether they are all of it.

    Errors as in ``start_of``.
    """
    if path.suffix.lower() != ".gz":
        length = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, length - size))
            return file.read(), length <= size
    end, length = b"", 0
    for block in _blocks(path, _BLOCK):
        length += len(block)
        end = (end + block)[-size:]
    return end, length <= size


def lines_in(path: Path) -> int:
    """Say how many lines a file has, line ends at its end aside; errors as in ``start_of``."""
    ends = trailing = 0
    for block in _blocks(path, _BLOCK):
        bare = block.rstrip(b"\r\n")
        ends += block.count(b"\n")
        trailing = block[len(bare) :].count(b"\n") + (trailing if not bare else 0)
    return ends - trailing + 1


def examine(path: Path, *, longest_line: int | None = None, named: str | None = None) -> Text:
    """Return the encoding of a text file (``utf-8``, ``utf-16``, ``utf-16-le``, ``cp1252``, …).

    Judged by the byte order mark, then by what all of the file can be decoded as: one late byte
    would otherwise break the reading. What is not Unicode is in the encoding that is ``named``, and
    guessed where none is. Errors as in ``start_of``, and ValueError for a line of more than
    ``longest_line`` bytes. A zstd file is taken for UTF-8: the standard library can't look into it.
    """
    if path.suffix.lower() in ZSTD:
        return Text("utf-8", Marks(True, True, True), is_utf8=True, named=named)
    scan = _Scan(longest_line)
    wide = _wide_encoding(start_of(path, _BLOCK))
    if wide:
        for text in text_of(path, wide):
            scan.add(text.encode(errors="replace"))
        return Text(wide, scan.marks(), named=named)
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8 = is_ascii = True
    for block in _blocks(path, _BLOCK):
        scan.add(block)
        is_ascii = is_ascii and block.isascii()
        is_utf8 = is_utf8 and (is_ascii or _takes(decoder, block))
    is_utf8 = is_utf8 and _takes(decoder, b"", True)
    marks = scan.marks()
    # Bytes that are all ASCII may be other letters, in ISO-2022-JP.
    may_be_other = is_ascii and named is not None and named != "utf-8"
    if is_utf8 and not may_be_other:
        return Text("utf-8", marks, is_utf8=True, named=named)
    if named is not None:
        return Text(named, marks, named=named)
    guessed = _guess(path)
    return Text(
        guessed.encoding,
        marks,
        others=guessed.others,
        unicode_lines=guessed.unicode_lines,
        bytes_judged=guessed.bytes_judged,
    )


def _guess(path: Path) -> Guess:
    """Guess the encoding of a file that isn't Unicode.

    A pass of its own, since few files need it.
    """
    lines = NonAscii()
    with opened(path) as file:
        while some := file.readlines(_BLOCK):
            lines.add(some)
    guessed = guess(lines)
    if guessed.unicode_lines or _decodes(path, lines, guessed.encoding):
        return guessed
    others = (other for other in guessed.others if _decodes(path, lines, other))
    encoding = next(others, LAST)
    rest = tuple(other for other in guessed.others if other != encoding)
    return replace(guessed, encoding=encoding, others=rest)


def _decodes(path: Path, lines: NonAscii, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    if has_a_byte_a_character(encoding):
        return _takes(decoder, bytes(lines.bytes_beyond), True)
    return all(_takes(decoder, block) for block in _blocks(path, _BLOCK))


def codec_of(name: str) -> str:
    """Return what Python calls an encoding of text. Raises UsageError for an unknown one."""
    try:
        codec = codecs.lookup(name)
        codec.incrementaldecoder(errors="strict").decode(b"")
        "".encode(codec.name)
    except (LookupError, TypeError, ValueError):
        raise UsageError(
            f"{name!r} isn't an encoding of text that Python knows.",
            hint="Use a name such as windows-1251, shift_jis, cp437 or mac_roman.",
        ) from None
    return _OWN_NAMES.get(codec.name, codec.name)


def zstd_content(path: Path) -> int:
    """Say how many bytes the first frame of a zstd file says that it holds; 0 where it doesn't say.

    Raises ValueError where that is too many times its size.
    """
    with path.open("rb") as file:
        head = file.read(18)
    if head[:4] != _ZSTD_MAGIC or len(head) < 18:
        return 0
    flag = head[4] >> 6
    single = bool(head[4] & 0x20)
    start = 5 + (0 if single else 1) + (0, 1, 2, 4)[head[4] & 3]
    width = (1 if single else 0, 2, 4, 8)[flag]
    content = int.from_bytes(head[start : start + width], "little") + (256 if width == 2 else 0)
    check_expansion(path.stat().st_size, content)
    return content


def check_expansion(size: int, length: int, *, whole: int | None = None) -> None:
    """Raise ValueError where a file of that size that expands to so many bytes was made to hurt.

    ``whole`` is what it expands to if repeated values count like all others: what is short even so
    is harmless.
    """
    times = limits.EXPANSION.value
    if (length if whole is None else whole) > _HARMLESS and length > times * size:
        raise ValueError(
            f"It expands to more than {times:,} times its size. {limits.EXPANSION.how_to_raise}"
        )


def too_long(longest_line: int) -> str:
    """Return the sentence on a line of more bytes than that."""
    return (
        f"A line of it is longer than {longest_line // (1024 * 1024):,} MB."
        f" {limits.LINE_MEGABYTES.how_to_raise}"
    )


def encoding_of_start(path: Path) -> str:
    """Return the encoding as far as the file's first megabyte tells; errors as in ``start_of``."""
    if path.suffix.lower() in ZSTD:
        return "utf-8"
    start = start_of(path, _BLOCK)
    wide = _wide_encoding(start)
    if wide:
        return wide
    if _takes(codecs.getincrementaldecoder("utf-8")(), start):
        return "utf-8"
    lines = NonAscii()
    lines.add(start.splitlines()[:_LINES])
    return guess(lines).encoding


def _wide_encoding(start: bytes) -> str | None:
    """UTF-8 with a mark, UTF-16 or UTF-32; None where neither a mark nor zero bytes tell."""
    for mark, name in _BOMS:
        if start.startswith(mark) and name != "utf-8":
            return name
    # No other text holds zero bytes: those of its line ends, digits and delimiters all stand on one
    # side. East Asian text has few more of them, and some on the other side.
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if max(even, odd) < max(1, len(start) // 200):
        return None
    wide = "utf-16-be" if even > odd else "utf-16-le"
    return wide if min(even, odd) < max(even, odd) / 2 and _is_text(start, wide) else None


def _is_text(start: bytes, encoding: str) -> bool:
    """Return whether bytes are text in an encoding of two bytes a character, with lines in it."""
    text = start[: len(start) // 2 * 2].decode(encoding, errors="replace").rstrip("\ufffd")
    return "\ufffd" not in text and any(end in text for end in "\r\n")


def _takes(decoder: codecs.IncrementalDecoder, block: bytes, final: bool = False) -> bool:
    try:
        # Most blocks are ASCII, which is seen in a fraction of the time.
        if decoder.getstate()[0] or not block.isascii():
            decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Provide the bytes of a file, gunzipped where its name says so; errors as in ``start_of``."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as packed:
            yield cast("IO[bytes]", packed)
    else:
        with path.open("rb") as file:
            yield file


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    length, packed = 0, path.suffix.lower() == ".gz"
    with opened(path) as file:
        while block := file.read(size):
            length += len(block)
            if packed and length > _HARMLESS:
                check_expansion(path.stat().st_size, length)
            yield block


def other_encoding(encoding: str) -> str:
    """Return the encoding of the lines that aren't UTF-8 in a file of two encodings."""
    return encoding.removeprefix(_MIXED)


def decoded(text: bytes, encoding: str) -> str:
    """Return the text of bytes in the encoding of a file, with U+FFFD for those that don't fit."""
    if not encoding.startswith(_MIXED):
        return text.decode(encoding, errors="replace")
    other = other_encoding(encoding)
    return "".join(
        line.decode("utf-8" if is_utf8(line) else other, errors="replace")
        for line in text.splitlines(keepends=True)
    )


def text_of(path: Path, encoding: str) -> Iterator[str]:
    """Yield the text of a file in blocks, with U+FFFD for bytes that don't fit its encoding."""
    if encoding.startswith(_MIXED):
        other = other_encoding(encoding)
        with opened(path) as file:
            while lines := file.readlines(_BLOCK):
                yield "".join(
                    line.decode("utf-8" if is_utf8(line) else other, errors="replace")
                    for line in lines
                )
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in _blocks(path, _BLOCK):
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def notes_on(name: str, text: Text, replaced: Sequence[int]) -> Iterator[str]:
    """Yield sentences on what a file was read as, and on ``replaced`` lines, those it didn't fit.

    Nothing is said where it's UTF-8 or what its user named, and fits.
    """
    encoding = name_of(other_encoding(text.encoding))
    if replaced:
        lines = listed([f"{line:,}" for line in replaced[:_LISTED_LINES]])
        more = f" and {len(replaced) - _LISTED_LINES:,} more" if replaced[_LISTED_LINES:] else ""
        yield (
            f"{name} has bytes that aren't {encoding}, in {noun(len(replaced), 'line')}"
            f" {lines}{more}: they were replaced by {UNKNOWN}."
        )
    if text.is_named:
        return
    if text.named is not None:
        yield f"{name} was read as {encoding}, which it's in, and not as {name_of(text.named)}."
    elif text.encoding.startswith("utf-16") or text.encoding == "utf-32":
        yield f"{name} is encoded in {encoding}."
    elif text.encoding != "utf-8":
        yield _note_on_guess(name, encoding, text)


def note_on_letters(text: Text) -> str:
    """Return a sentence on a column whose letters other encodings read otherwise."""
    others = listed([name_of(other) for other in text.others], "or")
    encoding = name_of(other_encoding(text.encoding))
    return f"Its letters beyond ASCII were read as {encoding}; {others} reads others."


def _note_on_guess(name: str, encoding: str, text: Text) -> str:
    if text.unicode_lines:
        lines = counted(text.unicode_lines, "line")
        said = f"{name} is in two encodings: {lines} in UTF-8, others were read as {encoding}"
    else:
        said = f"{name} isn't Unicode. It was read as {encoding}"
    if text.bytes_judged <= FEW:
        said = f"{said}, a guess from {counted(text.bytes_judged, 'byte')} beyond ASCII"
    if text.others:
        others = listed([name_of(other) for other in text.others], "or")
        return f"{said}, but {others} fits too: say which with --encoding if letters look wrong."
    if text.encoding.endswith(LAST):
        return f"{said}, which nothing in it proves: say another with --encoding."
    if text.bytes_judged <= FEW:
        return f"{said}: say another with --encoding if letters look wrong."
    return f"{said}, the only one in common use that fits."


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file; errors as in ``start_of``."""
    with opened(path) as file, io.TextIOWrapper(file, "utf-8", errors="replace") as text:
        yield from text
