"""Why remote files can't be read, as errors that say what to do."""

import duckdb

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
)
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import RemoteFilesKind
from fluid_build.sources.engine.connection import reason

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
