"""Paths that a model names, confined to a workspace before anything is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fluid_build.copilot.errors import FileTooLargeError, ForbiddenPathError, PathTraversalError
from fluid_build.sources.addresses.endings import COMPRESSIONS, FORMATS
from fluid_build.sources.addresses.kinds import KINDS, RemoteKind

SOURCE_SUFFIXES = frozenset(
    {*FORMATS, *COMPRESSIONS}
    | {
        ending
        for kind in KINDS.values()
        if not isinstance(kind, RemoteKind)
        for ending in kind.endings
    }
)
"""The endings of files that can be read as sources; all others are refused."""

MAX_ENTRIES = 5_000
"""Files below a folder that is read as a source, each of which is checked."""

FileStates = tuple[tuple[str, int, int], ...]
"""Files by path, with their time of change and their size."""


def confined_source(root: Path, path: str, *, max_bytes: int) -> Path:
    """Return the real path of a file or folder of the workspace that can be read as a source.

    Everything in a folder is checked too: a link may lead elsewhere. Raises ``PathTraversalError``
    for what is outside, ``ForbiddenPathError`` for other types of files, ``FileTooLargeError``, and
    ``FileNotFoundError``.
    """
    base, resolved = root.resolve(), resolve_inside(root, path)
    if not resolved.exists():
        raise FileNotFoundError("There is no such file.")
    files = [resolved]
    if resolved.is_dir():
        files = list(islice(files_below(resolved, base), MAX_ENTRIES + 1))
    if len(files) > MAX_ENTRIES:
        raise FileTooLargeError(f"It has more than {MAX_ENTRIES} files.")
    if not any(is_readable_source(file) for file in files):
        raise ForbiddenPathError("This tool may not use files of this type.")
    if sum(file.stat().st_size for file in files) > max_bytes:
        raise FileTooLargeError(f"It is larger than {max_bytes} bytes.")
    return resolved


def resolve_inside(root: Path, path: str) -> Path:
    """Return the real path of a path of the workspace, which needn't exist.

    Raises ``PathTraversalError`` for what is outside, ``ForbiddenPathError`` for what is no path.
    """
    base = root.resolve()
    try:
        resolved = (base / path).resolve()
        _require_inside(resolved, base)
        # Resolving accepts a name that is too long for the file system; only a look-up fails.
        resolved.exists()
    except (ValueError, OSError, RuntimeError) as error:
        raise ForbiddenPathError("No file can have this path.") from error
    return resolved


def files_below(folder: Path, root: Path) -> Iterator[Path]:
    """Yield the files below a folder, sorted, as a source reads them: without hidden ones.

    Links to folders are followed, each once. Raises ``PathTraversalError`` for a link that leads
    out of the root.
    """
    visited = {folder.resolve()}
    for parent, folders, names in os.walk(folder, followlinks=True):
        inner = {name: Path(parent, name).resolve() for name in sorted(folders)}
        inner = {name: real for name, real in inner.items() if not name.startswith(".")}
        for real in inner.values():
            _require_inside(real, root)
        # A link that leads up again would be followed without end.
        folders[:] = [name for name, real in inner.items() if real not in visited]
        visited.update(inner.values())
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file():
                _require_inside(path.resolve(), root)
                yield path


def is_readable_source(path: Path) -> bool:
    """Return whether a file's ending says that it can be read as a source."""
    return path.suffix.lower() in SOURCE_SUFFIXES


def file_states(place: Path) -> FileStates:
    """Return the files of a source with their sizes and times: they differ once one has changed.

    A database that is being written has its latest changes in a file next to it.
    """
    files = [place, *_write_ahead_logs(place)]
    if place.is_dir():
        files = [*files_below(place, place)]
    states = ((file, file.stat()) for file in files)
    return tuple((str(f), state.st_mtime_ns, state.st_size) for f, state in states)


def _write_ahead_logs(place: Path) -> list[Path]:
    logs = (place.with_name(place.name + ending) for ending in ("-wal", ".wal"))
    return [log for log in logs if log.exists()]


def _require_inside(path: Path, root: Path) -> None:
    if not path.is_relative_to(root):
        raise PathTraversalError("The path is outside of the workspace.")
