"""Opening of files that a model names, inside a workspace and nowhere else.

The path is resolved first, links and ``..`` included, and must then be in the workspace; its
ending must be on the tool's list; the file must be a regular one, no larger than the tool allows.
Nobody can replace the file between the check and the use: each part of the resolved path is opened
without following links, and the opened file itself is measured and read.
Source: Authoring Forge Tools, "Security: workspace confinement".
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from fluid_build.copilot.errors import FileTooLargeError as FileTooLargeError
from fluid_build.copilot.errors import ForbiddenPathError as ForbiddenPathError
from fluid_build.copilot.errors import PathTraversalError as PathTraversalError

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | _NO_LINKS | getattr(os, "O_DIRECTORY", 0)
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS | getattr(os, "O_BINARY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd

# The errors of the operating system where a part of the path is a link, or isn't a folder.
_LINK_IN_THE_WAY = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


def resolve_confined(root: Path, path: str | Path, *, suffixes: Collection[str]) -> Path:
    """Return the real path of ``path``, which is absolute or relative to ``root``.

    Raises ``PathTraversalError`` if it is outside of ``root``, ``ForbiddenPathError`` if its
    ending (``.csv``, in any case) isn't in ``suffixes``. Nothing needs to exist there.
    """
    try:
        base = root.resolve()
        resolved = (base / path).resolve()
    except (ValueError, OSError, RuntimeError) as error:
        raise ForbiddenPathError("No file can have this path.") from error
    if not resolved.is_relative_to(base):
        raise PathTraversalError("The path is outside of the workspace.")
    if resolved.suffix.lower() not in {suffix.lower() for suffix in suffixes}:
        raise ForbiddenPathError("This tool may not use files of this type.")
    return resolved


@contextmanager
def open_confined(
    root: Path, path: str | Path, *, suffixes: Collection[str], max_bytes: int
) -> Generator[IO[bytes]]:
    """Open a file of the workspace for reading.

    Raises what ``resolve_confined`` raises, ``ForbiddenPathError`` for anything but a regular file,
    ``FileTooLargeError`` for more than ``max_bytes``, ``FileNotFoundError`` if nothing is there.
    The file may still grow while it is open: ``read_confined`` stops at the limit.
    """
    resolved = resolve_confined(root, path, suffixes=suffixes)
    descriptor = _open_without_links(root.resolve(), resolved, _READ)
    try:
        _refuse_unfit(os.fstat(descriptor), max_bytes)
    except BaseException:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_confined(
    root: Path, path: str | Path, *, suffixes: Collection[str], max_bytes: int
) -> bytes:
    """Return the content of a file of the workspace. Raises what ``open_confined`` raises."""
    with open_confined(root, path, suffixes=suffixes, max_bytes=max_bytes) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise FileTooLargeError(f"The file is larger than {max_bytes} bytes.")
    return content


def write_confined(
    root: Path, path: str | Path, content: bytes, *, suffixes: Collection[str]
) -> Path:
    """Write a file of the workspace, whole or not at all; return its real path.

    Its folder must exist. Raises what ``resolve_confined`` raises, and ``OSError``.
    """
    resolved = resolve_confined(root, path, suffixes=suffixes)
    temporary = f".{secrets.token_hex(8)}.tmp"
    with _folder(root.resolve(), resolved.parent) as folder:
        where = _place(resolved.parent, temporary, folder)
        descriptor = os.open(where, _NEW_FILE, 0o644, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            target = _place(resolved.parent, resolved.name, folder)
            os.replace(where, target, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(where, dir_fd=folder)
            raise
    return resolved


def _refuse_unfit(status: os.stat_result, max_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ForbiddenPathError("It isn't a regular file.")
    if status.st_size > max_bytes:
        raise FileTooLargeError(f"The file is larger than {max_bytes} bytes.")


def _open_without_links(root: Path, resolved: Path, flags: int) -> int:
    with _folder(root, resolved.parent) as folder:
        try:
            return os.open(_place(resolved.parent, resolved.name, folder), flags, dir_fd=folder)
        except OSError as error:
            raise _confinement_error(error) from None


@contextmanager
def _folder(root: Path, folder: Path) -> Generator[int | None]:
    """Open ``folder``, part by part from ``root``; None where the system can't open by folder."""
    if not _BY_FOLDER:
        yield None
        return
    descriptor = os.open(root, _FOLDER)
    try:
        for part in folder.relative_to(root).parts:
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
    except OSError as error:
        os.close(descriptor)
        raise _confinement_error(error) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _place(folder: Path, name: str, descriptor: int | None) -> str:
    return name if descriptor is not None else str(folder / name)


def _confinement_error(error: OSError) -> Exception:
    # A link in a resolved path was put there after the path was resolved.
    if error.errno in _LINK_IN_THE_WAY:
        return PathTraversalError("The path is outside of the workspace.")
    if error.errno == errno.ENAMETOOLONG:
        return ForbiddenPathError("No file can have this path.")
    return error
