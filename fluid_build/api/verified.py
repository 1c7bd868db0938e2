"""Verifying from Python: whether a folder still fits its source."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fluid_build.api.arguments import Opening, SourceLike, opening, reporting
from fluid_build.api.html import verified_html
from fluid_build.changes import SourceChange
from fluid_build.errors import (
    FluidError,
    NotTrustedError,
    SourceChangedError,
    UsageError,
)
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.progress import OnProgress
from fluid_build.report.page.page_file import is_page
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import IN_MEMORY, KINDS, RemoteKind
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.neighbourhood import stray
from fluid_build.sources.uri import locate
from fluid_build.transform.proof.manifest import MANIFEST_FILE, ManifestSource, place_of
from fluid_build.transform.proof.proof import Proof
from fluid_build.verification import (
    DbtVerified,
    ForgedFolder,
    Verified,
    WarehouseVerified,
    read_folder,
    refresh_proof,
    verify_dbt,
)
from fluid_build.verification import verify as verify_folder
from fluid_build.verification import verify_warehouse as verify_built
from fluid_build.verification.documents import verified_document, warehouse_document


def verify(
    folder: str | os.PathLike[str],
    *,
    source: SourceLike | None = None,
    dbt: bool = False,
    trust: bool = False,
    on_progress: OnProgress | None = None,
) -> "VerifyResult":
    """Rebuild the model of a folder from its source, and compare the two.

    ``source`` is needed for a server, for data in memory, and where the source has moved; for
    several sources it's a dict by their names. With ``dbt``, dbt builds the folder's project in a
    new database as well, which runs the project's code: that needs ``trust``. The folder's
    ``proof.json`` and page are updated. Raises SourceChangedError, with all ``changes``, where the
    model no longer fits the source, NotTrustedError for what only ``source`` or ``trust`` may
    allow, and SourceError.
    """
    forged = read_folder(Path(folder))
    if dbt and not trust:
        raise NotTrustedError(
            f"Building with dbt runs the code in {forged.folder / 'dbt'}.",
            hint="If you trust its author, pass trust=True.",
        )
    place = _opening(forged, source)
    with reporting(on_progress) as report, place.session(report) as opened:
        verified = verify_folder(forged, opened, on_progress=report)
        if dbt:
            moved = {} if source is None else _moved_places(place)
            built = verify_dbt(forged, opened, moved, on_progress=report)
            verified = replace(verified, dbt=built)
    if refresh_proof(forged.folder, verified.proof) == "replaced":
        note = _refresh_page(forged.folder)
        return VerifyResult(verified, note)
    return VerifyResult(verified)


def verify_warehouse(
    folder: str | os.PathLike[str],
    warehouse: str,
    *,
    schema: str | None = None,
    source: SourceLike | None = None,
    on_progress: OnProgress | None = None,
) -> "WarehouseResult":
    """Compare what a warehouse holds with the source of a folder; nothing is built or changed.

    ``warehouse`` is a DuckDB file or a PostgreSQL database, and ``schema`` where the model is in
    it, if that isn't the dbt project's. ``source`` and the errors are those of ``verify``.
    """
    forged = read_folder(Path(folder))
    with reporting(on_progress) as report, _opening(forged, source).session(report) as opened:
        return WarehouseResult(
            verify_built(forged, opened, warehouse, schema=schema, on_progress=report)
        )


@dataclass(frozen=True)
class VerifyResult:
    """Whether a folder still fits its source; true in a condition if it does.

    ``note`` says where the page of the folder couldn't be updated.
    """

    _verified: Verified = field(repr=False)
    note: str = ""

    @property
    def holds(self) -> bool:
        """Return whether every check passed."""
        return self._verified.holds

    @property
    def proof(self) -> Proof:
        """Return the comparison of what was rebuilt with the source."""
        return self._verified.proof

    @property
    def row_changes(self) -> tuple[str, ...]:
        """Return the tables with another number of rows than before, in sentences; no fault."""
        return self._verified.row_changes

    @property
    def unread(self) -> tuple[str, ...]:
        """Return the tables that couldn't be read, each with the reason."""
        return self._verified.unread

    @property
    def changes(self) -> tuple[SourceChange, ...]:
        """Return the changes of the source since the folder was generated."""
        return self._verified.since.changes

    @property
    def broken_keys(self) -> tuple[str, ...]:
        """Return the keys that the model relies on and that don't hold any more, in sentences."""
        return tuple(map(str, self._verified.since.broken_keys))

    @property
    def edited(self) -> tuple[str, ...]:
        """Return the files that aren't as the forge wrote them, in sentences."""
        return self._verified.forged.edited

    @property
    def dbt(self) -> DbtVerified | None:
        """Return what dbt built; None where it wasn't asked to."""
        return self._verified.dbt

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``fluid verify --json`` prints."""
        return verified_document(self._verified)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "doesn't hold"
        return f"<{self._verified.forged.folder} {verdict}: {self.proof.reason}>"

    def _repr_html_(self) -> str:
        return verified_html(self._verified)


@dataclass(frozen=True)
class WarehouseResult:
    """Whether a warehouse holds what its model promises; true in a condition if it does."""

    _verified: WarehouseVerified = field(repr=False)

    @property
    def holds(self) -> bool:
        """Return whether the warehouse holds everything, and every key holds."""
        return self._verified.holds

    @property
    def faults(self) -> tuple[str, ...]:
        """Return how the warehouse differs from the model, in sentences."""
        return tuple(self._verified.contents.faults)

    @property
    def proof(self) -> Proof | None:
        """Return the comparison with the source; None where nothing could be compared."""
        return self._verified.contents.proof

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``fluid verify --warehouse --json`` prints."""
        return warehouse_document(self._verified)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "doesn't hold"
        return f"<{self._verified.place} {verdict} the model of {self._verified.forged.folder}>"


def _opening(forged: ForgedFolder, source: SourceLike | None) -> Opening:
    """Return how to open the source of a folder: as it was read, where it was or is passed."""
    manifest = forged.manifest.source
    parts = manifest.parts or {"": manifest}
    if source is None:
        return Opening(
            tuple(
                SourceRequest(locate(_own_place(forged.folder, part)), name, part.read)
                for name, part in parts.items()
            )
        )
    passed = opening(source, {})
    if passed.source is not None:
        return passed
    if manifest.parts is None:
        if len(passed.requests) > 1:
            raise UsageError("The folder was generated from one source.", hint="Pass that one.")
        return Opening((SourceRequest(passed.requests[0].address, read=manifest.read),))
    named = {request.name: request for request in passed.requests}
    if not named.keys() <= parts.keys():
        raise UsageError(
            f"The sources of {forged.folder} are {', '.join(parts)}.",
            hint="Pass those that have moved as a dict by these names.",
        )
    return Opening(
        tuple(
            SourceRequest(
                named[name].address if name in named else locate(_own_place(forged.folder, part)),
                name,
                part.read,
            )
            for name, part in parts.items()
        )
    )


def _own_place(folder: Path, source: ManifestSource) -> str:
    """Return where a folder says its source is, if a folder may choose that.

    It may be a stranger's: it never chooses a place on a network, which would be sent the user's
    login, nor a file outside of its neighbourhood.
    """
    place = place_of(source, folder)
    if isinstance(KINDS[source.kind], RemoteKind):
        raise NotTrustedError(
            f"{MANIFEST_FILE} names a place on a network, and a folder may never choose one.",
            hint="Pass it as source=, if that's where the data is.",
        )
    if stray(place, folder) is not None:
        raise NotTrustedError(
            f"{MANIFEST_FILE} points to {redact(place)}, and a folder may only choose files in it"
            " or next to it.",
            hint="If that's where the data is, pass it as source=.",
        )
    kind = locate(place).kind.name
    if kind != source.kind:
        raise SourceChangedError(
            f"{redact(place)} was {source.kind} when the folder was generated, and is {kind} now.",
            hint="Pass the source as source=, or forge again.",
        )
    return place


def _moved_places(place: Opening) -> Mapping[str, str]:
    """Return the places for dbt, by source; it reads copies of what was in memory."""
    return {
        request.name: request.address.place
        for request in place.requests
        if request.address.kind is not IN_MEMORY
    }


def _refresh_page(folder: Path) -> str:
    """Show the new proof in the page of a folder; return a note where that fails."""
    path = folder / REPORT_FILE
    if not is_page(path):
        return ""
    # What makes pages takes a while to import, and most verifications change no proof.
    from fluid_build.pipeline.folder_page import make_page

    try:
        make_page(folder, path)
    except FluidError as error:
        return f"{path} still shows the proof before this one. {error.message}"
    return ""
