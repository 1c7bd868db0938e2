"""Where data files are: on this machine, or elsewhere and fetched when they're needed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from fluid_build.sources.origin import RemoteFolder


class FileStorage(Protocol):
    """Files that are laid out below a local folder, wherever their content is.

    ``remote`` is where they really are, and None for files of this machine.
    """

    @property
    def remote(self) -> RemoteFolder | None:
        """The place of remote files."""
        ...

    def place(self, path: Path) -> str:
        """Return the path or URL at which DuckDB reads a file."""
        ...

    def fetch(self, paths: Sequence[Path]) -> None:
        """Have the content of files on this machine. Raises duckdb.Error where one can't be."""
        ...


class LocalFiles:
    """Files of this machine."""

    remote: RemoteFolder | None = None

    def place(self, path: Path) -> str:
        """Return the path itself."""
        return str(path)

    def fetch(self, paths: Sequence[Path]) -> None:
        """Do nothing: they are here."""
