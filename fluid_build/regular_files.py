"""Opening files of a folder that somebody else made: regular ones only, and no more than a bound.

A named pipe would keep a command waiting for ever, and a link to a device such as ``/dev/zero`` has
no end.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path

from fluid_build.errors import SourceUnreadableError


def open_regular(path: Path) -> BufferedReader:
    """Return the bytes of a regular file, or of one that a link leads to.

    OSError where it can't be opened, SourceUnreadableError where it's a pipe, a device or a socket.
    """
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 (Path.open has no opener)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise not_regular(path)
    return file


def read_regular(path: Path, most_bytes: int, *, too_large: str) -> bytes:
    """Return all bytes of a regular file; errors as in ``open_regular``.

    SourceUnreadableError with the hint ``too_large`` where it has more than ``most_bytes``.
    """
    with open_regular(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise SourceUnreadableError(
            f"{path} is larger than {most_bytes // 1024 // 1024} MB.", hint=too_large
        )
    return content


def not_regular(path: Path) -> SourceUnreadableError:
    """Return the error for a pipe, a device or a socket where a file is read."""
    return SourceUnreadableError(
        f"{path} isn't a regular file but a pipe, a device or a socket, or a link to one.",
        hint="Replace it with a regular file.",
    )


def _without_waiting(path: str, flags: int) -> int:
    # Opening a pipe waits for whoever writes to it, unless it's told not to.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
