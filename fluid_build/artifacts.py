"""Files that a command leaves behind: all of them, whole, or none at all."""

import errno
import json
import os
import secrets
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import TracebackType
from typing import Self, TypeAlias

from fluid_build.errors import OutputError

if sys.platform != "win32":
    import fcntl

_STAGING = ".fluid-partial-"
_OWNER = ".owner"
"""A file in a staging folder that its process keeps locked, so that others see that it lives."""
_JOURNAL = "journal.json"
"""The names that are being moved, in order, as long as that isn't done."""

_REASONS = {
    errno.ENOSPC: "there is no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.EACCES: "permission is denied",
    errno.EPERM: "permission is denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "part of its path is a file, not a folder",
    errno.EEXIST: "a file of that name already exists",
    errno.ENAMETOOLONG: "its name is too long for the file system",
    errno.ELOOP: "its path has a loop of symbolic links",
}
_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

_SYNCED_AT_ONCE = 16
"""Syncing waits for the disk, which finishes many files in the time of one."""


Content: TypeAlias = bytes | str | Path
"""The content of a file: bytes, text in UTF-8, or the content of another file."""


def write_artifacts(
    folder: Path, files: Mapping[str, Content], *, remove: Collection[str] = ()
) -> tuple[Path, ...]:
    """Write files into a folder, which is made where it is missing; return their paths, sorted.

    Names are relative, with ``/`` between folders. Everything is written and synced to a
    temporary folder next to its destination first, then moved in, and the files of ``remove`` are
    taken away. Whatever goes wrong on the way, an interrupt included, files that were there before
    are as they were, and nothing is left over. Other files in the folder are not touched.

    Raises OutputError where a name leads out of the folder, or the file system refuses.
    """
    for name in (*files, *remove):
        _check_name(name)
    restore_interrupted(folder)
    try:
        target = Path(os.path.realpath(folder))
        if target.exists() and not target.is_dir():
            raise OutputError(
                f"{folder} is a file, but Fluid Forge needs a folder there",
                hint="Choose another folder, or move the file out of the way.",
            )
        if target.is_dir():
            _write_into(target, files, remove)
        else:
            _write_new(target, files)
    except OSError as error:
        raise _refused(folder, error) from error
    return tuple(folder / name for name in sorted(files))


def restore_interrupted(folder: Path) -> None:
    """Restore a folder in which a killed process left files half moved, and tidy up after it.

    A process that still lives is left alone. Raises OutputError where the file system refuses.
    """
    target = Path(os.path.realpath(folder))
    try:
        for parent in (target, target.parent):
            for staging in _abandoned(parent):
                if (staging / _JOURNAL).exists():
                    _roll_back(parent, staging)
                _remove(staging)
    except OSError as error:
        raise _refused(folder, error) from error


def _abandoned(parent: Path) -> Sequence[Path]:
    """Return the staging folders in a place whose process has ended."""
    if sys.platform == "win32" or not parent.is_dir():
        return ()
    with os.scandir(parent) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(_STAGING)]
    return [parent / name for name in sorted(names) if _is_abandoned(parent / name)]


def _is_abandoned(staging: Path) -> bool:
    try:
        owner = os.open(staging / _OWNER, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False  # Its process is just making it, or removing it.
    try:
        return _locks(owner)
    finally:
        os.close(owner)


def _locks(descriptor: int) -> bool:
    """Lock a file that nobody has locked; return whether that worked."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _roll_back(target: Path, staging: Path) -> None:
    """Return the files of a folder to where they were before the moves of a staging folder."""
    written, removed = _read_journal(staging / _JOURNAL)
    for number, name in enumerate([*written, *removed]):
        _check_name(name)
        _check_place(target, name)
        previous, place = staging / "old" / str(number), target / name
        was_moved_in = number < len(written) and not os.path.lexists(staging / "new" / name)
        if os.path.lexists(previous):
            previous.replace(place)
        elif was_moved_in:
            place.unlink(missing_ok=True)
    (staging / _JOURNAL).unlink()


def _read_journal(path: Path) -> tuple[list[str], list[str]]:
    """Return the names that were being written and removed; the folder may be a stranger's."""
    try:
        journal = json.loads(path.read_bytes())
        return [str(name) for name in journal["written"]], [str(n) for n in journal["removed"]]
    except (ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{path} isn't what an interrupted forge leaves",
            hint=f"Remove {path.parent}, or choose another output folder.",
        ) from error


def _write_new(target: Path, files: Mapping[str, Content]) -> None:
    """Make the folder whole under another name, then give it its own."""
    with _Undo() as undo:
        undo.make_folders(target.parent)
        staging = undo.staging(target.parent)
        _fill(staging / "new", files)
        undo.move(staging / "new", target)
    undo.end()
    _sync(target.parent)


def _write_into(target: Path, files: Mapping[str, Content], remove: Collection[str]) -> None:
    """Put the files in a folder that is there, each in the place of the one it replaces."""
    for name in (*files, *remove):
        _check_place(target, name)
    written = sorted(files)
    removed = sorted(name for name in set(remove) - set(files) if os.path.lexists(target / name))
    with _Undo() as undo:
        staging = undo.staging(target)
        new, old, journal = staging / "new", staging / "old", staging / _JOURNAL
        old.mkdir()
        _fill(new, files)
        journal.write_text(json.dumps({"written": written, "removed": removed}))
        _sync_file(journal)
        for number, name in enumerate(written):
            place = target / name
            undo.make_folders(place.parent)
            if os.path.lexists(place):
                undo.move(place, old / str(number))
            undo.move(new / name, place)
        for number, name in enumerate(removed, start=len(written)):
            undo.move(target / name, old / str(number))
        journal.unlink()
    undo.end()
    _sync(target)


def _fill(folder: Path, files: Mapping[str, Content]) -> None:
    folder.mkdir(exist_ok=True)
    for name in sorted(files):
        content = files[name]
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            if isinstance(content, Path):
                with content.open("rb") as other:
                    shutil.copyfileobj(other, file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
    _sync_files([folder / name for name in files])


def _sync_files(paths: Sequence[Path]) -> None:
    """Make what was written to files last through a power cut, or raise OSError."""
    with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
        for _ in pool.map(_sync_file, paths):
            pass


def _sync_file(path: Path) -> None:
    # Windows syncs only a file that is open for writing.
    with path.open("r+b") as file:
        os.fsync(file.fileno())


class _Undo:
    """Takes back, last first, whatever was done under it, unless it ends well."""

    def __init__(self) -> None:
        self._moves: list[tuple[Path, Path]] = []
        self._made: list[Path] = []
        self._staging: list[Path] = []
        self._locks: list[int] = []

    def make_folders(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            self._made.append(path)
            path.mkdir()

    def staging(self, parent: Path) -> Path:
        path = parent / f"{_STAGING}{secrets.token_hex(8)}"
        self._staging.append(path)
        path.mkdir()
        lock = os.open(path / _OWNER, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self._locks.append(lock)
        _locks(lock)
        return path

    def end(self) -> None:
        """Remove what was only needed on the way."""
        for path in self._staging:
            _remove(path)
        while self._locks:
            os.close(self._locks.pop())

    def move(self, source: Path, target: Path) -> None:
        self._moves.append((source, target))
        source.rename(target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is None:
            return
        for source, target in reversed(self._moves):
            # The last move may not have happened yet; then its source is still there.
            if os.path.lexists(target) and not os.path.lexists(source):
                target.rename(source)
        self.end()
        for path in reversed(self._made):
            if path.is_dir():
                path.rmdir()


def _remove(folder: Path) -> None:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            _remove(path)
        else:
            path.unlink()
    folder.rmdir()


def _sync(folder: Path) -> None:
    """Make the moves last through a power cut, where folders can be synced at all."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_name(name: str) -> None:
    """Refuse a name that could lead out of the folder on any system."""
    parts = name.split("/")
    escapes = any(part in {"", ".", ".."} for part in parts) or "\0" in name or "\\" in name
    if escapes or PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive:
        raise OutputError(
            f"{name!r} isn't the name of a file inside the output folder",
            hint="This is a bug in Fluid Forge. Please report it.",
        )


def _check_place(target: Path, name: str) -> None:
    """Refuse to write through a link that leads out of the folder, or over a folder."""
    place = target / name
    if not Path(os.path.realpath(place.parent)).is_relative_to(target):
        raise OutputError(
            f"{place} is outside the output folder: a symbolic link leads there",
            hint="Remove the link, or choose another output folder.",
        )
    if place.is_dir() and not place.is_symlink():
        raise OutputError(
            f"{place} is a folder, but Fluid Forge needs to write a file of that name",
            hint="Move the folder out of the way, or choose another output folder.",
        )


def _refused(folder: Path, error: OSError) -> OutputError:
    reason = _REASONS.get(error.errno or 0, error.strerror or "the file system refused")
    if error.errno in _ROOM:
        hint = "Free some space, or choose a folder on another disk."
    else:
        hint = "Choose a folder that you can write to."
    return OutputError(f"{folder} couldn't be written: {reason}", hint=hint)
