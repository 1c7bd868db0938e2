"""Whether a forge's model still fits its source, and gives it back."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fluid_build.artifacts import write_artifacts
from fluid_build.errors import OutputError
from fluid_build.modeling.logical import LogicalModel
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.base import Source
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.manifest import digest
from fluid_build.transform.proof.proof import Proof
from fluid_build.transform.proof.written_proof import PROOF_FILE, proof_json
from fluid_build.verification.changes import NO_CHANGES, ChangesSince, changes_since
from fluid_build.verification.dbt import DbtVerified
from fluid_build.verification.forged_folder import ForgedFolder


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification.

    ``since`` are the changes of the source that the model still fits. ``row_changes`` are
    sentences, and no fault. ``unread`` are tables of the source that couldn't be read, so nothing
    is known about them, each with the reason.
    """

    forged: ForgedFolder
    proof: Proof
    row_changes: tuple[str, ...]
    unread: tuple[str, ...] = ()
    since: ChangesSince = NO_CHANGES
    dbt: DbtVerified | None = None

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        proven = self.proof.holds and not self.unread and not self.since.broken_keys
        return proven and self.forged.agrees and (self.dbt is None or self.dbt.holds)


def verify(
    forged: ForgedFolder,
    source: Source,
    *,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> Verified:
    """Build a forge's model from its source, and compare the two.

    ``exact`` compares large tables row by row as well. Raises ModelOutdatedError, which has the
    changes, where the model no longer fits the source, and BuildFailedError where it can't be built
    for another reason.
    """
    since = changes_since(forged, source, on_progress)
    proof = build_and_prove(source, forged.plan, forged.model, exact=exact, on_progress=on_progress)
    return Verified(
        forged,
        proof,
        row_changes=tuple(_row_changes(forged.model, proof)),
        unread=tuple(unread_tables(source, forged.model)),
        since=since,
    )


def unread_tables(source: Source, model: LogicalModel) -> Iterator[str]:
    """Return the tables that couldn't be read, now or by the forge, with the reason."""
    reasons = {skipped.name: skipped.reason for skipped in source.skipped}
    for name in model.conceptual.skipped:
        reasons.setdefault(
            name, "it was skipped when the model was generated, so it isn't in the model"
        )
    for name, reason in reasons.items():
        yield f"{name}: {reason}"


def _row_changes(model: LogicalModel, proof: Proof) -> Iterator[str]:
    before = {entity.name: entity.rows for entity in model.conceptual.entities}
    for table in proof.tables:
        if table.rows != before[table.table]:
            yield f"{table.table} had {before[table.table]:,} rows and has {table.rows:,} now"


def refresh_proof(folder: Path, proof: Proof) -> Literal["same", "replaced", "refused"]:
    """Replace the folder's proof with this one, and return what became of the file.

    It's refused where the folder can't be written to, which a verification doesn't need.
    """
    text = proof_json(proof)
    path = folder / PROOF_FILE
    if path.is_file() and digest(path) == digest(text):
        return "same"
    try:
        write_artifacts(folder, {PROOF_FILE: text})
    except OutputError:
        return "refused"
    return "replaced"
