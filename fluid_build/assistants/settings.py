"""What the user lets an assistant see and do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fluid_build.copilot.llm.outgoing import outgoing_secrets
from fluid_build.errors import UsageError
from fluid_build.secrets import passwords, redact_keys
from fluid_build.sources.addresses.kinds import RemoteKind
from fluid_build.sources.options import READ_ALL, ReadOptions
from fluid_build.sources.uri import Address, locate

_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/~-])~?/(?:[^\s/'\"`,;:]+/)+")
_NO_LIMIT = 2**62
"""Bytes of a source: its user chose the workspace, sees the progress and can cancel."""
_STRONG_SECRET = 8
"""Characters of a password that is taken out of results; shorter ones occur in ordinary text."""


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """The workspace, the sources that the user named, and what an assistant may do.

    ``read`` says what of a source is read, as far as its kind takes that. Addresses and ``secrets``
    may hold passwords, so they are left out of the representation. A file or folder of the
    workspace is read up to ``most_bytes``.
    """

    root: Path
    named_sources: Mapping[str, Address] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    read: ReadOptions = READ_ALL
    allow_write: bool = False
    share_values: bool = False
    most_bytes: int = _NO_LIMIT

    def without_outside(self, text: str) -> str:
        """Return a text without secrets and without the folders of paths of this machine."""
        text = redact_keys(text, self.secrets).replace(f"{self.root}/", "")
        return _ABSOLUTE_PATH.sub("…/", text.replace(str(self.root), "."))


def workspace_settings(
    root: Path,
    named_uris: Mapping[str, str],
    read: ReadOptions = READ_ALL,
    *,
    allow_write: bool,
    share_values: bool,
    most_bytes: int = _NO_LIMIT,
) -> WorkspaceSettings:
    """Return checked settings.

    Raises UsageError for a folder that isn't one, and what ``locate`` raises for a named source.
    """
    if not root.is_dir():
        raise UsageError(f"{root} isn't a folder.", hint="Pass a folder with --workspace.")
    secrets = (secret for uri in named_uris.values() for secret in passwords(uri))
    strong = (secret for secret in secrets if len(secret) >= _STRONG_SECRET)
    return WorkspaceSettings(
        root.resolve(),
        {name: _absolute(locate(uri)) for name, uri in named_uris.items()},
        tuple(dict.fromkeys((*outgoing_secrets(None), *strong))),
        read,
        allow_write,
        share_values,
        most_bytes,
    )


def _absolute(address: Address) -> Address:
    """Return the address in words that don't depend on the working folder."""
    if isinstance(address.kind, RemoteKind):
        return address
    return Address(address.kind, str(Path(address.place).absolute()))
