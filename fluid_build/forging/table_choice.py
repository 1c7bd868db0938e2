"""Which tables of its source a folder's model is of: what the next forge reads, and keeps to."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.sources.addresses.kinds import KINDS, Kind, ServerKind
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource, SourceRequest
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.origin import database_places
from fluid_build.stated_options import words
from fluid_build.transform.proof.manifest import (
    MANIFEST_FILE,
    ManifestSource,
    combined_source,
    manifest_source,
    read_manifest,
)

_CHOICE = ("schemas", "include", "exclude", "views")
"""The options that choose tables. They are one choice: where any is said, none is the folder's."""
_SHAPE = ("nested", "periods")
"""The options that make other tables of the same ones."""


def as_in_folder(out: Path | None, requests: Sequence[SourceRequest]) -> tuple[SourceRequest, ...]:
    """Return what to read for a forge into a folder: what its model is of, unless that is said."""
    source = None if out is None else _recorded(out)
    if source is None:
        return tuple(requests)
    parts = source.parts or {"": source}
    if len(requests) == len(parts) == 1:
        (part,) = parts.values()
        return (_as_read(requests[0], part),)
    # Without a name of its own, a source gets that of what it reads.
    return tuple(
        _as_read(each, parts[each.name]) if each.name in parts else each for each in requests
    )


def _as_read(request: SourceRequest, part: ManifestSource) -> SourceRequest:
    is_said = any(getattr(request.read, each) != getattr(READ_ALL, each) for each in _CHOICE)
    if is_said or part.kind != request.address.kind.name:
        return request
    chosen = {name: getattr(part.read, name) for name in _CHOICE}
    return replace(request, read=replace(request.read, **chosen))


def check_same_choice(out: Path, source: Source) -> None:
    """Raise UsageError where a source isn't read as that of a folder's model was.

    Its tables would come and go, and its relations in the warehouse would be left behind.
    """
    before, now = _recorded(out), source_as_read(source, out)
    if before is None or _choices(before, now) == _choices(now, before):
        return
    raise UsageError(
        f"The model in {out} is of {_in_words(before)}, and this forge reads {_in_words(now)}. That"
        " would end the model, and leave behind what was loaded by it.",
        hint="Read what the model is of, forge into another folder, or say that the model is"
        " designed anew with --redesign all.",
    )


def _recorded(out: Path) -> ManifestSource | None:
    """Return the source of a folder's model; None where the folder doesn't say it."""
    if not (out / MANIFEST_FILE).exists():
        return None
    try:
        return read_manifest(out).source
    except SourceUnreadableError:
        # A folder with such a manifest isn't written to unless --force says so.
        return None


def source_as_read(source: Source, out: Path) -> ManifestSource:
    """Return a source, and how it's read, as the manifest of a folder has it."""
    if isinstance(source, CombinedSource):
        return combined_source({part.name: source_as_read(part, out) for part in source.parts})
    if source.opened_as is None:
        return ManifestSource(kind=cast("Kind", source.kind), location=None)
    options = source.opened_as.options
    return manifest_source(
        source.opened_as.address,
        out,
        replace(options, schemas=options.schemas or _schemas_of_server(source)),
    )


def _schemas_of_server(source: Source) -> tuple[str, ...]:
    """Return the schemas of a server's tables; dbt may later build in another schema there."""
    if not isinstance(KINDS[source.kind], ServerKind):
        return ()
    places = (place for table in source.tables for place in database_places(table.origin))
    return tuple(dict.fromkeys(place.schema for place in places))


def _choices(source: ManifestSource, other: ManifestSource) -> Mapping[str, Mapping[str, object]]:
    """Return which tables are read of each source, to compare with those of another reading."""
    others = other.parts or {"": other}
    return {
        name: dict(_choice(part, others.get(name, other)))
        for name, part in (source.parts or {"": source}).items()
    }


def _choice(part: ManifestSource, other: ManifestSource) -> Iterator[tuple[str, object]]:
    for name in (*_CHOICE, *_SHAPE):
        value = getattr(part.read, name)
        # Only the schemas of a server are always known. It may have taken the place of a file.
        is_known = part.kind == other.kind or all((part.schemas, other.schemas))
        if name != "schemas" or is_known:
            yield name, frozenset(value) if isinstance(value, tuple) else value


def _in_words(source: ManifestSource) -> str:
    """Return what is read of a source as options."""
    if source.parts:
        return "; ".join(f"{name}: {_in_words(part)}" for name, part in source.parts.items())
    chosen = {name: getattr(source.read, name) for name in (*_CHOICE, *_SHAPE)}
    options = words(replace(READ_ALL, **chosen))
    return shlex.join(options) or "every table"
