"""How a text file is encoded, and a UTF-8 copy of one that is not UTF-8."""

import codecs
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from fluid_build import limits

_BLOCK = 1 << 20
_HARMLESS = 1 << 30
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
ZSTD = (".zst", ".zstd")
_ZSTD_MAGIC = bytes.fromhex("28b52ffd")


@dataclass(frozen=True, slots=True)
class Text:
    """A text file's encoding, and whether all its lines end in ``\\n`` or all in ``\\r\\n``."""

    encoding: str
    even_lines: bool


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


def examine(path: Path, *, longest_line: int | None = None) -> Text:
    """Return the encoding of a text file (``utf-8``, ``utf-16``, ``utf-16-le``, ``cp1252``, …).

    Judged by the byte order mark, then by what all of the file can be decoded as: one late byte
    would otherwise break the reading. What is not Unicode is taken for Windows-1252, which Latin-1
    text is too, unless it holds bytes that only Latin-1 has. Errors as in ``start_of``, and
    ValueError for a line of more than ``longest_line`` bytes. A zstd file is taken for UTF-8: the
    standard library can't look into it.
    """
    if path.suffix.lower() in ZSTD:
        return Text("utf-8", even_lines=True)
    wide = _wide_encoding(start_of(path, _BLOCK))
    if wide:
        # The copy that has to be made gets one kind of line end anyway.
        return Text(wide, even_lines=True)
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8 = True
    ends = [0, 0, 0]
    line = 0
    for block in _blocks(path, _BLOCK):
        last = max(block.rfind(b"\n"), block.rfind(b"\r"))
        line = line + len(block) if last < 0 else len(block) - last - 1
        if longest_line is not None and line > longest_line:
            raise ValueError(too_long(longest_line))
        is_utf8 = is_utf8 and _takes(decoder, block)
        returns = block.count(b"\r")
        pairs = block.count(b"\r\n") if returns else 0
        ends[0] += pairs
        ends[1] += block.count(b"\n") - pairs
        ends[2] += returns - pairs - block.endswith(b"\r")
    is_utf8 = is_utf8 and _takes(decoder, b"", True)
    even = not ends[2] and not all(ends[:2])
    return Text("utf-8" if is_utf8 else _single_byte(path), even_lines=even)


def _single_byte(path: Path) -> str:
    """Return the encoding of a file that isn't Unicode.

    A pass of its own, since few files need it.
    """
    known = all(_takes(codecs.getincrementaldecoder("cp1252")(), b) for b in _blocks(path, _BLOCK))
    return "cp1252" if known else "latin-1"


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
    _check_expansion(path, content)
    return content


def _check_expansion(path: Path, length: int) -> None:
    times = limits.EXPANSION.value
    if length > max(_HARMLESS, times * path.stat().st_size):
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
    return "utf-8" if _takes(codecs.getincrementaldecoder("utf-8")(), start) else "cp1252"


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
                _check_expansion(path, length)
            yield block


def rewrite(path: Path, encoding: str, folder: Path) -> Path:
    """Return a UTF-8 copy of a text file in a folder, with every line end a single ``\\n``.

    Bytes that the encoding does not know become U+FFFD.
    """
    copy = folder / f"text{sum(1 for _ in folder.iterdir())}.txt"
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    carriage_return = ""
    with copy.open("w", encoding="utf-8", newline="") as target:
        for block in _blocks(path, _BLOCK):
            text = carriage_return + decoder.decode(block)
            # A \r at the end of a block may be half of a \r\n.
            carriage_return = "\r" if text.endswith("\r") else ""
            body = text[: len(text) - len(carriage_return)]
            target.write(body.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff"))
        target.write((carriage_return + decoder.decode(b"", final=True)).replace("\r", "\n"))
    return copy


def note_on(name: str, encoding: str) -> str:
    """Return a sentence on what a file that isn't UTF-8 was read as.

    Bytes of one encoding with a byte a character can be read as any other: that is only assumed.
    """
    usual = _NAMES.get(encoding)
    if usual is None:
        return f"{name} is encoded in {encoding.upper()}."
    return (
        f"{name} isn't Unicode. It was read as {usual}, which nothing in it proves: if letters look"
        " wrong, convert it to UTF-8."
    )


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file; errors as in ``start_of``."""
    with opened(path) as file, io.TextIOWrapper(file, "utf-8", errors="replace") as text:
        yield from text
