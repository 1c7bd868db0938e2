"""The text of SQL files, whatever encoding they're in."""

import glob
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from fluid_build.errors import EmptySourceError, SourceNotFoundError, SourceUnreadableError
from fluid_build.sources.text_values.encodings import decoded, encoding_of_start, opened
from fluid_build.sources.text_values.legacy_encodings import NonAscii, guess, is_utf8, name_of
from fluid_build.text import listed

_ENDINGS = (".sql", ".ddl", ".sql.gz", ".ddl.gz")
_LARGEST = 1 << 30
_SURROGATE = re.compile("[\udc80-\udcff]")
_NAMES_UTF8 = re.compile(rb"\bSET NAMES '?utf8", re.IGNORECASE)
"""What mysqldump writes of the text around its binary values."""
_BINARY_VALUE = re.compile(rb"_binary '(?:[^'\\]|\\.|'')*'", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A file's text, its name for messages, and what had to be done to read it.

    ``has_returns`` says that line ends were CRLF or CR, and are LF in the text. ``encoding`` is
    what it was in. ``raw`` is the text with a lone surrogate for each byte that isn't valid UTF-8,
    where the text has U+FFFD; "" where there is none.
    """

    name: str
    text: str
    notes: tuple[str, ...] = ()
    has_returns: bool = False
    encoding: str = "utf-8"
    raw: str = ""


def read_files(path: str) -> list[SqlFile]:
    """Return the files at a path: one file, a folder's SQL files, or those a pattern matches.

    Raises SourceNotFoundError, EmptySourceError for a folder without SQL files, and
    SourceUnreadableError for what isn't text.
    """
    return [_read_file(file) for file in _find_files(path)]


def _find_files(path: str) -> list[Path]:
    place = Path(path)
    if place.is_file():
        return [place]
    if place.is_dir():
        files = sorted(
            file
            for file in place.rglob("*")
            if file.is_file() and file.name.lower().endswith(_ENDINGS)
        )
        if not files:
            raise EmptySourceError(
                f"The folder {path} has no .sql file.", hint="Name the folder that does."
            )
        return files
    matched = sorted(Path(match) for match in glob.glob(path, recursive=True))  # noqa: PTH207
    files = [match for match in matched if match.is_file()]
    if not files:
        raise SourceNotFoundError(
            f"There is no DDL at {path}.", hint="Check the path to the .sql file."
        )
    return files


def _read_file(file: Path) -> SqlFile:
    try:
        data, encoding = _bytes(file), encoding_of_start(file)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise SourceUnreadableError(
            f"{file} could not be read: {reason}.", hint="Check the file and its permissions."
        ) from None
    text, encoding, notes = _decode(data, encoding, file.name)
    if "\0" in text:
        raise SourceUnreadableError(
            f"{file} isn't SQL text.", hint="Give a file of CREATE TABLE statements."
        )
    raw = text.replace("\r\n", "\n").replace("\r", "\n")
    plain = without_surrogates(raw)
    return SqlFile(
        file.name,
        plain,
        notes,
        has_returns="\r" in text,
        encoding=encoding,
        raw="" if plain == raw else raw,
    )


def without_surrogates(text: str) -> str:
    """Return a text with U+FFFD for each byte that isn't valid UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def _bytes(file: Path) -> bytes:
    with opened(file) as stream:
        data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise SourceUnreadableError(
            f"{file} is larger than 1 GiB.",
            hint="Dump the structure alone: pg_dump --schema-only, mysqldump --no-data.",
        )
    return data


def _decode(data: bytes, encoding: str, name: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the text of a file, what it was encoded in, and notes on that."""
    if encoding in ("utf-16", "utf-32"):
        return data.decode(encoding, errors="replace"), encoding, ()
    # A statement of one line has no line end to know UTF-16 by, but it begins with ASCII.
    first, second = data[:16:2], data[1:16:2]
    if all(first) and second == bytes(8):
        encoding = "utf-16-le"
    elif all(second) and first == bytes(8):
        encoding = "utf-16-be"
    if encoding.startswith("utf-16-"):
        # Without a mark, it's a guess.
        note = f"{name} was read as {encoding.upper()}."
        return data.decode(encoding, errors="replace"), encoding, (note,)
    text = data.decode("utf-8-sig", errors="surrogateescape")
    broken = len(_SURROGATE.findall(text))
    if not broken:
        return text, "utf-8", ()
    if _non_ascii(text) - broken > broken or _says_utf8(data):
        note = (
            f"{broken} bytes of {name} aren't valid UTF-8 and were replaced, except in values of"
            " binary columns."
        )
        return text, "utf-8", (note,)
    return _decode_legacy(data, name)


def _says_utf8(data: bytes) -> bool:
    """Return whether only the bytes of binary values aren't UTF-8."""
    if _NAMES_UTF8.search(data):
        return True
    others = _BINARY_VALUE.sub(b"", data)
    return len(others) < len(data) and is_utf8(others)


def _decode_legacy(data: bytes, name: str) -> tuple[str, str, tuple[str, ...]]:
    lines = NonAscii()
    lines.add(data.split(b"\n"))
    guessed = guess(lines)
    others = [name_of(other) for other in guessed.others]
    also = f", but {listed(others, 'or')} fits too" if others else ""
    note = f"{name} isn't Unicode. It was read as {name_of(guessed.encoding)}{also}."
    return decoded(data, guessed.encoding), guessed.encoding, (note,)


def _non_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", errors="ignore"))
