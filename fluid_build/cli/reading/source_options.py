"""Options about a source, checked: its kind, and how it's read."""

import glob
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from fluid_build.errors import UsageError, unknown_name
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import (
    CATALOGS,
    COMBINED,
    CREDENTIAL_PARAMETER,
    DDL,
    FILES,
    IN_MEMORY,
    KINDS,
    SCHEMES,
    CatalogKind,
)
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.credentials import check_credential_name
from fluid_build.sources.files.layout import format_of
from fluid_build.sources.options import ReadOptions, check_some_take, flags_with, options_for
from fluid_build.sources.uri import Address, is_place, locate

_FORMATS = {"csv": {"csv"}, "parquet": {"parquet"}, "json": {"json", "jsonl"}}
_WITHOUT_URI = (DDL, IN_MEMORY, COMBINED)
_CATALOG_NAMES: Mapping[str, CatalogKind] = {
    **{kind.warehouse or kind.name: kind for kind in CATALOGS},
    "databricks": next(kind for kind in CATALOGS if kind.name == "unity"),
}
"""The catalogs by what ``--source`` calls them, which for a warehouse is the warehouse's name."""
CHOICES = tuple(
    dict.fromkeys(
        [
            *(
                getattr(kind, "warehouse", "") or name
                for name, kind in KINDS.items()
                if kind not in _WITHOUT_URI
            ),
            *_FORMATS,
        ]
    )
)
"""What ``--source`` may say; the schemes of URIs are understood as well."""


_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_]*)=(.+)", re.DOTALL)


def split_name(text: str) -> tuple[str, str]:
    """Return the name and the URI of ``NAME=URI``; "" and the text where that's a place itself."""
    match = _NAMED.fullmatch(text)
    if match is None or is_place(text):
        return "", text
    return match[1].lower(), match[2]


def named_uri(name: str, uri: str) -> str:
    """Return what ``--uri`` says of a source; ``name`` is "" for the only one."""
    return f"{name}={uri}" if name else uri


def uris_to_open(source: str | None, uris: Sequence[str], credential: str | None) -> Sequence[str]:
    """Return what ``--uri`` says, or the address of the catalog that needs none.

    A credential becomes a part of the address. Raises UsageError where there is nothing to open,
    and for a credential of something else than one catalog.
    """
    kind = _CATALOG_NAMES.get(source or "")
    if not uris:
        if source is not None and kind is None and source not in CHOICES:
            raise unknown_name("source kind", source, CHOICES)
        if kind is None or (credential is None and source in KINDS and source != kind.name):
            hint = "Run `fluid forge data-model from-source --help` to see its options."
            if kind is not None:
                hint = f"Pass --uri, or for {kind.label}'s catalog add --credential-id NAME."
            raise UsageError(
                "Missing option '--uri'. Only a catalog needs none, with --source and"
                " --credential-id.",
                hint=hint,
            )
        uris = [f"{kind.schemes[0]}://"]
    if credential is None:
        return uris
    check_credential_name(credential)
    if len(uris) > 1 or uris[0].partition("://")[0].lower() not in {k.schemes[0] for k in CATALOGS}:
        raise UsageError(
            "--credential-id logs in to a catalog, and --uri names something else.",
            hint="Leave one of them out.",
        )
    (uri,) = uris
    if f"{CREDENTIAL_PARAMETER}=" in uri.partition("?")[2]:
        raise UsageError(
            "The address names a credential already.", hint="Leave --credential-id out."
        )
    return [f"{uri}{'&' if '?' in uri else '?'}{CREDENTIAL_PARAMETER}={credential}"]


def check_kind(requested: str | None, uri: str) -> Address:
    """Locate the URI; UsageError where ``--source`` requests another kind than is there."""
    if requested is None:
        return locate(uri)
    kind = FILES if requested in _FORMATS else KINDS.get(requested) or SCHEMES.get(requested)
    kind = kind or _CATALOG_NAMES.get(requested)
    if kind is None or kind in _WITHOUT_URI:
        raise unknown_name("source kind", requested, CHOICES)
    address = locate(uri)
    if kind is not address.kind and _CATALOG_NAMES.get(requested) is not address.kind:
        hint = f"Use --source {address.kind.name}, or leave --source out."
        if address.kind is DDL:
            hint = f"Use `fluid forge data-model from-ddl {shlex.quote(redact(uri))}` for DDL."
        raise UsageError(
            f"--source says {requested}, but {redact(uri)} is {address.kind.phrase}.", hint=hint
        )
    formats = _FORMATS.get(requested)
    if formats and not any(format_of(file) in formats for file in _files(address.place)):
        raise UsageError(
            f"--source says {requested}, but there is no such file at {redact(uri)}.",
            hint="Check the path, or leave --source out.",
        )
    return address


def source_requests(
    kind: str | None, uris: Sequence[str], read: ReadOptions
) -> list[SourceRequest]:
    """Return what to open for each ``--uri``; UsageError for DDL, or an option that none takes.

    Of several sources, each gets the options that its kind takes.
    """
    if len(uris) == 1:
        return [_request("", check_kind(kind, uris[0]), uris[0], read)]
    if kind is not None:
        raise UsageError(
            "--source says the kind of one source, and there are several.",
            hint="Leave --source out, or begin each URI with its kind: sqlite:///crm.db.",
        )
    named = [split_name(uri) for uri in uris]
    places = [(name, locate(uri), uri) for name, uri in named]
    check_some_take(read, [address.kind for _, address, _ in places], flags_with)
    return [
        _request(name, address, uri, options_for(read, address.kind.options))
        for name, address, uri in places
    ]


def _request(name: str, address: Address, uri: str, read: ReadOptions) -> SourceRequest:
    if address.kind is DDL:
        raise UsageError(
            f"{redact(uri)} is DDL, not data.",
            hint="Run:",
            command=f"fluid forge data-model from-ddl {shlex.quote(redact(uri))}",
        )
    return SourceRequest(address, name, read)


def _files(place: str) -> Iterator[Path]:
    path = Path(place)
    if path.is_dir():
        return path.rglob("*")
    if path.exists():
        return iter((path,))
    # Path.glob takes no absolute pattern.
    matches = (Path(match) for match in glob.iglob(place, recursive=True))  # noqa: PTH207
    return chain.from_iterable(
        match.rglob("*") if match.is_dir() else (match,) for match in matches
    )
