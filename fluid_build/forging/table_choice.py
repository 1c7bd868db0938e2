"""Which tables of its source a folder's model is of: what the next forge reads, and keeps to.

Decisions on which tables are one change it, so that they are known before the source is read.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from fluid_build.decisions.language import AnyDecision, OneTable, Separate
from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.sources.addresses.kinds import KINDS, Kind, ServerKind
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource, SourceRequest, source_identifier
from fluid_build.sources.grouping import Grouping
from fluid_build.sources.grouping import OneTable as TableOfParts
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.origin import database_places
from fluid_build.stated_options import words
from fluid_build.text import listed
from fluid_build.transform.proof.manifest import (
    MANIFEST_FILE,
    ManifestSource,
    combined_source,
    manifest_source,
    read_manifest,
)

_CHOICE = ("schemas", "include", "exclude", "views")
"""The options that choose tables. They are one choice: where any is said, none is the folder's."""
_SHAPE = ("nested", "periods", "grouping")
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


def as_decided(
    requests: Sequence[SourceRequest], decisions: Iterable[AnyDecision]
) -> tuple[SourceRequest, ...]:
    """Return what to read, with the tables that are one, and those that aren't, by decisions.

    Among several sources, tables are named with their source. Of decisions about a table, the last
    one that a person made counts.
    """
    decided = {
        each.table.lower(): each
        for each in decisions
        if isinstance(each, OneTable | Separate) and each.by == "person"
    }
    return tuple(
        replace(each, read=replace(each.read, grouping=_grouping(decided.values(), prefix)))
        for each in requests
        for prefix in ("" if len(requests) == 1 else f"{_name_of(each)}.",)
    )


def _name_of(request: SourceRequest) -> str:
    return request.name or source_identifier(Path(request.address.place).stem)


def _grouping(decided: Iterable[OneTable | Separate], prefix: str) -> Grouping:
    """Return what is decided about the tables of a source whose names begin with a prefix."""
    own = [each for each in decided if each.table.startswith(prefix)]
    return Grouping(
        one_table=tuple(
            TableOfParts(
                each.table.removeprefix(prefix),
                tuple(part.removeprefix(prefix) for part in each.parts),
            )
            for each in own
            if isinstance(each, OneTable)
        ),
        separate=tuple(
            each.table.removeprefix(prefix) for each in own if isinstance(each, Separate)
        ),
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
    options = shlex.join(words(replace(READ_ALL, **chosen))) or "every table"
    return ", ".join((options, *_decided_words(source.read.grouping)))


def _decided_words(grouping: Grouping) -> Iterator[str]:
    """Yield what decisions say of tables that are one, and of those that aren't."""
    for one in grouping.one_table:
        yield f"{listed(one.parts)} as the one table {one.name}"
    if grouping.separate:
        yield f"the parts of {listed(grouping.separate)} as tables of their own"
