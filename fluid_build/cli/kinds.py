"""Whether what ``--source`` says is what lies at the URI."""

import glob
import shlex
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from fluid_build.errors import UsageError
from fluid_build.secrets import redact
from fluid_build.sources.file_layout import format_of
from fluid_build.sources.uri import Address, locate

_KINDS = {
    "duckdb": "duckdb",
    "sqlite": "sqlite",
    "postgres": "postgres",
    "postgresql": "postgres",
    "files": "files",
    "csv": "files",
    "parquet": "files",
    "json": "files",
}
KINDS = tuple(kind for kind in _KINDS if kind != "postgresql")
"""What ``--source`` may say; ``postgresql`` is understood as well."""

_FORMATS = {"csv": {"csv"}, "parquet": {"parquet"}, "json": {"json", "jsonl"}}
_NAMES = {
    "duckdb": "a DuckDB database",
    "sqlite": "an SQLite database",
    "postgres": "a PostgreSQL database",
    "files": "files",
    "ddl": "DDL",
}


def check_kind(said: str | None, uri: str) -> Address:
    """What lies at the URI; UsageError where ``--source`` says something else."""
    if said is not None and said not in _KINDS:
        near = get_close_matches(said.lower(), _KINDS, n=1)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"There is no kind of source {said!r}.", hint=f"{meant}Known are {', '.join(KINDS)}."
        )
    address = locate(uri)
    if said is None:
        return address
    if _KINDS[said] != address.kind:
        hint = f"Say --source {address.kind}, or leave --source out."
        if address.kind == "ddl":
            hint = f"Use `fluid forge data-model from-ddl {shlex.quote(redact(uri))}` for DDL."
        raise UsageError(
            f"--source says {said}, and {redact(uri)} is {_NAMES[address.kind]}.", hint=hint
        )
    if said in _FORMATS and not any(format_of(f) in _FORMATS[said] for f in _files(address.place)):
        raise UsageError(
            f"--source says {said}, and there is no such file at {redact(uri)}.",
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
    found = (Path(match) for match in glob.iglob(place, recursive=True))  # noqa: PTH207
    return chain.from_iterable(f.rglob("*") if f.is_dir() else (f,) for f in found)


def check_outside(out: Path, address: Address) -> None:
    """UsageError where files would be written among those that are read."""
    if address.kind != "files":
        return
    folder = _folder_read(address.place)
    if folder is not None and out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{out} lies in {folder}, which is being read, and no source is ever written to.",
            hint="Name a folder outside of it with -o.",
        )


def _folder_read(place: str) -> Path | None:
    path = Path(place)
    if path.is_dir():
        return path
    if path.exists():
        return None
    plain = [part for part in path.parts if not glob.has_magic(part)]
    return Path(*plain) if plain else Path()
