"""Temporary folders that don't outlive their process: a later run removes what a killed one left.

Each folder holds a file that its owner keeps locked. The system frees the lock when the owner
ends, however it ends, so a folder whose lock is free has no owner any more. Without such locks
(Windows), a process only removes its own folders.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

if sys.platform != "win32":
    import fcntl

PREFIX = "fluid-"
SCRATCH_VARIABLE = "FLUID_SCRATCH"
"""Names the folder for temporary files, where that isn't the system's."""

_OWNER = ".owner"
_UNOWNED = ".owner-to-be"


@dataclass(frozen=True, slots=True)
class OwnedFolder:
    """A temporary folder of this process; also a context manager, which removes it."""

    path: Path
    lock: int

    def cleanup(self) -> None:
        """Remove the folder and what is in it; once more does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self.lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def owned_folder() -> OwnedFolder:
    """Make a temporary folder, after removing those of owners who are dead."""
    parent = _place()
    for abandoned in _abandoned(parent):
        shutil.rmtree(abandoned, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    early = folder / _UNOWNED
    lock = os.open(early, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    _is_free(lock)
    # Under its name only once it's locked: nobody may find it free in between.
    early.rename(folder / _OWNER)
    return OwnedFolder(folder, lock)


def _place() -> Path:
    usual, asked = Path(tempfile.gettempdir()), os.environ.get(SCRATCH_VARIABLE)
    # A command keeps all of its temporary files in one folder, which is there already.
    return usual if not asked or usual.is_relative_to(Path(asked).absolute()) else Path(asked)


def _abandoned(parent: Path) -> Iterator[Path]:
    """Our folders in a place, and this user's, whose owner is dead."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(PREFIX) and _is_ours(entry) and _is_ownerless(entry.path):
                yield Path(entry.path)


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    # Others may write to the same place: a link or another's folder is none of ours.
    with suppress(OSError):
        status = entry.stat(follow_symlinks=False)
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return False


def _is_ownerless(folder: str) -> bool:
    try:
        lock = os.open(Path(folder, _OWNER), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        # It isn't of this kind, or its owner is just making or removing it.
        return False
    try:
        return _is_free(lock)
    finally:
        os.close(lock)


def _is_free(lock: int) -> bool:
    """Take a lock that nobody holds; whether it could be taken."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
