"""Options about a source, checked: its kind, its conventions, and a folder outside of it."""

import glob
import shlex
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import cast, get_args

from fluid_build.errors import UsageError, unknown_name
from fluid_build.secrets import redact
from fluid_build.sources.conventions import Conventions, DateOrder, DecimalMark
from fluid_build.sources.file_layout import format_of
from fluid_build.sources.kinds import DDL, FILES, KINDS, SCHEMES
from fluid_build.sources.uri import Address, locate

_FORMATS = {"csv": {"csv"}, "parquet": {"parquet"}, "json": {"json", "jsonl"}}
CHOICES = (*(name for name in KINDS if name != DDL.name), *_FORMATS)
"""What ``--source`` may say; the schemes of URIs are understood as well."""


def check_kind(requested: str | None, uri: str) -> Address:
    """Locate the URI; UsageError where ``--source`` requests another kind than is there."""
    if requested is None:
        return locate(uri)
    kind = FILES if requested in _FORMATS else KINDS.get(requested) or SCHEMES.get(requested)
    if kind is None or kind is DDL:
        raise unknown_name("source kind", requested, CHOICES)
    address = locate(uri)
    if kind is not address.kind:
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


def check_outside(out: Path, address: Address) -> None:
    """UsageError where files would be written among those that are read."""
    if address.kind is not FILES:
        return
    folder = _source_folder(address.place)
    if folder is not None and out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{out} is inside {folder}, which is the source. Fluid Forge never writes to a source.",
            hint="Choose a folder outside of it with -o.",
        )


def _source_folder(place: str) -> Path | None:
    path = Path(place)
    if path.is_dir():
        return path
    if path.exists():
        return None
    fixed = [part for part in path.parts if not glob.has_magic(part)]
    return Path(*fixed) if fixed else Path()


def conventions(decimal: str | None, date_order: str | None) -> Conventions:
    """Return what --decimal and --date-order say; UsageError for an unknown value."""
    if decimal not in (None, *get_args(DecimalMark)):
        raise UsageError(
            f"{decimal!r} isn't a decimal mark.", hint='Use --decimal "." or --decimal ",".'
        )
    if date_order not in (None, *get_args(DateOrder)):
        raise UsageError(
            f"{date_order!r} isn't an order of day and month.",
            hint="Use --date-order dmy or --date-order mdy.",
        )
    return Conventions(cast("DecimalMark | None", decimal), cast("DateOrder | None", date_order))
