"""What in a folder could be forged, best first: what a guided forge proposes."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fluid_build.errors import SourceError
from fluid_build.sources.addresses.endings import is_ddl, is_surely_data
from fluid_build.sources.addresses.kinds import DDL, KINDS, RemoteKind
from fluid_build.sources.uri import locate
from fluid_build.transform.proof.manifest import MANIFEST_FILE

_MOST_FILES = 2_000
"""Files that are looked at: a guided forge is for a project's folder, not for a whole disk."""
_MOST_DEPTH = 3
_NOT_DATA = frozenset({"node_modules", "venv", "__pycache__", "target", "dbt_packages"})
"""Folders with files of tools; hidden ones are left out too."""


@dataclass(frozen=True, slots=True)
class NearbySource:
    """A source in the folder: its path, what it is, and its files and bytes."""

    path: str
    label: str
    files: int
    size: int


def nearby_sources(folder: Path) -> tuple[NearbySource, ...]:
    """Return the sources in a folder: databases, then folders of data files, then SQL files.

    Larger ones come first. Folders that were forged are left out, with everything in them.
    """
    databases, data, scripts = [], dict[Path, list[Path]](), []
    for path in _files(folder):
        if is_surely_data(path):
            data.setdefault(path.parent, []).append(path)
        elif is_ddl(path):
            scripts.append(path)
        elif _is_database(path):
            databases.append(path)
    return (
        *_by_size(_source(folder, path, [path]) for path in databases),
        *_by_size(_of_files(folder, place, paths) for place, paths in data.items()),
        *_by_size(_source(folder, path, [path]) for path in scripts),
    )


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, names in os.walk(folder):
        place = Path(parent)
        depth = len(place.relative_to(folder).parts)
        if MANIFEST_FILE in names:
            folders.clear()
            continue
        folders[:] = sorted(
            name
            for name in folders
            if depth < _MOST_DEPTH and name not in _NOT_DATA and not name.startswith(".")
        )
        for name in sorted(names):
            path = place / name
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            yield path
            count += 1
            if count == _MOST_FILES:
                return


def _is_database(path: Path) -> bool:
    endings = (
        ending
        for kind in KINDS.values()
        if kind is not DDL and not isinstance(kind, RemoteKind)
        for ending in kind.endings
    )
    if path.suffix.lower() not in set(endings):
        return False
    try:
        locate(str(path))
    except SourceError:  # named like a database, and isn't one
        return False
    return True


def _of_files(folder: Path, place: Path, paths: list[Path]) -> NearbySource:
    """Return the files of one folder as one source; a single file is named itself."""
    return _source(folder, paths[0] if len(paths) == 1 else place, paths)


def _source(folder: Path, place: Path, paths: list[Path]) -> NearbySource:
    relative = place.relative_to(folder).as_posix()
    label = locate(str(place)).kind.label
    return NearbySource(relative, label, len(paths), sum(path.stat().st_size for path in paths))


def _by_size(sources: Iterable[NearbySource]) -> list[NearbySource]:
    return sorted(sources, key=lambda source: (-source.size, source.path))
