"""What a user names a source by: its kind, its place, and never its password in print."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from fluid_build.errors import SourceNotFoundError, SourceUnreadableError, UnknownSourceError
from fluid_build.regular_files import not_regular, open_regular
from fluid_build.secrets import redact
from fluid_build.sources.addresses.dump_detection import have_rows
from fluid_build.sources.addresses.endings import is_ddl, is_surely_data
from fluid_build.sources.addresses.kinds import (
    DDL,
    DUMP,
    FILES,
    IN_MEMORY,
    KINDS,
    MYSQL,
    POSTGRES,
    SCHEMES,
    RemoteKind,
    SourceKind,
)
from fluid_build.sources.addresses.server_address import canonical_uri
from fluid_build.text import nearest

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(?=//|/|[^\\])")
_KEYWORD_DSN = re.compile(r"^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=")


@dataclass(frozen=True, slots=True)
class Address:
    """A source found: its kind, and its ``place`` (a path, a glob or a connection string).

    ``place`` may hold a password, so it is left out of the representation.
    """

    kind: SourceKind
    place: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class MemoryAddress(Address):
    """Tables of this process by name: no text leads to them, so ``place`` only describes them."""

    tables: Mapping[str, object] = field(repr=False)

    # Data frames can't be compared with ==.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def in_memory(tables: Mapping[str, object]) -> MemoryAddress:
    """Return the address of tables of this process."""
    return MemoryAddress(IN_MEMORY, IN_MEMORY.phrase, tables)


def path_from(folder: Path, path: Path) -> str | None:
    """Return the way from a folder to a path, with ``/``.

    None where there is none (another drive of Windows): an absolute path is nobody else's business.
    """
    absolute = path.absolute()
    real = Path(os.path.realpath(absolute.parent)) / absolute.name
    try:
        return Path(os.path.relpath(real, os.path.realpath(folder))).as_posix()
    except ValueError:
        return None


def locate(text: str) -> Address:
    """Find out what kind of source a URI, path, glob or connection string names.

    Raises UnknownSourceError for a scheme or ending that is none of ours, and
    SourceNotFoundError where nothing lies at the place.
    """
    if _KEYWORD_DSN.match(text):
        return Address(POSTGRES, text)
    match = _SCHEME.match(text)
    if match is None or Path(text).exists():
        return _look(text)
    scheme = match.group(1).lower()
    kind = SCHEMES.get(scheme)
    if kind is None:
        raise _unknown_scheme(scheme)
    if isinstance(kind, RemoteKind) and not text.startswith("//", match.end()):
        # The address may hold a password that nothing would recognise without the slashes.
        raise UnknownSourceError(
            f"Two slashes are missing after {scheme}:.", hint=f"Write {scheme}://…"
        )
    if kind is MYSQL:
        return Address(kind, canonical_uri(text, MYSQL))
    if isinstance(kind, RemoteKind):
        return Address(kind, text)
    place = _path_of(text[match.end() :])
    if kind is FILES:
        return _look(place)
    _require_file(place)
    return Address(kind, place)


def is_place(text: str) -> bool:
    """Return whether a text is a connection string or names something that exists."""
    return bool(_KEYWORD_DSN.match(text)) or _something_at(text)


def _path_of(rest: str) -> str:
    """Return the path in the part of a URI after ``scheme:``.

    ``////a/b`` is absolute. ``///a/b`` is absolute to some tools and relative to others: it is
    ``/a/b`` unless only ``a/b`` exists.
    """
    path = unquote(rest.removeprefix("//").removeprefix("localhost/" if "//" in rest[:2] else ""))
    if path.startswith("//"):
        return path[1:]
    relative = path.removeprefix("/")
    if path.startswith("/") and not _something_at(path) and relative and _something_at(relative):
        return relative
    return path


def is_glob(place: str) -> bool:
    """Return whether a path holds wildcards."""
    return any(mark in place for mark in "*?[")


def as_pattern(path: str) -> str:
    """Return a path as a glob that matches it alone.

    DuckDB takes every path of a data file for a glob.
    """
    return "".join(f"[{character}]" if character in "*?[" else character for character in path)


def matches(pattern: str) -> list[Path]:
    """Return the files that a glob names, sorted, hidden ones left out.

    ``**`` stands for any folders.
    """
    path = Path(pattern)
    anchor = Path(path.anchor)
    paths = anchor.glob(str(path.relative_to(anchor)))
    return sorted(
        path_found
        for path_found in paths
        if path_found.is_file() and not path_found.name.startswith((".", "_"))
    )


def _something_at(place: str) -> bool:
    return Path(place).exists() or bool(is_glob(place) and matches(place))


def _look(place: str) -> Address:
    path = Path(place).expanduser()
    if is_glob(place) and not path.exists():
        return Address(_kind_of_files(matches(str(path))), str(path))
    if path.is_dir():
        return Address(_kind_of_files(matches(str(path / "*"))), str(path))
    _require_file(str(path))
    if is_ddl(path):
        return Address(_kind_of_sql([path]), str(path))
    return Address(_kind_of_file(path), str(path))


def _kind_of_files(paths: list[Path]) -> SourceKind:
    """SQL where there is some and no file of data; a README beside it is neither."""
    data = any(map(is_surely_data, paths))
    scripts = [path for path in paths if is_ddl(path)]
    return _kind_of_sql(scripts) if scripts and not data else FILES


def _kind_of_sql(scripts: list[Path]) -> SourceKind:
    return DUMP if have_rows(scripts) else DDL


def _kind_of_file(path: Path) -> SourceKind:
    ending = path.suffix.lower()
    kinds = (kind for kind in KINDS.values() if ending in kind.endings)
    return database_kind(path) or next(kinds, FILES)


def database_kind(path: Path) -> SourceKind | None:
    """Return the kind of database whose signature the file has; None where it has none."""
    try:
        with open_regular(path) as file:
            start = file.read(16)
    except (OSError, SourceUnreadableError):
        return None
    for kind in KINDS.values():
        if kind.signature is not None:
            offset, mark = kind.signature
            if start[offset : offset + len(mark)] == mark:
                return kind
    return None


def _require_file(place: str) -> None:
    path = Path(place)
    if not path.exists():
        raise SourceNotFoundError(f"{redact(place)!r} doesn't exist.", hint=_nearest_hint(path))
    if path.is_dir():
        raise SourceNotFoundError(
            f"{redact(place)!r} is a folder, not a database file.",
            hint="Pass the file inside it, or pass the folder without a scheme to read its files.",
        )
    if not path.is_file():
        raise not_regular(path)


def _nearest_hint(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"Check the path: the folder {redact(str(folder))!r} doesn't exist either."
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        names = []
    guess = nearest(path.name, tuple(names))
    return f"Did you mean {str(folder / guess)!r}?" if guess else "Check the path."


def _unknown_scheme(scheme: str) -> UnknownSourceError:
    known = ", ".join(f"{kind.schemes[0]}://" for kind in KINDS.values() if kind.schemes)
    database, plus, driver = scheme.partition("+")
    if scheme == "jdbc":
        guess = "Leave out jdbc:, as in postgresql://user@host/database. "
    elif plus and database in SCHEMES:
        guess = f"Leave out +{driver}: {database}://… "
    else:
        scheme_meant = nearest(scheme, tuple(SCHEMES))
        guess = f"Did you mean {scheme_meant}://? " if scheme_meant else ""
    return UnknownSourceError(
        f"Fluid Forge can't read {scheme}:// sources.",
        hint=f"{guess}Supported: {known}, or a path to a file or folder.",
    )
