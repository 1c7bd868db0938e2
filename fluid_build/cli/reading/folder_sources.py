"""The sources of a forged folder, where its forge.json or the user says that they are."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, TypeAlias

import typer

from fluid_build.cli import messages
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.reading.consent import allowed_place
from fluid_build.cli.reading.source_options import named_uri, split_name
from fluid_build.cli.reading.source_session import open_sources
from fluid_build.decisions.language import AnyDecision
from fluid_build.errors import SourceChangedError, SourceNotFoundError, UsageError
from fluid_build.forging.table_choice import as_decided
from fluid_build.progress import OnProgress
from fluid_build.secrets import redact, surely_without_passwords
from fluid_build.sources.base import Source
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.uri import locate
from fluid_build.text import listed
from fluid_build.transform.proof.manifest import MANIFEST_FILE, ManifestSource
from fluid_build.verification import FolderHead, ForgedFolder

Uris = Annotated[
    list[str] | None,
    typer.Option(
        "--uri",
        metavar="URI",
        help="Where the source is: needed for a server, or if the source has moved."
        " NAME=URI for one of several sources.",
    ),
]
AnyFolder: TypeAlias = FolderHead | ForgedFolder


def source_places(
    forged: AnyFolder, moved: Mapping[str, str], command: Sequence[str]
) -> Mapping[str, str]:
    """Return where the sources of a folder are, by name, and say so.

    Those that haven't ``moved`` are where the folder says, as far as it may choose that.
    """
    places = {name: moved.get(name) or _place(forged, name, command) for name in _sources(forged)}
    for name, place in places.items():
        messages.tell(f"Source: {named_uri(name, redact(place))}")
    return places


def folder_session(
    interrupts: Interrupts,
    forged: AnyFolder,
    places: Mapping[str, str],
    on_progress: OnProgress,
    *,
    name: str | None = None,
    decisions: Sequence[AnyDecision] | None = None,
) -> AbstractContextManager[Source]:
    """Open the sources of a folder as its forge read them, or as ``decisions`` have it since."""
    requests: Sequence[SourceRequest] = folder_requests(forged, places)
    if decisions is not None:
        requests = as_decided(requests, decisions)
    return open_sources(requests, name, interrupts, on_progress)


def folder_requests(forged: AnyFolder, places: Mapping[str, str]) -> list[SourceRequest]:
    """Return the sources of a folder, read as its forge read them."""
    return [
        SourceRequest(locate(places[name]), name, source.read)
        for name, source in _sources(forged).items()
    ]


def moved_places(forged: AnyFolder, uris: Sequence[str]) -> Mapping[str, str]:
    """Return the places that ``--uri`` gives, by source; UsageError for an unknown source."""
    names = _sources(forged)
    if "" in names:
        if len(uris) > 1:
            raise UsageError(
                "The folder was generated from one source.", hint="Pass --uri only once."
            )
        return dict(zip(("",), uris, strict=False))
    moved: dict[str, str] = {}
    for uri in uris:
        name, place = split_name(uri)
        if name not in names or name in moved:
            raise UsageError(
                f"--uri {redact(uri)} doesn't say which of the sources it is.",
                hint=f"Pass --uri NAME=URI, once for each of {listed(names)} that has moved.",
            )
        moved[name] = place
    return moved


def without_password(place: str) -> str:
    """Return a place to paste: without its password, or masked where that can't be cut out."""
    bare = surely_without_passwords(place) if "://" in place else None
    return bare or redact(place)


def _sources(forged: AnyFolder) -> Mapping[str, ManifestSource]:
    """Return the sources of a folder by name, "" for the only one."""
    source = forged.manifest.source
    return {"": source} if source.parts is None else source.parts


def _place(forged: AnyFolder, name: str, command: Sequence[str]) -> str:
    """Return where the manifest says a source is, if it may choose that and the kind is right."""
    source = _sources(forged)[name]
    place = allowed_place(source, forged.folder, command, name=name)
    kind = source.kind
    try:
        actual_kind = locate(place).kind.name
    except SourceNotFoundError as error:
        raise SourceNotFoundError(
            f"The source isn't where {MANIFEST_FILE} says it is: {redact(place)}.",
            hint="Pass its current location with --uri.",
        ) from error
    if actual_kind != kind:
        raise SourceChangedError(
            f"{redact(place)} was {kind} when the folder was generated, and is {actual_kind} now.",
            hint="Pass the location of the source with --uri, or run `fluid forge` again.",
        )
    return place
