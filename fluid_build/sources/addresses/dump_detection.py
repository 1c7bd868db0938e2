"""Whether SQL files have rows, or structure alone."""

import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from fluid_build.sources.text_values.encodings import encoding_of_start, opened

# Each begins a line or follows a statement; one within a text only costs a closer look.
_ROWS = re.compile(
    rb"(?:^|;)[ \t]*(?:/\*!\d*[ \t]*)?"
    rb"(?:INSERT\s|REPLACE\s+INTO\s|COPY\s[^;\n]*\bFROM\s+STDIN\b)",
    re.IGNORECASE | re.MULTILINE,
)
_CHUNK = 4 * 1024 * 1024
_LONGEST_OPENING = 4096
"""Characters of a COPY with its columns, which must not be cut in two."""


def have_rows(files: Iterable[Path]) -> bool:
    """Return whether one of the files has a statement with rows; a broken file has none."""
    return any(map(_has_rows, files))


def _has_rows(file: Path) -> bool:
    try:
        is_wide = encoding_of_start(file).startswith(("utf-16", "utf-32"))
        with opened(file) as stream:
            end = b""
            while chunk := stream.read(_CHUNK):
                text = end + (chunk.replace(b"\0", b"") if is_wide else chunk)
                if _ROWS.search(text):
                    return True
                end = text[-_LONGEST_OPENING:]
    except (OSError, EOFError, zlib.error):
        # Why it can't be read is reported when it's opened.
        return False
    return False
