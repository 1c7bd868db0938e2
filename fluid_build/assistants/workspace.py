"""Places that an assistant names: inside the workspace, or a source that its user named at start.

A path is resolved first, links and ``..`` included. A connection string is never an assistant's to
choose: it leads to servers, and with them to the user's passwords.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from fluid_build.assistants.paths import (
    MAX_ENTRIES,
    SOURCE_SUFFIXES,
    FileStates,
    confined_source,
    file_states,
    files_below,
    is_readable_source,
    resolve_inside,
)
from fluid_build.assistants.settings import WorkspaceSettings
from fluid_build.copilot.errors import FileTooLargeError, ForbiddenPathError, PathTraversalError
from fluid_build.errors import SourceError, SourceNotFoundError, UsageError
from fluid_build.sources.addresses.endings import DDL_ENDINGS, is_ddl
from fluid_build.sources.addresses.kinds import KINDS, RemoteKind
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.options import ReadOptions, options_for
from fluid_build.sources.uri import Address, is_glob, locate
from fluid_build.text import counted, listed
from fluid_build.transform.proof.manifest import (
    MANIFEST_FILE,
    ManifestSource,
    place_of,
    read_manifest,
)
from fluid_build.transform.proof.written_proof import PROOF_FILE

_FILE_SCHEME = re.compile(r"(?:file|duckdb|sqlite3?):(?://(?:localhost(?=/))?)?", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[^\\]")
_KEYWORDS = re.compile(r"\s*\w+\s*=")
_DELTA_LOG = "_delta_log"
_ENDINGS = sorted((*SOURCE_SUFFIXES, *DDL_ENDINGS))
_MOST_FOLDERS = 5_000
"""Folders that are looked into: a second of work, where a home folder would take minutes."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "target"})
"""Folders of other people's packages and of builds: large, and without data of the user."""


@dataclass(frozen=True, slots=True)
class Place:
    """A source to open: what it's called here, and how it's opened.

    ``files`` are those that say whether it has changed; a server has none. Addresses may hold
    passwords, so they are left out of the representation.
    """

    shown: str
    requests: tuple[SourceRequest, ...] = field(repr=False)
    files: Callable[[], FileStates] = field(default=tuple, repr=False, compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from another place, or from the same one opened differently."""
        return tuple(
            (request.address.place, request.name, request.read) for request in self.requests
        )


class Workspace:
    """The folder that an assistant may look at, and the sources that its user named."""

    def __init__(self, settings: WorkspaceSettings) -> None:
        self.root = settings.root
        self._settings = settings

    def source(self, text: str, read: ReadOptions | None = None) -> Place:
        """Return the source that an assistant names, by its name or by a path, glob or file URI.

        ``read`` says what of it is read where that isn't up to the user of the server. Raises
        UsageError for what it may not name, SourceNotFoundError where nothing is there.
        """
        read = read or self._settings.read
        if text in self._settings.named_sources:
            return self._named_place(text, read)
        path = self._path_in(text)
        with _explained(path):
            if is_glob(path) and not self._is_there(path):
                return self._glob(path, read)
            return self._file_or_folder(path, read)

    def folder_source(self, folder: Path) -> Place:
        """Return the source of a forged folder, where that is a file of the workspace."""
        manifest = read_manifest(folder)
        parts = manifest.source.parts or {"": manifest.source}
        requests = tuple(self._part(folder, name, part) for name, part in parts.items())
        places = [request.address.place for request in requests]
        return Place(
            listed([self.shown(Path(place)) for place in places]),
            requests,
            lambda: tuple(state for place in places for state in _states_at(place)),
        )

    def forged_folder(self, text: str) -> Path:
        """Return a folder that ``fluid forge`` wrote or may write, relative to the working folder.

        Everything in it is checked, since a link may lead elsewhere. Raises UsageError.
        """
        with _explained(text):
            folder = resolve_inside(self.root, text)
            if folder.exists() and not folder.is_dir():
                raise UsageError(f"{text} is a file, not a folder.", hint="Name another folder.")
            if len([*islice(files_below(folder, self.root), MAX_ENTRIES + 1)]) > MAX_ENTRIES:
                raise FileTooLargeError
        return Path(self.shown(folder))

    def forged_folders(self) -> Iterator[Path]:
        """Yield the folders of the workspace that a forge wrote."""
        return (folder for folder in self._folders() if (folder / MANIFEST_FILE).is_file())

    def data_files(self) -> Iterator[Path]:
        """Yield files of the workspace that can be read as sources, relative to it.

        What a forge wrote isn't data.
        """
        for folder in self._folders():
            written = _written_by_forge(folder)
            for entry in _entries(folder):
                if entry.name not in written and self._is_data(entry):
                    yield entry.relative_to(self.root)

    def _folders(self) -> Iterator[Path]:
        """Yield the folders of the workspace, those near its root first."""
        waiting, number = deque([self.root]), 0
        while waiting and number < _MOST_FOLDERS:
            folder = waiting.popleft()
            number += 1
            yield folder
            written = _written_by_forge(folder)
            waiting += (inner for inner in _inner_folders(folder) if inner.name not in written)

    def _is_data(self, entry: Path) -> bool:
        is_shown = is_readable_source(entry) and not entry.name.startswith(".")
        return is_shown and entry.is_file() and entry.resolve().is_relative_to(self.root)

    def shown(self, path: Path) -> str:
        """Return a path of the workspace relative to it, another one's name."""
        whole = self.root / path
        is_inside = whole.is_relative_to(self.root)
        return whole.relative_to(self.root).as_posix() if is_inside else path.name

    def _path_in(self, text: str) -> str:
        scheme = _FILE_SCHEME.match(text)
        if self._is_there(text):
            return text
        if scheme is not None:
            path = unquote(text[scheme.end() :])
            inner = path.lstrip("/")
            is_absolute = path.startswith("/") and Path(path).is_relative_to(self.root)
            # ``sqlite:///shop.db`` is relative to some tools; ``////`` never is.
            return path if is_absolute or path.startswith("//") or not inner else inner
        if _ANY_SCHEME.match(text) or _KEYWORDS.match(text):
            raise UsageError(
                "A connection string can't be chosen here.",
                hint=f"Start the server with --source NAME=URI and use the name. {self._names()}",
            )
        return text

    def _is_there(self, path: str) -> bool:
        try:
            return (self.root / path).exists()
        except (OSError, ValueError):
            return False

    def _names(self) -> str:
        names = listed(self._settings.named_sources)
        return f"Named sources: {names}." if names else "No source is named so far."

    def _named_place(self, name: str, read: ReadOptions) -> Place:
        address = self._settings.named_sources[name]
        request = SourceRequest(address, read=options_for(read, address.kind.options))
        if isinstance(address.kind, RemoteKind):
            return Place(name, (request,))
        return Place(name, (request,), files=lambda: _states_at(address.place))

    def _file_or_folder(self, path: str, read: ReadOptions) -> Place:
        real = self._confined(path)
        request = _confined_request(locate(str(real)), read)
        return Place(self.shown(real), (request,), files=lambda: file_states(real))

    def _confined(self, path: str) -> Path:
        """Return the real path of a source of the workspace, after checking all that is in it."""
        if not is_ddl(Path(path)):
            real = confined_source(self.root, path, max_bytes=self._settings.most_bytes)
            self._check_no_delta(real)
            return real
        real = resolve_inside(self.root, path)
        if not real.is_file():
            raise FileNotFoundError
        return real

    def _check_no_delta(self, place: Path) -> None:
        """Raise UsageError for a Delta table: its log may name files anywhere."""
        if not place.is_dir():
            return
        for file in files_below(place, self.root):
            if _DELTA_LOG in file.relative_to(place).parts:
                raise UsageError(
                    "A Delta table's log may name files outside of the workspace.",
                    hint="Start the server with --source NAME=PATH and use the name."
                    f" {self._names()}",
                )

    def _glob(self, pattern: str, read: ReadOptions) -> Place:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise PathTraversalError
        try:
            matches = sorted(islice(self.root.glob(pattern), MAX_ENTRIES + 1))
        except (ValueError, NotImplementedError, OSError):
            raise ForbiddenPathError from None
        if not matches:
            raise FileNotFoundError
        for match in matches:
            self._confined(str(match))
        address = locate(f"{_literal_glob(self.root)}/{pattern}")
        return Place(
            pattern,
            (_confined_request(address, read),),
            files=lambda: tuple(
                state for match in self.root.glob(pattern) for state in file_states(match)
            ),
        )

    def _part(self, folder: Path, name: str, source: ManifestSource) -> SourceRequest:
        if isinstance(KINDS[source.kind], RemoteKind):
            raise UsageError(
                "The folder was forged from a server, and a folder never chooses one.",
                hint=f"Pass the name of that server as source. {self._names()}",
            )
        place = place_of(source, folder)
        with _explained(self.shown(Path(place))):
            if is_glob(place) and not Path(place).exists():
                if not Path(place).is_relative_to(self.root):
                    raise PathTraversalError
                own = self._glob(Path(place).relative_to(self.root).as_posix(), source.read)
                address = own.requests[0].address
            else:
                address = locate(str(self._confined(place)))
        return replace(_confined_request(address, source.read), name=name)


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Say of a path that may not be used why that is, and what may be; the cause is kept."""
    try:
        yield
    except PathTraversalError as error:
        raise UsageError(
            "The path leads out of the workspace, or a link in that folder does.",
            hint="Use a path relative to the workspace that stays inside it.",
        ) from error
    except ForbiddenPathError as error:
        raise UsageError(
            f"{path} can't be read as data.",
            hint=f"Name a folder or one of these files: {listed(_ENDINGS, 'or')}.",
        ) from error
    except FileTooLargeError as error:
        raise UsageError(
            f"{path} has more than {counted(MAX_ENTRIES, 'file')}.", hint="Name a folder inside it."
        ) from error
    except FileNotFoundError as error:
        raise SourceNotFoundError(
            f"{path} doesn't exist in the workspace.",
            hint="Call list_sources to see what there is.",
        ) from error


def _confined_request(address: Address, read: ReadOptions) -> SourceRequest:
    # A view of a database in the workspace may read a file outside of it.
    confined = replace(read, views=False)
    return SourceRequest(address, read=options_for(confined, address.kind.options))


def _states_at(place: str) -> FileStates:
    paths: Sequence[Path] = [Path(place)]
    if is_glob(place) and not Path(place).exists():
        anchor = Path(Path(place).anchor)
        paths = sorted(anchor.glob(str(Path(place).relative_to(anchor))))
    return tuple(state for path in paths for state in file_states(path))


def _literal_glob(folder: Path) -> str:
    return re.sub(r"([*?\[])", r"[\1]", str(folder))


def _entries(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted; nothing of one that can't be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _inner_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders to look into: no links, none that is hidden or somebody else's.

    Readers of files take names with ``_`` for hidden too: a lake table's log isn't data.
    """
    for entry in _entries(folder):
        is_skipped = entry.name.startswith((".", "_")) or entry.name in _SKIPPED_FOLDERS
        if not is_skipped and entry.is_dir() and not entry.is_symlink():
            yield entry


def _written_by_forge(folder: Path) -> set[str]:
    """Return the names in a folder that a forge wrote there."""
    if not (folder / MANIFEST_FILE).is_file():
        return set()
    try:
        files = read_manifest(folder).files
    except SourceError:
        return set()
    return {MANIFEST_FILE, PROOF_FILE, *(Path(name).parts[0] for name in files)}
