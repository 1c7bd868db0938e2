"""Data files of an object store or a web server as one source.

Parquet is read into the private database directly. Other formats are fetched once, and then read
as files of this machine are.
"""

from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine import Engine, starting
from fluid_build.sources.files import read_files
from fluid_build.sources.kinds import AZURE_STORAGE, GCS, S3, WEB, RemoteFilesKind
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.origin import RemoteFolder
from fluid_build.sources.remote.listing import Listing, files_at
from fluid_build.sources.remote.mirror import Mirror
from fluid_build.sources.remote.object_store_login import log_in
from fluid_build.sources.remote.places import RemotePlace, remote_place
from fluid_build.temporary import OwnedFolder, owned_folder
from fluid_build.text import byte_size, counted


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
    local = str(root / "**" / "*") if place.pattern else str(root)
    source = read_files(engine, local, options, mirror)
    source.kind = kind.name
    source.name = place.source_name(is_file=listing.is_file)
    source.skipped = (*source.skipped, *listing.skipped)
    source.notes = (_size_note(listing), *source.notes)
    source.cleanup.append(folder)
    return source


def _size_note(listing: Listing) -> str:
    number = len(listing.sizes)
    return f"{counted(number, 'remote file')} of {byte_size(listing.bytes)} in all."
