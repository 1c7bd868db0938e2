"""What a forge may do to each file of its folder: nobody's edits are lost without their consent.

``forge.json`` shows which files are as an earlier forge wrote them, which were edited since, and
which no forge ever wrote.
"""

import difflib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from fluid_build.artifacts import Content
from fluid_build.decisions.editing import without_evidence
from fluid_build.decisions.files import (
    DECISIONS_FILE,
    SCHEMA_FILE,
    parse_decisions,
    read_decision_file,
)
from fluid_build.errors import (
    DecisionError,
    OutputError,
    SourceError,
    SourceNotFoundError,
    SourceUnreadableError,
)
from fluid_build.regular_files import read_regular
from fluid_build.transform.proof.manifest import MANIFEST_FILE, Manifest, digest, read_manifest
from fluid_build.transform.proof.written_proof import PROOF_FILE

Action: TypeAlias = Literal["create", "replace", "merge", "remove", "keep", "nothing"]
Owner: TypeAlias = Literal["forge", "edited", "foreign"]

_MOST_LINES = 5_000
"""The time to compare grows with the square of the lines, if hardly any are alike."""

_MOST_BYTES = 16 * 1024 * 1024
"""Far more than that many lines in files that a forge writes."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What to do with a file.

    ``owner`` is ``forge`` where the file is as a forge wrote it or doesn't exist, ``edited`` where
    a forge wrote it and somebody changed it since, ``foreign`` where no forge wrote it. Only edited
    and foreign files are ever kept. One that is kept is ``outdated`` where the forge now writes
    another than the one that was edited. To ``merge`` a file is to write it with its edits.
    """

    name: str
    action: Action
    owner: Owner = "forge"
    outdated: bool = False


def folder_changes(
    folder: Path,
    files: Mapping[str, Content],
    *,
    overwrite: bool = False,
    merged: Collection[str] = (),
) -> tuple[FileChange, ...]:
    """Return what to do with each file, and with those that only an earlier forge wrote, by name.

    ``files`` are those to be written, without ``forge.json``. With ``overwrite`` nothing is kept:
    foreign files are replaced, edited ones are replaced or removed. The edits of ``merged`` files
    are in ``files`` already, all that have a place there. Raises OutputError where the
    folder's ``forge.json`` can't be read, so that it's unknown which files were edited.
    """
    earlier = manifest_there(folder, overwrite=overwrite)
    changes = [_written(folder, name, files[name], earlier, overwrite) for name in files]
    changes += _left_over(folder, files, earlier, overwrite)
    changes = [
        _with_edits(change, is_left=change.name in files) if change.name in merged else change
        for change in changes
    ]
    return tuple(sorted(changes, key=lambda change: change.name))


def edited_files(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """Return the names of the files that aren't as the forge wrote them, or that are gone."""
    return tuple(
        name
        for name, written in manifest.files.items()
        if _is_inside(name) and digest_on_disk(folder / name) != written
    )


def _with_edits(change: FileChange, *, is_left: bool) -> FileChange:
    """Return what to do with a file whose edits are taken care of."""
    if change.action != "keep":
        return change
    return replace(change, action="merge" if is_left else "remove", outdated=False)


def manifest_there(folder: Path, *, overwrite: bool = False) -> Manifest | None:
    """Return the manifest of an earlier forge; None without one.

    Raises OutputError where it can't be read, unless everything is overwritten.
    """
    if not os.path.lexists(folder / MANIFEST_FILE):
        return None
    try:
        return read_manifest(folder)
    except SourceNotFoundError:
        return None
    except SourceError as error:
        if overwrite:
            return None
        raise OutputError(
            f"{error.message} Without it, Fluid Forge can't tell which files in {folder} were"
            " edited, so nothing was written.",
            hint="Choose another folder with -o, or use --force to overwrite the files there.",
        ) from error


def _written(
    folder: Path, name: str, content: Content, earlier: Manifest | None, overwrite: bool
) -> FileChange:
    path = folder / name
    if not os.path.lexists(path):
        return FileChange(name, "create")
    if path.is_dir() and not path.is_symlink():
        return FileChange(name, "replace")  # Refused, with the reason, when it is written.
    now = digest_on_disk(path)
    if now == digest(content):
        return FileChange(name, "nothing")
    if name == DECISIONS_FILE and isinstance(content, str) and not loses_decisions(folder, content):
        return FileChange(name, "replace")
    owner = _owner(name, now, earlier)
    if owner == "forge" or overwrite:
        return FileChange(name, "replace", owner)
    is_outdated = owner == "edited" and _is_outdated(name, now, content, earlier)
    return FileChange(name, "keep", owner, outdated=is_outdated)


def _is_outdated(name: str, now: str | None, content: Content, earlier: Manifest | None) -> bool:
    """Return whether an edited file was made for another structure than that of today."""
    if earlier is None or now is None:
        return False
    was_outdated = (earlier.outdated or {}).get(name) == now
    return was_outdated or earlier.files.get(name) != digest(content)


def _owner(name: str, now: str | None, earlier: Manifest | None) -> Owner:
    if name == SCHEMA_FILE:
        return "forge"  # `fluid decide` may have written it before any forge.
    if earlier is None or name in earlier.foreign:
        return "foreign"
    if name == PROOF_FILE:
        return "forge"  # Every verification rewrites it, so it has no digest.
    if name not in earlier.files:
        return "foreign"
    return "forge" if now == earlier.files[name] else "edited"


def _left_over(
    folder: Path, files: Mapping[str, Content], earlier: Manifest | None, overwrite: bool
) -> Iterator[FileChange]:
    """Return the changes to files that an earlier forge wrote and this one doesn't."""
    if earlier is None:
        return
    for name in earlier.files:
        if name in files or name in earlier.foreign or not _is_inside(name):
            continue
        path = folder / name
        if not path.is_file() or _belongs_to_decisions(folder, name):
            continue
        if digest_on_disk(path) == earlier.files[name]:
            yield FileChange(name, "remove")
        else:
            action: Action = "remove" if overwrite else "keep"
            yield FileChange(name, action, "edited", outdated=not overwrite)


def _belongs_to_decisions(folder: Path, name: str) -> bool:
    """Return whether a file stays although no decision was passed to this forge."""
    return name in (DECISIONS_FILE, SCHEMA_FILE) and (folder / DECISIONS_FILE).exists()


def loses_decisions(folder: Path, text: str) -> bool:
    """Return whether ``text``, as the folder's decisions, loses any that somebody wrote there.

    A file that's as a forge wrote it loses nothing, since its source is elsewhere.
    """
    path = folder / DECISIONS_FILE
    if not os.path.lexists(path) or _is_as_written(folder, path):
        return False
    try:
        before, after = read_decision_file(path).decisions, parse_decisions(text)
    except (DecisionError, SourceError):
        return True
    return not {*map(without_evidence, before)} <= {*map(without_evidence, after)}


def _is_as_written(folder: Path, path: Path) -> bool:
    try:
        earlier = read_manifest(folder)
    except SourceError:
        return False
    written = earlier.files.get(DECISIONS_FILE)
    is_ours = written is not None and DECISIONS_FILE not in earlier.foreign
    return is_ours and digest_on_disk(path) == written


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def digest_on_disk(path: Path) -> str | None:
    """Return the digest of a file; None for a pipe, a broken link or another irregular file."""
    if not path.is_file():
        return None
    try:
        return digest(path)
    except OSError as error:
        raise OutputError(
            f"{path} can't be read ({error.strerror}), so Fluid Forge can't tell whether it was"
            " edited.",
            hint="Check its permissions, or choose another folder with -o.",
        ) from error


def difference(folder: Path, change: FileChange, content: Content) -> tuple[str, ...]:
    """Return the lines of a unified diff from the file as it is to what the forge would write.

    Empty where there is nothing to show: the file isn't text, no forge wrote it (its content is
    private), or it's too long to be compared line by line.
    """
    if change.owner == "foreign" or isinstance(content, Path):
        return ()
    old = _lines(folder / change.name)
    new = (content if isinstance(content, str) else content.decode("utf-8", "replace")).splitlines()
    if old is None or max(len(old), len(new)) > _MOST_LINES:
        return ()
    names = (change.name, f"{change.name} (generated now)")
    return tuple(difflib.unified_diff(old, new, *names, lineterm=""))


def _lines(path: Path) -> list[str] | None:
    if path.is_symlink():  # It may point to a file outside of the folder.
        return None
    try:
        content = read_regular(path, _MOST_BYTES, too_large="It's too large to compare.")
        return content.decode().splitlines()
    except (OSError, SourceUnreadableError, UnicodeDecodeError):
        return None
