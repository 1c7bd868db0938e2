"""Opens files that a model names, inside a workspace and nowhere else.

The path is resolved first, links and ``..`` included, and must then lie in the workspace; its
ending must be on the tool's list; the file must be a regular one, no larger than the tool allows.
Between that check and the use nothing can be put in the file's place: each part of the resolved
path is opened without following links, and what was opened is what is measured and read.
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

# What the operating system says when a part of the path is a link, or no folder.
_LINK_IN_THE_WAY = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


def resolve_confined(root: Path, path: str | Path, *, suffixes: Collection[str]) -> Path:
    """The real path of ``path``, which is absolute or relative to ``root``.

    Raises ``PathTraversalError`` if it lies outside of ``root``, ``ForbiddenPathError`` if its
    ending (``.csv``, in any case) is not in ``suffixes``. Says nothing of what is there.
    """
    try:
        base = root.resolve()
        resolved = (base / path).resolve()
    except (ValueError, OSError, RuntimeError) as error:
        raise ForbiddenPathError("The path is none that a file can have.") from error
    if not resolved.is_relative_to(base):
        raise PathTraversalError("The path is outside of the workspace.")
    if resolved.suffix.lower() not in {suffix.lower() for suffix in suffixes}:
        raise ForbiddenPathError("Files of this kind are not for this tool.")
    return resolved


@contextmanager
def open_confined(
    root: Path, path: str | Path, *, suffixes: Collection[str], max_bytes: int
) -> Generator[IO[bytes]]:
    """Opens a file of the workspace for reading.

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
    """The content of a file of the workspace. Raises what ``open_confined`` raises."""
    with open_confined(root, path, suffixes=suffixes, max_bytes=max_bytes) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise FileTooLargeError(f"The file is larger than {max_bytes} bytes.")
    return content


def write_confined(
    root: Path, path: str | Path, content: bytes, *, suffixes: Collection[str]
) -> Path:
    """Writes a file of the workspace, whole or not at all; returns its real path.

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


def _refuse_unfit(found: os.stat_result, max_bytes: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ForbiddenPathError("That is no regular file.")
    if found.st_size > max_bytes:
        raise FileTooLargeError(f"The file is larger than {max_bytes} bytes.")


def _open_without_links(root: Path, resolved: Path, flags: int) -> int:
    with _folder(root, resolved.parent) as folder:
        try:
            return os.open(_place(resolved.parent, resolved.name, folder), flags, dir_fd=folder)
        except OSError as error:
            raise _told(error) from None


@contextmanager
def _folder(root: Path, folder: Path) -> Generator[int | None]:
    """A descriptor of ``folder``, reached from ``root`` part by part; None where there are none."""
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
        raise _told(error) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _place(folder: Path, name: str, descriptor: int | None) -> str:
    return name if descriptor is not None else str(folder / name)


def _told(error: OSError) -> Exception:
    """Links in a resolved path were put there after it was resolved."""
    if error.errno in _LINK_IN_THE_WAY:
        return PathTraversalError("The path is outside of the workspace.")
    if error.errno == errno.ENAMETOOLONG:
        return ForbiddenPathError("The path is none that a file can have.")
    return error
