"""A decision that a person makes: checked on the data where that's possible, then written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from fluid_build.artifacts import write_artifacts
from fluid_build.cli import messages
from fluid_build.cli.forging.again import forge_again
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.invocation import fluid
from fluid_build.cli.next_steps import Step
from fluid_build.cli.reading.source_session import open_sources
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.decisions.editing import with_decision
from fluid_build.decisions.files import (
    DECISIONS_FILE,
    SCHEMA_FILE,
    parse_decisions,
    recorded_decisions,
)
from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BusinessKey,
    Domain,
    DropRelationship,
    Exposure,
    Grain,
    Merge,
    OneTable,
    Owner,
    ProductName,
    Renamed,
    Separate,
    SetConventions,
    SetKey,
    Split,
    TextType,
)
from fluid_build.decisions.verdicts import Status, Verdict
from fluid_build.decisions.weighing import weigh
from fluid_build.errors import FluidError, SourceError, UsageError
from fluid_build.evolution.locations import warehouse_location
from fluid_build.forging.decision_files import schema_text
from fluid_build.forging.stages import measure
from fluid_build.forging.table_choice import as_decided
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources.addresses.kinds import DDL, KINDS, RemoteKind
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.neighbourhood import stray
from fluid_build.sources.uri import locate
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, place_of, read_manifest

Outcome: TypeAlias = Literal[Status, "unchecked"]
_MEASURED = (
    SetKey, BusinessKey, Grain, AddRelationship, DropRelationship, TextType, Merge, Split, Renamed,
    OneTable, Separate,
)  # fmt: skip
"""Decisions that the data can contradict; of the others only the names are checked."""
_ABOUT_ALL = (Domain, Owner, ProductName, SetConventions, Exposure)
"""Decisions that name nothing of the source."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a decision. ``unchecked`` ones are measured by the next forge.

    A ``refused`` one wasn't written. ``next`` is the command that follows it, None where nothing
    was forged yet.
    """

    decision: AnyDecision
    outcome: Outcome
    message: str
    verdict: Verdict | None = None
    next: Step | None = None

    @property
    def is_written(self) -> bool:
        """Whether the decision is in the file now."""
        return self.outcome != "refused"


def record(
    folder: Path, decision: AnyDecision, model: LogicalModel | None, interrupts: Interrupts
) -> Recorded:
    """Check a decision, and write it to the folder's file unless the data contradicts it.

    Raises DecisionError where the file isn't valid, OutputError where it can't be written.
    """
    text = with_decision(recorded_decisions(folder).text, decision)
    if model is None:
        _write(folder, text)
        message = "Nothing was forged here yet, so the names weren't checked either."
        return Recorded(decision, "unchecked", message)
    manifest = read_manifest(folder)
    recorded = _checked(folder, manifest, decision, parse_decisions(text), interrupts)
    if recorded.is_written:
        _write(folder, text)
    return replace(recorded, next=_next(folder, manifest, model, decision))


def _next(folder: Path, manifest: Manifest, model: LogicalModel, decision: AnyDecision) -> Step:
    """Return what follows a decision: an apply where there is a warehouse, or else a forge."""
    if isinstance(decision, OneTable | Separate):
        # Other tables are another model, which doesn't continue the one that is there.
        again = forge_again(folder, manifest, model)
        return replace(again, command=f"{again.command} --redesign all" if again.command else "")
    try:
        warehouse = warehouse_location(folder / DBT_FOLDER)
    except FluidError:
        return forge_again(folder, manifest, model)
    # Whether a server has one, only a connection would tell.
    if warehouse.engine == "duckdb" and Path(warehouse.place).is_file():
        remark = "bring it to the warehouse, with the decisions"
        return Step(fluid("apply", str(folder)), remark)
    return forge_again(folder, manifest, model)


def write_answers(folder: Path, answers: Sequence[AnyDecision]) -> None:
    """Write decisions that weren't checked on the data to the folder's file."""
    text = recorded_decisions(folder).text
    for decision in answers:
        text = with_decision(text, decision)
    if answers:
        _write(folder, text)


def _write(folder: Path, text: str) -> None:
    write_artifacts(folder, {DECISIONS_FILE: text, SCHEMA_FILE: schema_text()})


def _checked(
    folder: Path,
    manifest: Manifest,
    decision: AnyDecision,
    decisions: Sequence[AnyDecision],
    interrupts: Interrupts,
) -> Recorded:
    if not isinstance(decision, _MEASURED):
        names_something = not isinstance(decision, _ABOUT_ALL)
        message = "The names in it exist. " if names_something else ""
        message += "The data can't contradict it."
        return Recorded(decision, "accepted", message)
    places = _places(folder, manifest)
    if places is None:
        message = "The source can't be opened unasked, so the next forge will measure it."
        return Recorded(decision, "unchecked", message)
    try:
        verdict = _weighed(manifest, places, decisions, interrupts)
    except SourceError as error:
        message = f"{error.message} The next forge will measure it."
        return Recorded(decision, "unchecked", message)
    return Recorded(decision, verdict.status, verdict.message, verdict)


def _weighed(
    manifest: Manifest,
    places: dict[str, str],
    decisions: Sequence[AnyDecision],
    interrupts: Interrupts,
) -> Verdict:
    """Return the verdict on the last decision, among all of the folder's."""
    with (
        messages.progress() as on_progress,
        open_sources(
            as_decided(_requests(manifest.source, places), decisions),
            None,
            interrupts,
            on_progress,
        ) as source,
    ):
        profile = measure(source, on_progress)
        return weigh(source, profile, decisions)[-1]


def _places(folder: Path, manifest: Manifest) -> dict[str, str] | None:
    """Return where the sources are; None where a folder may not open one of them unasked."""
    places: dict[str, str] = {}
    for name, source in (manifest.source.parts or {"": manifest.source}).items():
        place = _own_place(folder, source)
        if place is None:
            return None
        places[name] = place
    return places


def _own_place(folder: Path, source: ManifestSource) -> str | None:
    kind = KINDS[source.kind]
    if isinstance(kind, RemoteKind) or kind is DDL:
        return None
    try:
        place = place_of(source, folder)
        is_near = stray(place, folder) is None and locate(place).kind.name == source.kind
    except (UsageError, SourceError):
        return None
    return place if is_near else None


def _requests(source: ManifestSource, places: dict[str, str]) -> list[SourceRequest]:
    return [
        SourceRequest(locate(places[name]), name, part.read)
        for name, part in (source.parts or {"": source}).items()
    ]
