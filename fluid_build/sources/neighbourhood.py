"""Which local files a folder may lead to unasked: what's in it, and what's beside it."""

import os
from collections.abc import Iterator
from pathlib import Path

from fluid_build.sources.uri import is_glob, matches


def stray(place: str, folder: Path) -> Path | None:
    """Return the first file of a path or glob outside a folder's neighbourhood; None if all are in.

    The neighbourhood is the folder itself and the folder that it's in, with everything below; of
    the latter, hidden files and folders are no part. Symbolic links are followed to where they
    lead. A place that is outside by its name alone is never looked at: on Windows, looking at a
    network path contacts its server.
    """
    own = Path(os.path.realpath(folder))
    if not _is_near(Path(os.path.normpath(own / place)), own):
        return Path(place)
    return next((path for path in _files(place) if not _is_near(_real(path), own)), None)


def _is_near(path: Path, folder: Path) -> bool:
    if path.is_relative_to(folder):
        return True
    if not path.is_relative_to(folder.parent):
        return False
    return not any(part.startswith(".") for part in path.relative_to(folder.parent).parts)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _files(place: str) -> Iterator[Path]:
    """Yield the place and everything that a source would read below it."""
    path = Path(place)
    if is_glob(place) and not path.exists():
        yield from matches(place)
        return
    yield path
    seen = {_real(path)}
    for parent, folders, files in os.walk(path, followlinks=True):
        inside = [Path(parent, name) for name in folders]
        yield from inside
        yield from (Path(parent, name) for name in files)
        # A link that leads up again would be followed without end.
        folders[:] = [entry.name for entry in inside if _real(entry) not in seen]
        seen.update(map(_real, inside))
