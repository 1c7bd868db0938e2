"""A local folder that is laid out like remote files, whose content is fetched where it's needed.

Every file is there from the start, empty but of the right size, so that folders of partitions,
parts and lake tables are recognised as they are on a disk.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from fluid_build.sources.origin import RemoteFolder
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import as_pattern
from fluid_build.text import byte_size

_AT_ONCE = 8
"""Small files fetched at the same time: most of what one takes is waiting for its server."""
_SMALL = 4 * 1024 * 1024


@dataclass
class Mirror:
    """Remote files below ``folder.root``; ``sizes`` are their bytes."""

    connection: duckdb.DuckDBPyConnection
    folder: RemoteFolder
    sizes: Mapping[Path, int]
    can_glob: bool
    _fetched: set[Path] = field(default_factory=set, init=False)

    @property
    def remote(self) -> RemoteFolder:
        """Where the files really are."""
        return self.folder

    def place(self, path: Path) -> str:
        """Return the URL of a file."""
        return self.folder.place(path)

    def lay_out(self) -> None:
        """Make the files, without their content."""
        for path, size in self.sizes.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            os.truncate(path, size)

    def fetch(self, paths: Sequence[Path]) -> None:
        """Have the content of files, each fetched once.

        Raises duckdb.Error where one can't be, and ValueError for one that is too large.
        """
        missing = [path for path in paths if path not in self._fetched]
        small = [path for path in missing if self.sizes.get(path, 0) <= _SMALL]
        if len(small) > 1:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(self._fetch_apart, small))
        for path in missing:
            if path not in self._fetched:
                self._copy(self.connection, path)

    def _fetch_apart(self, path: Path) -> None:
        with self.connection.cursor() as connection:
            self._copy(connection, path)

    def _copy(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        url = self.place(path)
        pattern = as_pattern(url) if self.can_glob else url
        part = path.with_name(f"{path.name}.part")
        try:
            connection.execute(
                f"COPY (SELECT content FROM read_blob({literal(pattern)}))"
                f" TO {literal(str(part))} (FORMAT blob)"
            )
            part.replace(path)
        except duckdb.OutOfMemoryException:
            raise ValueError(
                f"Its {byte_size(self.sizes.get(path, 0))} don't fit in the memory limit. Raise it"
                " with the environment variable FLUID_MEMORY_LIMIT, or store the file as Parquet,"
                " which is read in parts."
            ) from None
        finally:
            part.unlink(missing_ok=True)
        self._fetched.add(path)
