"""Files of a clone at a commit, read without a work tree."""

import fnmatch
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.collected.listing import Source


class MissingFileError(Exception):
    """A clone, or a file in it, that the list names isn't there."""


@dataclass(frozen=True)
class Clone:
    """A repository on this machine, at one commit."""

    folder: Path
    commit: str

    def names(self, pattern: str) -> list[str]:
        """Return the paths that a pattern means, sorted; ``*`` also means slashes."""
        listed = self._git("ls-tree", "-r", "-z", "--name-only", self.commit).decode().split("\0")
        if pattern in listed:
            return [pattern]
        found = sorted(name for name in listed if fnmatch.fnmatchcase(name, pattern))
        if not found:
            raise MissingFileError(f"{self.folder} has no file {pattern!r} at {self.commit}.")
        return found

    def holds(self, name: str) -> bool:
        """Whether the file's content is there: a clone may lack its largest files."""
        command = ["git", "-c", "safe.directory=*", f"--git-dir={self.folder}", "cat-file", "-e"]
        found = subprocess.run(
            [*command, f"{self.commit}:{name}"], capture_output=True, check=False
        )
        return not found.returncode

    def read(self, name: str) -> bytes:
        return self._git("cat-file", "blob", f"{self.commit}:{name}")

    def _git(self, *arguments: str) -> bytes:
        command = ["git", "-c", "safe.directory=*", f"--git-dir={self.folder}", *arguments]
        result = subprocess.run(command, capture_output=True, check=False)
        if result.returncode:
            raise MissingFileError(f"{self.folder}: {result.stderr.decode().strip()}")
        return result.stdout


def find_clone(folder: Path, source: Source) -> Clone:
    """Return the clone of a source's repository in a folder of clones, ``owner+name`` each."""
    place = folder / source.clone
    for candidate in (place, place / ".git", place / "repo", place / "repo" / ".git"):
        if (candidate / "HEAD").is_file():
            return Clone(candidate, source.commit)
    raise MissingFileError(f"No clone of {source.repository} at {place}.")


def decode(content: bytes) -> str:
    """Return a file's text: by its mark, in UTF-8, or else in Windows's encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")
