"""Data files of an object store or a web server as one source.

Parquet is read into the private database directly. Other formats are fetched once, and then read
as files of this machine are.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from fluid_build.progress import Progress
from fluid_build.sources.addresses.kinds import AZURE_STORAGE, GCS, S3, WEB, RemoteFilesKind
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import Engine, starting
from fluid_build.sources.files.opening import read_files
from fluid_build.sources.files.remote.listing import Listing, files_at
from fluid_build.sources.files.remote.object_store_login import log_in
from fluid_build.sources.files.remote.places import RemotePlace, remote_place
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.origin import InFiles, RemoteFolder
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import as_pattern
from fluid_build.temporary import OwnedFolder, owned_folder
from fluid_build.text import byte_size, counted

# A local folder that is laid out like remote files, whose content is fetched where it's needed.
# Every file is there from the start, empty but of the right size, so that folders of partitions,
# parts and lake tables are recognised as they are on a disk.

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


def open_s3(place: str, options: OpenOptions) -> OpenSource:
    """Open files in S3 or a store that speaks its protocol; errors as in ``_open``."""
    return _open(place, S3, options)


def open_gcs(place: str, options: OpenOptions) -> OpenSource:
    """Open files in Google Cloud Storage; errors as in ``_open``."""
    return _open(place, GCS, options)


def open_azure(place: str, options: OpenOptions) -> OpenSource:
    """Open files in Azure Blob Storage or Data Lake Storage; errors as in ``_open``."""
    return _open(place, AZURE_STORAGE, options)


def open_web(place: str, options: OpenOptions) -> OpenSource:
    """Open a file on a web server; errors as in ``_open``."""
    return _open(place, WEB, options)


def _open(url: str, kind: RemoteFilesKind, options: OpenOptions) -> OpenSource:
    """Open remote data files.

    Raises UsageError for a URL of nothing in particular, SourceNotFoundError where nothing is
    there, SourceUnreachableError where there's no way in, and what ``open_files`` raises.
    """
    place = remote_place(url, kind)
    with starting(options.memory_limit, extensions=kind.extensions) as engine:
        log_in(engine.connection, place.base, kind.secret_type)
        # A file is looked at several times: for its size, its schema and its rows.
        engine.connection.execute("SET enable_http_metadata_cache = true")
        listing = files_at(engine.connection, place, kind)
        folder = owned_folder()
        try:
            return _read(engine, place, kind, listing, folder, options)
        except BaseException:
            folder.cleanup()
            raise


def _read(
    engine: Engine,
    place: RemotePlace,
    kind: RemoteFilesKind,
    listing: Listing,
    folder: OwnedFolder,
    options: OpenOptions,
) -> OpenSource:
    top = folder.path / place.file_name
    root = top
    sizes = {top / path: size for path, size in listing.sizes.items()}
    if listing.is_file:
        root, sizes = top, {top: listing.bytes}
    mirror = Mirror(engine.connection, RemoteFolder(root, place.base), sizes, kind.lists)
    mirror.lay_out()
    amount = f"{counted(len(sizes), 'remote file')}, {byte_size(listing.bytes)}"
    options.on_progress(Progress("reading", 0, 1, amount))
    local = str(root / "**" / "*") if place.pattern else str(root)
    source = read_files(engine, local, options, mirror)
    source.kind = kind.name
    source.name = place.source_name(is_file=listing.is_file)
    source.skipped = (*source.skipped, *listing.skipped)
    source.notes = (_note_on_files(source, mirror), *source.notes)
    source.cleanup.append(folder)
    return source


def _note_on_files(source: OpenSource, mirror: Mirror) -> str:
    """Say how many of the files were read, and how large they are."""
    origins = [table.origin for table in source.tables]
    tops = {
        path
        for origin in origins
        if isinstance(origin, InFiles)
        for part in origin.parts
        for path in part.paths
    }
    # A lake's table is a folder; only its own log says which of the files in it were read.
    sizes = [
        size for path, size in mirror.sizes.items() if tops.intersection((path, *path.parents))
    ]
    verb = "makes" if len(sizes) == 1 else "make"
    return (
        f"{len(sizes):,} of {counted(len(mirror.sizes), 'remote file')} {verb} its tables:"
        f" {byte_size(sum(sizes))}."
    )
