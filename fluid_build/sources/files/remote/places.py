"""The URL of remote files, taken apart: what is listed, what it's called, and what is secret."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from fluid_build.errors import UsageError
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import RemoteFilesKind
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.sources.uri import is_glob

_UNSAFE = re.compile(r"[\x00-\x1f\\:*?\"<>|\[\]]")
"""Characters that a system forbids in the names of files, or that make them patterns."""


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A URL of one file, a folder or a glob.

    ``base`` is the file, or the folder that the glob starts in; it has no ``/`` at its end.
    ``pattern`` is the glob below it, and empty where there is none.
    """

    url: str
    base: str
    pattern: str

    @property
    def path(self) -> PurePosixPath:
        """The path of ``base`` on its server, with the bucket or container."""
        parts = urlsplit(self.base)
        own = parts.netloc.rpartition("@")[0] or parts.netloc
        container = own if "@" in parts.netloc else parts.netloc
        return PurePosixPath("/", container, unquote(parts.path).lstrip("/"))

    @property
    def file_name(self) -> str:
        """The last part of the path, fit for a file on any system."""
        return safe_name(self.path.name) or "files"

    def source_name(self, *, is_file: bool) -> str:
        """Return what the source is called: after its file, or the folder that says something."""
        path = Path(self.path)
        own = path.name.split(".")[0] if is_file else path.name
        return name_of_path(path, own) or "files"


def remote_place(url: str, kind: RemoteFilesKind) -> RemotePlace:
    """Take a URL apart; UsageError where it has no bucket or host, or a glob that can't be listed.

    A ``?`` begins the query of a web address, and is a wildcard elsewhere.
    """
    scheme, _, rest = url.partition("://")
    url = f"{scheme.lower()}://{rest}"
    if not rest.partition("/")[0]:
        raise UsageError(
            f"{redact(url)} names no {'bucket' if kind.lists else 'host'}.",
            hint=f"Pass a URL such as {kind.example}.",
        )
    if not kind.lists:
        if "*" in rest.partition("?")[0] or rest.partition("?")[0].endswith("/"):
            raise UsageError(
                f"{redact(url)} isn't one file, and a web server doesn't list its files.",
                hint="Pass the URL of each file: --uri once for each.",
            )
        return RemotePlace(url, url, "")
    parts = rest.split("/")
    plain = next((i for i, part in enumerate(parts) if is_glob(part)), len(parts))
    base = f"{scheme.lower()}://{'/'.join(parts[:plain]).rstrip('/')}"
    return RemotePlace(url, base, "/".join(parts[plain:]))


def safe_name(name: str) -> str:
    """Return a name with the characters replaced that not every system allows in one."""
    return _UNSAFE.sub("_", name).strip()


def local_path(key: str) -> PurePosixPath | None:
    """Return the local path for the part of a key below its folder; None where it has none.

    A key is any text: ``..`` would lead out of the folder, and two slashes in a row name a folder
    without a name.
    """
    parts = key.split("/")
    if any(part in ("", ".", "..") or len(part.encode()) > 255 for part in parts):
        return None
    if any("\x00" in part or "\\" in part for part in parts):
        return None
    return PurePosixPath(*parts)
