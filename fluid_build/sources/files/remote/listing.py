"""Which files are at a URL, and how large they are: known before any of them is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import duckdb

from fluid_build import limits
from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
)
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import RemoteFilesKind
from fluid_build.sources.base import Skipped
from fluid_build.sources.engine.connection import reason
from fluid_build.sources.files.layout import format_of
from fluid_build.sources.files.remote.places import RemotePlace, local_path
from fluid_build.sources.uri import as_pattern

# Why remote files can't be read, as errors that say what to do.

_DENIED = (
    "http 403",
    "http 401",
    "accessdenied",
    "invalidaccesskey",
    "signaturedoesnotmatch",
    "expired",
)
_NO_NETWORK = (
    "could not connect",
    "could not resolve",
    "could not establish",
    "timeout",
    "timed out",
    "connection",
    "partial file",
    "failure when receiving",
)


def remote_error(url: str, kind: RemoteFilesKind, error: Exception) -> SourceError:
    """Return the error for a URL that can't be listed or read."""
    said = str(error).lower()
    place = redact(url)
    if isinstance(error, duckdb.OutOfMemoryException):
        return SourceUnreadableError(
            f"{place} is larger than the memory limit: {reason(error)}",
            hint='Raise the limit with the environment variable FLUID_MEMORY_LIMIT, such as "8GB".',
        )
    if "nosuchbucket" in said or "containernotfound" in said:
        return SourceNotFoundError(
            f"The bucket of {place} doesn't exist.", hint="Check the name, and the endpoint."
        )
    if "query parameters" in said:
        return SourceUnreadableError(
            f"A file at {place} has a ? in its name, which DuckDB takes for the start of"
            " parameters.",
            hint="Rename the file, or pass a glob that doesn't match it, such as */*.csv.",
        )
    if "ssl peer certificate" in said or "certificate verify" in said:
        return SourceUnreachableError(
            f"The server of {place} has a certificate that isn't trusted.",
            hint="If it's your company's own, name the file with its certificates in the"
            " environment variable SSL_CERT_FILE.",
        )
    if any(mark in said for mark in _DENIED):
        return SourceUnreachableError(
            f"Access to {place} was denied.",
            hint=f"{kind.access_hint} A signed URL may have expired.",
        )
    if (
        "http 404" in said
        or "blobnotfound" in said
        or "not found" in said
        or "no files found" in said
    ):
        return not_found(url)
    if "http 301" in said or "permanentredirect" in said or "http 400" in said:
        return SourceUnreachableError(
            f"{place} is in another region, or its endpoint refuses the request: {reason(error)}",
            hint="Set AWS_REGION to the region of the bucket.",
        )
    if any(mark in said for mark in _NO_NETWORK):
        return SourceUnreachableError(
            f"{place} can't be reached: {reason(error)}",
            hint="Check the network, the proxy and the name of the server, and try again.",
        )
    return SourceUnreadableError(f"{place} can't be read: {reason(error)}", hint=kind.access_hint)


def not_found(url: str) -> SourceNotFoundError:
    """Return the error for a URL where nothing is."""
    return SourceNotFoundError(
        f"There is no data file at {redact(url)}.",
        hint="Check the path; the names in it are case-sensitive.",
    )


_LAKE_FOLDERS = ("_delta_log",)
"""Hidden folders that say what a folder is."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files at a URL: their bytes by the path below its folder, or of one file by its name.

    ``skipped`` are those whose name no local file can have.
    """

    is_file: bool
    sizes: dict[PurePosixPath, int]
    skipped: tuple[Skipped, ...] = ()

    @property
    def bytes(self) -> int:
        """The size of all of them."""
        return sum(self.sizes.values())


def files_at(
    connection: duckdb.DuckDBPyConnection, place: RemotePlace, kind: RemoteFilesKind
) -> Listing:
    """List a file, a folder with all that's below it, or what a glob matches.

    A name with the ending of a data file may be a folder as well: Spark writes ``orders.parquet/``.
    Raises SourceNotFoundError, SourceUnreachableError or SourceUnreadableError.
    """
    if place.pattern:
        return _below(connection, place, kind, place.url)
    looks_like_file = format_of(Path(place.path.name)) is not None
    if not kind.lists or looks_like_file:
        try:
            size = _size_of_file(connection, place.base, kind)
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            if not kind.lists or "HTTP 404" not in str(error):
                raise remote_error(place.base, kind, error) from None
        else:
            return Listing(True, {PurePosixPath(place.file_name): size})
    return _below(connection, place, kind, f"{as_pattern(place.base)}/**")


def _size_of_file(connection: duckdb.DuckDBPyConnection, url: str, kind: RemoteFilesKind) -> int:
    pattern = as_pattern(url) if kind.lists else url
    row = connection.execute("SELECT size FROM read_blob(?)", [pattern]).fetchone()
    return int(row[0] or 0) if row else 0


def _below(
    connection: duckdb.DuckDBPyConnection, place: RemotePlace, kind: RemoteFilesKind, glob: str
) -> Listing:
    sizes: dict[PurePosixPath, int] = {}
    skipped: list[Skipped] = []
    try:
        rows = connection.execute("SELECT filename, size FROM read_blob(?)", [glob]).fetchall()
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise remote_error(place.url, kind, error) from None
    for key, size in _keys(rows, place):
        path = local_path(key)
        if path is None or path in sizes:
            skipped.append(Skipped(redact(key), "Its name isn't one that a local file can have."))
        elif not _is_hidden(path):
            sizes[path] = size
    if not sizes and not skipped:
        raise not_found(place.url)
    _check_number(place, len(sizes))
    return Listing(False, _without_folders(sizes), tuple(skipped))


def _keys(rows: list[tuple[str, int]], place: RemotePlace) -> Iterator[tuple[str, int]]:
    """Yield the part of each key below the folder, and its size; folders have keys of their own."""
    _, _, base = place.base.partition("://")
    for url, size in rows:
        _, _, rest = url.partition("://")
        key = rest.removeprefix(f"{base}/")
        if key != rest and not key.endswith("/"):
            yield key, int(size or 0)


def _is_hidden(path: PurePosixPath) -> bool:
    return any(part.startswith((".", "_")) and part not in _LAKE_FOLDERS for part in path.parts)


def _without_folders(sizes: dict[PurePosixPath, int]) -> dict[PurePosixPath, int]:
    """Leave out what a store keeps in place of a folder: a key that others continue."""
    folders = {parent for path in sizes for parent in path.parents}
    return {path: size for path, size in sizes.items() if path not in folders}


def _check_number(place: RemotePlace, number: int) -> None:
    try:
        limits.REMOTE_FILES.check(number, "files")
    except ValueError as error:
        raise SourceUnreadableError(
            f"{redact(place.url)} can't be read. {error}", hint="Pass a folder further down."
        ) from None
